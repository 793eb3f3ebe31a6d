#include "rlc/search/prior_logits.h"

#include <algorithm>

#include "rlc/env/layers_env.h"
#include "rlc/search/best_by_estimate.h"

namespace rlc {
namespace {

Costs PriceOf(Surrogate& surrogate, const Candidate& candidate) {
  auto costs = surrogate.Evaluate(candidate);
  RLC_CHECK(costs.has_value());  // a surrogate prices everything
  return *std::move(costs);
}

// Milliseconds by which each entry alone is better than nothing.
std::vector<double> WorthOfEntries(const Catalogue& catalogue, Surrogate& surrogate, double max_drop) {
  const double start = PriceOf(surrogate, {}).latency_ms.value;
  const Costs best = PriceOf(surrogate, BestByEstimate(catalogue, surrogate, max_drop));
  constexpr double kShare = 0.5;  // the last unit of drop buys less than the first
  const double of_drop = best.drop && max_drop > 0 ? kShare * (start - best.latency_ms.value) / max_drop : 0.0;
  std::vector<double> worth(catalogue.entries.size(), 0.0);
  for (size_t entry = 0; entry < worth.size(); ++entry) {
    const Costs costs = PriceOf(surrogate, Normalized(catalogue, {static_cast<int>(entry)}));
    worth[entry] = start - costs.latency_ms.value - of_drop * (costs.drop ? costs.drop->value : 0.0);
  }
  for (size_t entry = 0; entry < worth.size(); ++entry) {
    const int fold = RequiredEntry(catalogue, static_cast<int>(entry));
    if (fold >= 0) worth[static_cast<size_t>(fold)] = std::max(worth[static_cast<size_t>(fold)], worth[entry]);
  }
  return worth;
}

LayerActionType TypeOf(ActionType type) {
  switch (type) {
    case ActionType::kFuseConvBn:
      return LayerActionType::kFuseConvBn;
    case ActionType::kPrune:
      return LayerActionType::kPrune;
    case ActionType::kQuantize:
      return LayerActionType::kQuantize;
  }
  return LayerActionType::kSkip;
}

}  // namespace

std::vector<float> PriorLogits(const Catalogue& catalogue, Surrogate surrogate, double max_drop, double strength) {
  const size_t layers = catalogue.layers.size();
  std::vector<float> logits(kLayerActionTypes * layers, 0.0F);
  const std::vector<double> worth = WorthOfEntries(catalogue, surrogate, max_drop);
  double sum = 0, count = 0;
  for (double of_entry : worth) {
    if (of_entry > 0) sum += of_entry, ++count;
  }
  if (count == 0) return logits;
  std::fill(logits.begin(), logits.end(), static_cast<float>(-strength));
  for (size_t entry = 0; entry < worth.size(); ++entry) {
    const CatalogueEntry& e = catalogue.entries[entry];
    const size_t action = static_cast<size_t>(TypeOf(e.type)) * layers + static_cast<size_t>(e.layer);
    logits[action] = static_cast<float>(strength * std::clamp(worth[entry] * count / sum, -1.0, 1.0));
  }
  return logits;
}

}  // namespace rlc
