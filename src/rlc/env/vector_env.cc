#include "rlc/env/vector_env.h"

#include <algorithm>

namespace rlc {

VectorEnv::VectorEnv(const Catalogue& catalogue, const GraphFeatures& features, const Surrogate& surrogate,
                     LayersEnvOptions options, int count)
    : target_drop_(options.target_drop) {
  RLC_CHECK(count > 0);
  const auto size = static_cast<size_t>(count);
  for (size_t i = 0; i < size; ++i) {
    surrogates_.push_back(std::make_unique<Surrogate>(surrogate));
    envs_.emplace_back(catalogue, features, *surrogates_.back(), options);
  }
  sums_.assign(size, 0);
  observations_.assign(size * kObservationSize, 0);
  final_observations_ = observations_;
  rewards_.assign(size, 0);
  terminated_.assign(size, 0);
  truncated_.assign(size, 0);
  masks_.assign(size * static_cast<size_t>(num_actions()), 0);
}

void VectorEnv::Look(size_t env) {
  const Observation observation = envs_[env].Observe();
  std::copy(observation.begin(), observation.end(),
            observations_.begin() + static_cast<int64_t>(env * kObservationSize));
  const auto actions = static_cast<size_t>(num_actions());
  envs_[env].Mask(std::span(masks_).subspan(env * actions, actions));
}

Expected<void> VectorEnv::Reset() {
  for (size_t i = 0; i < envs_.size(); ++i) {
    RLC_RETURN_IF_ERROR(envs_[i].Reset());
    sums_[i] = 0;
    Look(i);
  }
  return {};
}

Expected<void> VectorEnv::Step(std::span<const int64_t> actions) {
  RLC_CHECK_EQ(actions.size(), envs_.size());
  ended_.clear();
  for (size_t i = 0; i < envs_.size(); ++i) {
    LayersEnv& env = envs_[i];
    RLC_CHECK(actions[i] >= 0 && actions[i] < num_actions());
    const LayerAction action{static_cast<LayerActionType>(actions[i] / num_layers()),
                             static_cast<int>(actions[i] % num_layers())};
    RLC_ASSIGN_OR_RETURN(const StepResult step, env.Step(action));
    rewards_[i] = static_cast<float>(step.reward);
    terminated_[i] = step.terminated ? 1 : 0;
    truncated_[i] = step.truncated ? 1 : 0;
    sums_[i] += step.reward;
    if (env.state().ended()) {
      const Costs& costs = env.state().costs;
      const EpisodeEnd end{static_cast<int>(i), sums_[i], 1 - costs.ratio.value, costs.drop ? costs.drop->value : 0.0,
                           static_cast<int>(env.state().history.size())};
      ended_.push_back(end);
      if (end.drop <= target_drop_) best_gain_ = std::max(best_gain_, end.gain);
      const Observation last = env.Observe();
      std::copy(last.begin(), last.end(), final_observations_.begin() + static_cast<int64_t>(i * kObservationSize));
      RLC_RETURN_IF_ERROR(env.Reset());
      sums_[i] = 0;
    }
    Look(i);
  }
  return {};
}

}  // namespace rlc
