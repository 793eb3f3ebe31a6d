// rlc train and rlc compare: policies for models, and methods against each other.
#ifndef RLC_OPTIMIZE_TRAIN_JOB_H_
#define RLC_OPTIMIZE_TRAIN_JOB_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/env/train_request.h"
#include "rlc/optimize/optimize_job.h"

namespace rlc {

// Measures the tables of request.input, trains a policy on them and writes it to request.output. Beside it: curve.csv
// and the TensorBoard event file, when `log_folder` is not empty.
Expected<TrainSummary> TrainPolicy(const OptimizeRequest& request, const std::string& log_folder);

struct ComparedRun {
  std::string method;
  uint64_t seed = 0;
  double best_gain = 0;  // 1 - ratio of the best trial within the limit; 0: none
  Candidate best;
  std::string best_name;
  int evaluations = 0;
  std::vector<std::pair<int, double>> best_so_far;  // evaluations, gain: one for each improvement
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::string model, metric;
  double max_drop = 0;
  int evaluations = 0;  // budget of each run
};

// Runs every method with every seed at the same budget of measured evaluations. The tables, and for rl one policy for
// each seed, are made once and are not part of the budget; neither does a run profit from what another one measured.
Expected<Comparison> CompareMethods(const OptimizeRequest& request, const std::vector<std::string>& methods, int seeds);

Json ToJson(const Comparison& comparison);
std::string ToText(const Comparison& comparison);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_TRAIN_JOB_H_
