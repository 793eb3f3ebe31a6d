// Proximal policy optimization (Schulman et al. 2017) with action masks, over vectorised environments.
#ifndef RLC_TRAIN_PPO_INL_H_
#define RLC_TRAIN_PPO_INL_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

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

// All parameters of `network` are views of the vector `parameters`, their gradients of `gradients`: so Adam and
// clipping cost a dozen operations for each minibatch and not two hundred, which would be most of the time of a network
// this small.
struct LearnerState {
  ActorCritic network{nullptr};
  torch::Tensor parameters, gradients;
  std::shared_ptr<torch::optim::Adam> optimizer;  // over `parameters`
  int64_t timesteps = 0;
};

// A fresh network and optimizer, seeded by options.seed.
LearnerState MakeLearner(int64_t actions, const PpoOptions& options);

// Trains until state.timesteps reaches options.total_timesteps, or told to stop: always whole updates, so the last one
// may go beyond. `on_update` sees each row. Error: what an environment gives.
Expected<void> Learn(LearnerState& state, VectorEnv& envs, const PpoOptions& options, const Clock& clock,
                     StopToken stop, const std::function<void(const CurveRow&)>& on_update);

// Plays `episodes` episodes, each environment the same number of them (rounded up), and hands back the final gain of
// each: 0 where the drop exceeds the limit. The network decides by sampling; if it is null, legal actions are drawn
// with equal chance.
Expected<std::vector<double>> PlayEpisodes(ActorCritic network, VectorEnv& envs, int episodes, double target_drop,
                                           uint64_t seed);

}  // namespace rlc

#endif  // RLC_TRAIN_PPO_INL_H_
