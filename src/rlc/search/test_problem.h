// A search problem with a known answer, for tests.
#ifndef RLC_SEARCH_TEST_PROBLEM_H_
#define RLC_SEARCH_TEST_PROBLEM_H_

#include <algorithm>
#include <functional>
#include <vector>

#include "rlc/search/method.h"
#include "rlc/testing/synthetic_request.h"

namespace rlc {

// Plays the measured evaluator: what a surrogate over other (true) tables says. Counts, and fails where it is told to.
class SyntheticEvaluator : public Evaluator {
 public:
  SyntheticEvaluator(const Catalogue& catalogue, SurrogateTables truth) : truth_(catalogue, std::move(truth)) {}

  Expected<Costs> Evaluate(const Candidate& candidate) override {
    asked.push_back(candidate);
    if (on_evaluate) on_evaluate(candidate);
    if (!fails.empty() && candidate == fails) return MakeError(ErrorKind::kInternal, "the candidate crashed");
    ++evaluations_;
    return truth_.Evaluate(candidate);
  }
  CostSource source() const override { return CostSource::kMeasured; }
  int evaluations() const override { return evaluations_; }

  std::vector<Candidate> asked;
  Candidate fails;
  std::function<void(const Candidate&)> on_evaluate;

 private:
  Surrogate truth_;
  int evaluations_ = 0;
};

// Owns everything that a SearchProblem points at. The surrogate knows `request.tables`; the evaluator the same, unless
// `truth` is given.
struct SearchWorld {
  explicit SearchWorld(TrainRequest wanted, const SurrogateTables* truth = nullptr)
      : request(std::move(wanted)),
        features(request.features),
        surrogate(request.catalogue, request.tables),
        evaluator(request.catalogue, truth != nullptr ? *truth : request.tables) {
    problem.catalogue = &request.catalogue;
    problem.features = &features;
    problem.evaluator = &evaluator;
    problem.surrogate = &surrogate;
    problem.max_drop = request.env.target_drop;
    problem.clock = clock.AsClock();
  }
  SearchWorld(const SearchWorld&) = delete;
  SearchWorld& operator=(const SearchWorld&) = delete;

  TrainRequest request;
  GraphFeatures features;
  Surrogate surrogate;
  SyntheticEvaluator evaluator;
  ManualClock clock;
  SearchProblem problem;
};

// The best latency within the limit, by trying all subsets; for at most 16 entries.
inline double BestLatencyByForce(const TrainRequest& request) {
  Surrogate surrogate(request.catalogue, request.tables);
  const size_t entries = request.catalogue.entries.size();
  RLC_CHECK(entries <= 16);
  double best = request.tables.exact_ms;
  for (uint32_t set = 0; set < (uint32_t{1} << entries); ++set) {
    Candidate candidate;
    for (size_t entry = 0; entry < entries; ++entry) {
      if ((set >> entry & 1) != 0) candidate.push_back(static_cast<int>(entry));
    }
    if (Normalized(request.catalogue, candidate) != candidate) continue;
    const auto costs = surrogate.Evaluate(candidate);
    if (costs->drop->value <= request.env.target_drop) best = std::min(best, costs->latency_ms.value);
  }
  return best;
}

}  // namespace rlc

#endif  // RLC_SEARCH_TEST_PROBLEM_H_
