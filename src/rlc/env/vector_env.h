// Many environments in step, for learners: contiguous buffers, episodes that start over by themselves.
#ifndef RLC_ENV_VECTOR_ENV_H_
#define RLC_ENV_VECTOR_ENV_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/cost/surrogate.h"
#include "rlc/env/layers_env.h"

namespace rlc {

// How an episode went, told at the step that ended it.
struct EpisodeEnd {
  int env = 0;
  double reward = 0;  // sum over the episode
  double gain = 0;    // 1 - latency / baseline at the end
  double drop = 0;    // accuracy drop at the end
  int steps = 0;
};

// Facts: each environment has a copy of the surrogate; results do not depend on how many there are or on threads.
class VectorEnv {
 public:
  VectorEnv(const Catalogue& catalogue, const GraphFeatures& features, const Surrogate& surrogate,
            LayersEnvOptions options, int count);

  int count() const { return static_cast<int>(envs_.size()); }
  int num_layers() const { return envs_.front().num_layers(); }
  int num_actions() const { return kLayerActionTypes * num_layers(); }

  Expected<void> Reset();
  // actions[i] = type * num_layers + layer, for each environment. An environment whose episode ends starts over at
  // once; what it saw last is in final_observations().
  Expected<void> Step(std::span<const int64_t> actions);

  const std::vector<float>& observations() const { return observations_; }              // [count, 39]
  const std::vector<float>& final_observations() const { return final_observations_; }  // [count, 39], where ended
  const std::vector<uint8_t>& masks() const { return masks_; }                          // [count, num_actions]
  const std::vector<float>& rewards() const { return rewards_; }                        // [count], of the last step
  const std::vector<uint8_t>& terminated() const { return terminated_; }                // [count]
  const std::vector<uint8_t>& truncated() const { return truncated_; }                  // [count]
  // Episodes that ended at the last step.
  const std::vector<EpisodeEnd>& ended() const { return ended_; }
  // Largest gain that an episode ended with within the limit so far; 0 at first.
  double best_gain() const { return best_gain_; }

 private:
  void Look(size_t env);

  double target_drop_;
  std::vector<std::unique_ptr<Surrogate>> surrogates_;
  std::vector<LayersEnv> envs_;
  std::vector<double> sums_;
  std::vector<float> observations_, final_observations_, rewards_;
  std::vector<uint8_t> masks_, terminated_, truncated_;
  std::vector<EpisodeEnd> ended_;
  double best_gain_ = 0;
};

}  // namespace rlc

#endif  // RLC_ENV_VECTOR_ENV_H_
