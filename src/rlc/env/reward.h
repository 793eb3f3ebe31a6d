// Rewards: one object over named costs.
#ifndef RLC_ENV_REWARD_H_
#define RLC_ENV_REWARD_H_

#include <optional>

#include "rlc/cost/cost.h"

namespace rlc {

enum class RewardKind {
  kClassic,  // a*dL + b*dE - g*dA, +1 if dL > 0.1 and the drop is below the target; of the state reached
  kDelta,    // change of the potential: an episode's sum is its final gain
};

struct RewardOptions {
  RewardKind kind = RewardKind::kDelta;
  double alpha = 1.0, beta = 0.5, gamma = 2.0;
  double illegal_penalty = -0.1;
  std::optional<double> baseline_energy_mj;  // of one run of the original model; nothing: not measured
};

// dL = 1 - latency / baseline; dE = 0.8 * dL unless energy was measured on both sides; dA = clamp(drop / target, 0, 1),
// 0 without data.
class Reward {
 public:
  Reward(RewardOptions options, double target_drop) : options_(options), target_drop_(target_drop) {}
  double OfIllegal() const { return options_.illegal_penalty; }
  // dL within the limit; beyond it, minus the excess: what kDelta sums up to.
  double Potential(const Costs& costs) const;
  double Classic(const Costs& costs) const;
  RewardKind kind() const { return options_.kind; }

 private:
  RewardOptions options_;
  double target_drop_;
};

}  // namespace rlc

#endif  // RLC_ENV_REWARD_H_
