// The recipe that people write by hand, without looking at results.
#ifndef RLC_SEARCH_RECIPE_H_
#define RLC_SEARCH_RECIPE_H_

#include <vector>

#include "rlc/cost/catalogue.h"

namespace rlc {

// Three candidates, each with all of the one before: all folds; then all quantizations; then all prunings.
std::vector<Candidate> RecipeStages(const Catalogue& catalogue);

// The second stage. Searches that learn measure it first: none of them may end behind what needs no search.
Candidate QuantizeEverything(const Catalogue& catalogue);

}  // namespace rlc

#endif  // RLC_SEARCH_RECIPE_H_
