// random: each candidate draws its own density and then every entry with that probability. Blind, and hard to beat when
// evaluations are few; the yardstick for everything that claims to learn.

#include "rlc/search/methods.h"
#include "rlc/search/recorder.h"

namespace rlc {
namespace {

class Random : public SearchMethod {
 public:
  std::string_view name() const override { return "random"; }

  Expected<SearchResult> Run(const SearchProblem& problem) const override {
    Recorder recorder(problem);
    Rng rng(problem.seed);
    const size_t entries = problem.catalogue->entries.size();
    // Small catalogues run out of new candidates before the budget is spent.
    constexpr int kMostRepeats = 1000;
    for (int repeats = 0; !recorder.Done() && repeats < kMostRepeats;) {
      const double density = rng.UniformReal();
      Candidate candidate;
      for (size_t entry = 0; entry < entries; ++entry) {
        if (rng.Bernoulli(density)) candidate.push_back(static_cast<int>(entry));
      }
      repeats = recorder.Known(candidate) ? repeats + 1 : 0;
      recorder.Try(candidate);
    }
    return std::move(recorder).Finish();
  }
};

}  // namespace

std::unique_ptr<SearchMethod> RandomSearch() { return std::make_unique<Random>(); }

}  // namespace rlc
