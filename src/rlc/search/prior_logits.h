// What the surrogate's tables say of single actions, as logits: where a policy starts from.
#ifndef RLC_SEARCH_PRIOR_LOGITS_H_
#define RLC_SEARCH_PRIOR_LOGITS_H_

#include <vector>

#include "rlc/cost/catalogue.h"
#include "rlc/cost/surrogate.h"

namespace rlc {

// One logit for each (type, layer) of the layers view, in [-strength, strength]. An action's worth is the latency that
// it saves alone, minus its drop at a price: half of what the best known candidate saves for the whole limit. A fold is
// worth what it makes possible. +strength: at least the mean of all that are worth anything; -strength: a loss of as
// much, skip, terminate, and what the catalogue does not have. All 0 when nothing is worth anything.
//
// Knows nothing of borders between neighbours, of what actions do to each other, or of order: that is left to learn.
std::vector<float> PriorLogits(const Catalogue& catalogue, Surrogate surrogate, double max_drop, double strength);

}  // namespace rlc

#endif  // RLC_SEARCH_PRIOR_LOGITS_H_
