// static: the recipe that people write by hand, without looking at results: fold all, then quantize all, then prune
// all. Each stage is a trial, so what the recipe reaches can be seen; the best stage within the limit is its result.

#include "rlc/search/methods.h"
#include "rlc/search/recipe.h"
#include "rlc/search/recorder.h"

namespace rlc {
namespace {

class Static : public SearchMethod {
 public:
  std::string_view name() const override { return "static"; }

  Expected<SearchResult> Run(const SearchProblem& problem) const override {
    Recorder recorder(problem);
    for (const Candidate& stage : RecipeStages(*problem.catalogue)) recorder.Try(stage);
    return std::move(recorder).Finish();
  }
};

}  // namespace

std::unique_ptr<SearchMethod> StaticSearch() { return std::make_unique<Static>(); }

}  // namespace rlc
