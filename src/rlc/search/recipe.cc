#include "rlc/search/recipe.h"

namespace rlc {

std::vector<Candidate> RecipeStages(const Catalogue& catalogue) {
  std::vector<Candidate> stages;
  Candidate candidate;
  for (const ActionType stage : {ActionType::kFuseConvBn, ActionType::kQuantize, ActionType::kPrune}) {
    for (size_t entry = 0; entry < catalogue.entries.size(); ++entry) {
      if (catalogue.entries[entry].type == stage) candidate.push_back(static_cast<int>(entry));
    }
    stages.push_back(candidate);
  }
  return stages;
}

Candidate QuantizeEverything(const Catalogue& catalogue) { return RecipeStages(catalogue)[1]; }

}  // namespace rlc
