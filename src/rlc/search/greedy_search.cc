// greedy: hill climbing by measurements, ordered by the surrogate.
//
// Tries the recipe that quantizes every layer, then what the surrogate holds to be best
// (rlc/search/best_by_estimate.h), then single additions to the best measured candidate and removals from it, most
// promising first, and keeps what measures better. Each measurement corrects the surrogate, which is asked anew.

#include <algorithm>

#include "rlc/cost/surrogate.h"
#include "rlc/search/best_by_estimate.h"
#include "rlc/search/methods.h"
#include "rlc/search/recipe.h"
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
    scored.emplace_back(Score(*problem.surrogate, next, problem.max_drop), std::move(next));
  }
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Candidate> neighbours;
  for (auto& [score, candidate] : scored) neighbours.push_back(std::move(candidate));
  return neighbours;
}

std::optional<Candidate> FirstUnknownNeighbour(const SearchProblem& problem, const Recorder& recorder) {
  if (recorder.best() == nullptr) return std::nullopt;
  for (Candidate& next : Neighbours(problem, recorder.best()->candidate)) {
    if (!recorder.Known(next)) return std::move(next);
  }
  return std::nullopt;
}

class Greedy : public SearchMethod {
 public:
  std::string_view name() const override { return "greedy"; }

  Expected<SearchResult> Run(const SearchProblem& problem) const override {
    if (problem.surrogate == nullptr) {
      return MakeError(ErrorKind::kUsage,
                       "method greedy needs a surrogate, which needs data; use random or static without data");
    }
    Recorder recorder(problem);
    recorder.Try(QuantizeEverything(*problem.catalogue));
    for (bool ask = true; !recorder.Done();) {
      const Candidate estimated =
          ask ? BestByEstimate(*problem.catalogue, *problem.surrogate, problem.max_drop) : Candidate{};
      if (ask && !recorder.Known(estimated)) {
        const SearchTrial* const best_before = recorder.best();
        recorder.Try(estimated);
        ask = recorder.best() != best_before;  // the surrogate was right: ask again at once
        continue;
      }
      const auto next = FirstUnknownNeighbour(problem, recorder);
      if (!next) break;
      recorder.Try(*next);
      ask = true;
    }
    return std::move(recorder).Finish();
  }
};

}  // namespace

std::unique_ptr<SearchMethod> GreedySearch() { return std::make_unique<Greedy>(); }

}  // namespace rlc
