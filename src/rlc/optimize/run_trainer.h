// Starts rlc-train and reads what it leaves behind.
#ifndef RLC_OPTIMIZE_RUN_TRAINER_H_
#define RLC_OPTIMIZE_RUN_TRAINER_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/base/log.h"
#include "rlc/env/train_request.h"

namespace rlc {

struct TrainedPolicy {
  std::string policy_path;  // in the folder that was given
  TrainSummary summary;
  std::vector<std::pair<double, double>> curve;  // timesteps, mean gain of the episodes that ended
};

// Runs `trainer` on the request, with results in `folder`. Error, kUnavailable: no trainer, or it failed (its last
// words); kInterrupted: told to stop.
Expected<TrainedPolicy> RunTrainer(const std::string& trainer, const TrainRequest& request, const std::string& folder,
                                   double seconds, StopToken stop, const ProgressSink& progress);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_RUN_TRAINER_H_
