// Proximal policy optimization (Schulman et al. 2017) with action masks, over vectorised environments.
#ifndef RLC_TRAIN_PPO_INL_H_
#define RLC_TRAIN_PPO_INL_H_

#include <functional>
#include <string>

#include "rlc/base/clock.h"
#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/env/train_request.h"
#include "rlc/env/vector_env.h"
#include "rlc/train/network-inl.h"

namespace rlc {

// One row of the learning curve: what happened in one rollout and the update after it.
struct CurveRow {
  int64_t timesteps = 0;
  double seconds = 0;
  int episodes = 0;
  double mean_reward = 0, mean_gain = 0, best_gain = 0, mean_steps = 0;  // of the episodes that ended; 0 without any
  double policy_loss = 0, value_loss = 0, entropy = 0, approximate_kl = 0, clip_fraction = 0, explained_variance = 0;
};

struct LearnerState {
  ActorCritic network{nullptr};
  std::shared_ptr<torch::optim::Adam> optimizer;
  int64_t timesteps = 0;
};

// A fresh network and optimizer, seeded by options.seed.
LearnerState MakeLearner(int64_t actions, const PpoOptions& options);

// Trains until options.total_timesteps (counted from the state's own start) or told to stop. `on_update` sees each row.
// Error: what an environment gives.
Expected<void> Learn(LearnerState& state, VectorEnv& envs, const PpoOptions& options, const Clock& clock, StopToken stop,
                     const std::function<void(const CurveRow&)>& on_update);

// Plays `episodes` episodes; the network decides by sampling, or, if null, legal actions are drawn with equal chance.
// Counts those whose gain within the limit is at least 80 % of `best_gain`.
Expected<SuccessRate> PlayEpisodes(ActorCritic network, VectorEnv& envs, int episodes, double best_gain, double target_drop,
                                   uint64_t seed);

}  // namespace rlc

#endif  // RLC_TRAIN_PPO_INL_H_
