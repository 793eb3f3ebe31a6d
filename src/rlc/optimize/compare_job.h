// rlc compare: search methods against each other at equal budgets, and the surrogate against measurements.
#ifndef RLC_OPTIMIZE_COMPARE_JOB_H_
#define RLC_OPTIMIZE_COMPARE_JOB_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/cost/surrogate_score.h"
#include "rlc/optimize/optimize_job.h"
#include "rlc/search/method.h"

namespace rlc {

struct ComparedRun {
  std::string method;
  uint64_t seed = 0;
  double best_gain = 0;  // 1 - ratio of the best trial within the limit; 0: none
  Candidate best;
  std::string best_name;
  int evaluations = 0;
  std::vector<std::pair<int, double>> best_so_far;  // evaluations, gain: one for each improvement
  std::vector<SearchTrial> trials;
};

// The surrogate, corrected with the trials of all runs, on candidates that it has not seen: the best one of all runs
// with up to eight entries added or taken away at random, measured once the runs were over.
struct HeldOut {
  SurrogateScore score;
  std::optional<Estimate> fresh_regret;  // time of its pick / time of the best, measured anew side by side
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::optional<HeldOut> held_out;
  Catalogue catalogue;
  SurrogateTables tables;
  std::string model, metric;
  double max_drop = 0;
  int evaluations = 0;  // budget of each run
};

struct CompareOptions {
  std::vector<std::string> methods;
  int seeds = 3;
  int held_out = 24;  // candidates to score the surrogate on; 0: none
};

// Runs every method with every seed at the same budget of measured evaluations (request.evaluations). The tables, and
// for rl one policy for each seed, are made once and are not part of the budget; neither does a run profit from what
// another one measured.
Expected<Comparison> CompareMethods(const OptimizeRequest& request, const CompareOptions& options);

Json ToJson(const Comparison& comparison);
std::string ToText(const Comparison& comparison);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_COMPARE_JOB_H_
