// greedy: hill climbing by measurements, ordered by the surrogate.
//
// Starts from the surrogate's own best (entries added by estimated gain per drop while the estimate stays within the limit),
// then tries single additions and removals, most promising first, and keeps each that measures better. After every
// measurement the surrogate is corrected, so the order improves as it goes.

#include <algorithm>
#include <numeric>

#include "rlc/cost/surrogate.h"
#include "rlc/search/methods.h"
#include "rlc/search/recorder.h"

namespace rlc {
namespace {

// Estimated ratio, or a large number when the estimate fails or exceeds the limit.
double Score(Evaluator& surrogate, const Candidate& candidate, double max_drop) {
  constexpr double kUnwanted = 1e9;
  const auto costs = surrogate.Evaluate(candidate);
  if (!costs || (costs->drop && costs->drop->value > max_drop)) return kUnwanted;
  return costs->ratio.value;
}

// Adds entries one after another while the estimate improves.
Candidate EstimatedBest(const SearchProblem& problem) {
  Candidate chosen;
  double score = Score(*problem.surrogate, chosen, problem.max_drop);
  for (;;) {
    Candidate best;
    double best_score = score;
    for (size_t entry = 0; entry < problem.catalogue->entries.size(); ++entry) {
      Candidate next = chosen;
      next.push_back(static_cast<int>(entry));
      next = Normalized(*problem.catalogue, next);
      if (next.size() == chosen.size()) continue;
      const double next_score = Score(*problem.surrogate, next, problem.max_drop);
      if (next_score < best_score) best_score = next_score, best = next;
    }
    if (best.empty()) return chosen;
    chosen = best;
    score = best_score;
  }
}

// All single additions and removals, by estimate, best first.
std::vector<Candidate> Neighbours(const SearchProblem& problem, const Candidate& centre) {
  std::vector<std::pair<double, Candidate>> scored;
  for (size_t entry = 0; entry < problem.catalogue->entries.size(); ++entry) {
    Candidate next = centre;
    const auto found = std::find(next.begin(), next.end(), static_cast<int>(entry));
    if (found == next.end()) {
      next.push_back(static_cast<int>(entry));
    } else {
      next.erase(found);
    }
    next = Normalized(*problem.catalogue, next);
    scored.emplace_back(Score(*problem.surrogate, next, problem.max_drop), next);
  }
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Candidate> neighbours;
  for (auto& [score, candidate] : scored) neighbours.push_back(std::move(candidate));
  return neighbours;
}

class Greedy : public SearchMethod {
 public:
  std::string_view name() const override { return "greedy"; }

  Expected<SearchResult> Run(const SearchProblem& problem) const override {
    if (problem.surrogate == nullptr) {
      return MakeError(ErrorKind::kUsage, "method greedy needs a surrogate, which needs data; use random or static without data");
    }
    Recorder recorder(problem);
    recorder.Try(EstimatedBest(problem));
    for (bool improved = true; improved && !recorder.Done();) {
      improved = false;
      const SearchTrial* const centre = recorder.best();
      if (centre == nullptr) break;
      const Candidate from = centre->candidate;
      for (const Candidate& next : Neighbours(problem, from)) {
        if (recorder.Done()) break;
        if (recorder.Known(next)) continue;
        recorder.Try(next);
        if (recorder.best()->candidate != from) {
          improved = true;
          break;
        }
      }
    }
    return std::move(recorder).Finish();
  }
};

}  // namespace

std::unique_ptr<SearchMethod> GreedySearch() { return std::make_unique<Greedy>(); }

}  // namespace rlc
