#include "rlc/search/recorder.h"

#include <limits>

#include "rlc/base/format.h"

namespace rlc {

Recorder::Recorder(const SearchProblem& problem)
    : problem_(problem), started_(problem.clock()), evaluations_at_start_(problem.evaluator->evaluations()) {
  Measure({});
}

int Recorder::evaluations_left() const {
  return problem_.budget.evaluations - (problem_.evaluator->evaluations() - evaluations_at_start_);
}

bool Recorder::Done() const {
  const bool late = problem_.budget.seconds && problem_.clock() - started_ >= *problem_.budget.seconds;
  return late || evaluations_left() <= 0 || problem_.stop.StopRequested();
}

bool Recorder::Known(const Candidate& candidate) const {
  return index_.count(Normalized(*problem_.catalogue, candidate)) != 0;
}

const SearchTrial* Recorder::Try(const Candidate& candidate) {
  const Candidate normalized = Normalized(*problem_.catalogue, candidate);
  if (index_.count(normalized) == 0) {
    if (Done()) return nullptr;
    Measure(normalized);
  }
  return &result_.trials[index_.at(normalized)];
}

void Recorder::Measure(const Candidate& normalized) {
  SearchTrial trial;
  trial.candidate = normalized;
  auto costs = problem_.evaluator->Evaluate(normalized);
  if (costs) {
    trial.costs = *std::move(costs);
  } else {
    if (costs.error().kind == ErrorKind::kInterrupted) {
      result_.interrupted = true;
      if (!result_.trials.empty()) return;  // says nothing about the candidate
    }
    trial.failure = costs.error().message;
  }
  trial.evaluation = problem_.evaluator->evaluations() - evaluations_at_start_;
  trial.seconds = problem_.clock() - started_;
  index_[normalized] = result_.trials.size();
  result_.trials.push_back(std::move(trial));
  const SearchTrial& added = result_.trials.back();
  const bool better = result_.best < 0 ? added.costs && BetterTrial(added, SearchTrial{}, problem_.max_drop)
                                       : BetterTrial(added, *best(), problem_.max_drop);
  if (better) result_.best = static_cast<int>(result_.trials.size()) - 1;
  if (added.costs && problem_.surrogate != nullptr) {
    // The ratio, not the latency: the machine may run at another speed now than when the tables were made.
    const double latency = added.costs->ratio.value * problem_.surrogate->tables().baseline_ms;
    measured_.push_back({normalized, latency, added.costs->drop ? added.costs->drop->value : 0.0});
    problem_.surrogate->Correct(measured_);
  }
  if (problem_.on_trial) problem_.on_trial(added, best());
  std::string words;
  if (const SearchTrial* top = best()) {
    words = FormatRatio(1 / top->costs->ratio.value);
    if (top->costs->drop) words += fmt::format(" at -{}", FormatPoints(top->costs->drop->value));
  }
  Report(problem_.progress, {"search", static_cast<double>(added.evaluation),
                             static_cast<double>(problem_.budget.evaluations), problem_.clock(), words});
}

const SearchTrial* Recorder::best() const {
  return result_.best < 0 ? nullptr : &result_.trials[static_cast<size_t>(result_.best)];
}

SearchResult Recorder::Finish() && {
  result_.interrupted = result_.interrupted || problem_.stop.StopRequested();
  return std::move(result_);
}

}  // namespace rlc
