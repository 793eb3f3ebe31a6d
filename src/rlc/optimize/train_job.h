// rlc train: a policy for a model.
#ifndef RLC_OPTIMIZE_TRAIN_JOB_H_
#define RLC_OPTIMIZE_TRAIN_JOB_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/env/train_request.h"
#include "rlc/optimize/optimize_job.h"

namespace rlc {

// Measures the tables of request.input, trains a policy on them and writes it to request.output. Beside it: curve.csv
// and the TensorBoard event file, when `log_folder` is not empty.
Expected<TrainSummary> TrainPolicy(const OptimizeRequest& request, const std::string& log_folder);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_TRAIN_JOB_H_
