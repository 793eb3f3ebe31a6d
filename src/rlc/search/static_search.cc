// static: the recipe that people write by hand, without looking at results: fold all, then quantize all, then prune
// all. Each stage is a trial, so what the recipe reaches can be seen; the best stage within the limit is its result.

#include "rlc/search/methods.h"
#include "rlc/search/recorder.h"

namespace rlc {
namespace {

class Static : public SearchMethod {
 public:
  std::string_view name() const override { return "static"; }

  Expected<SearchResult> Run(const SearchProblem& problem) const override {
    Recorder recorder(problem);
    Candidate candidate;
    for (const ActionType stage : {ActionType::kFuseConvBn, ActionType::kQuantize, ActionType::kPrune}) {
      for (size_t entry = 0; entry < problem.catalogue->entries.size(); ++entry) {
        if (problem.catalogue->entries[entry].type == stage) candidate.push_back(static_cast<int>(entry));
      }
      recorder.Try(candidate);
    }
    return std::move(recorder).Finish();
  }
};

}  // namespace

std::unique_ptr<SearchMethod> StaticSearch() { return std::make_unique<Static>(); }

}  // namespace rlc
