// Training, from a request to a folder of results (rlc/env/train_request.h says which files).
#ifndef RLC_TRAIN_TRAINER_H_
#define RLC_TRAIN_TRAINER_H_

#include <functional>
#include <string>

#include "rlc/base/clock.h"
#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/env/train_request.h"

namespace rlc {

struct TrainHooks {
  Clock clock;       // for durations
  Clock wall_clock;  // seconds since 1970, for event files
  StopToken stop;
  std::function<void(int64_t timesteps, double mean_gain)> progress;
};

// Trains on one thread (networks this small lose by more). When told to stop it ends after the present update, with
// everything written; resume_from goes on from there. Error: a checkpoint of another network, a folder that cannot be
// written.
Expected<TrainSummary> Train(const TrainRequest& request, const std::string& folder, const TrainHooks& hooks);

}  // namespace rlc

#endif  // RLC_TRAIN_TRAINER_H_
