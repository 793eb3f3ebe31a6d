#include "rlc/env/reward.h"

#include <algorithm>

namespace rlc {
namespace {

double LatencyGain(const Costs& costs) { return 1.0 - costs.ratio.value; }
double Drop(const Costs& costs) { return costs.drop ? costs.drop->value : 0.0; }

}  // namespace

double Reward::Classic(const Costs& costs) const {
  const double latency = LatencyGain(costs);
  const bool measured = options_.baseline_energy_mj && costs.energy_mj;
  const double energy = measured ? 1.0 - costs.energy_mj->value / *options_.baseline_energy_mj : 0.8 * latency;
  const double drop =
      target_drop_ > 0 ? std::clamp(Drop(costs) / target_drop_, 0.0, 1.0) : (Drop(costs) > 0 ? 1.0 : 0.0);
  const double bonus = latency > 0.1 && Drop(costs) < target_drop_ ? 1.0 : 0.0;
  return options_.alpha * latency + options_.beta * energy - options_.gamma * drop + bonus;
}

double Reward::Potential(const Costs& costs) const {
  const double excess = Drop(costs) - target_drop_;
  return excess <= 0 ? LatencyGain(costs) : -options_.gamma * std::min(excess / std::max(target_drop_, 1e-9), 1.0);
}

}  // namespace rlc
