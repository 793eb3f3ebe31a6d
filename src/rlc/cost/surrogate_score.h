// How well a surrogate foretells measurements that it was not corrected with.
#ifndef RLC_COST_SURROGATE_SCORE_H_
#define RLC_COST_SURROGATE_SCORE_H_

#include <span>
#include <vector>

#include "rlc/base/json.h"
#include "rlc/cost/surrogate.h"

namespace rlc {

// Error of the expected accuracy drop over held-out candidates whose measured drop is in (above, up_to]; 0.01 = one
// point. error = expected - measured.
struct DropError {
  double above = 0, up_to = 0;
  int candidates = 0;
  double mean = 0, mean_absolute = 0, largest = 0;  // largest: of the absolute values
};

struct SurrogateScore {
  int held_out = 0;             // candidates that were scored
  int near_best = 0;            // of these, measured within `margin` of the fastest of them
  double kendall = 0;           // tau-b of expected and measured latency over those near the best
  double latency_error = 0;     // mean of |expected - measured| / measured over all held out
  Candidate pick, best;         // of those near the best: expected to be the fastest, and measured to be
  double regret = 0;            // measured latency of pick / that of best - 1
  std::vector<DropError> drop;  // by size of the measured drop
};

// Corrects a surrogate made of `tables` with `fitted` and scores it on those of `held_out` that are not in `fitted`.
// Nothing to score: all zero.
SurrogateScore ScoreSurrogate(const Catalogue& catalogue, const SurrogateTables& tables,
                              std::span<const Surrogate::Measured> fitted,
                              std::span<const Surrogate::Measured> held_out, double margin = 0.25);

Json ToJson(const SurrogateScore& score);

}  // namespace rlc

#endif  // RLC_COST_SURROGATE_SCORE_H_
