// The best candidate that can be found with the surrogate alone: no measurement, no randomness, some tens of
// milliseconds.
#ifndef RLC_SEARCH_BEST_BY_ESTIMATE_H_
#define RLC_SEARCH_BEST_BY_ESTIMATE_H_

#include "rlc/cost/catalogue.h"
#include "rlc/cost/surrogate.h"

namespace rlc {

// Fastest candidate within `max_drop` by the surrogate's word, normalized: the best of several constructions (entries
// added by gain per drop, from nothing; entries taken away by the same measure, from everything), each improved by
// adding, removing and exchanging single entries until none helps. A local optimum, not a proof; never slower than the
// empty candidate.
Candidate BestByEstimate(const Catalogue& catalogue, Surrogate& surrogate, double max_drop);

}  // namespace rlc

#endif  // RLC_SEARCH_BEST_BY_ESTIMATE_H_
