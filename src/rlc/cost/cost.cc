#include "rlc/cost/cost.h"

namespace rlc {
namespace {

Json FromEstimate(const Estimate& estimate) {
  return {{"value", estimate.value},
          {"low", estimate.low},
          {"high", estimate.high},
          {"samples", estimate.samples},
          {"unit", estimate.unit}};
}

}  // namespace

Json ToJson(const Costs& costs) {
  Json json = {{"source", costs.source == CostSource::kMeasured ? "measured" : "surrogate"},
               {"latency", FromEstimate(costs.latency_ms)},
               {"ratio", FromEstimate(costs.ratio)},
               {"file_bytes", costs.file_bytes}};
  if (costs.drop) json["drop"] = FromEstimate(*costs.drop);
  if (costs.energy_mj) json["energy"] = FromEstimate(*costs.energy_mj);
  if (costs.peak_bytes) json["peak_bytes"] = *costs.peak_bytes;
  return json;
}

}  // namespace rlc
