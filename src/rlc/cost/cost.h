// Costs of a model: what is optimized, each with its unit and uncertainty.
#ifndef RLC_COST_COST_H_
#define RLC_COST_COST_H_

#include <cstdint>
#include <optional>
#include <string>

#include "rlc/base/json.h"
#include "rlc/base/statistics.h"

namespace rlc {

// Where numbers come from. An estimate is never shown without this mark.
enum class CostSource { kMeasured, kSurrogate };

struct Costs {
  CostSource source = CostSource::kMeasured;
  Estimate latency_ms;                // of one run
  Estimate ratio;                     // latency / baseline latency of the same run: < 1 is faster
  std::optional<Estimate> drop;       // accuracy drop against the baseline, 0.01 = one point; nothing: no data
  std::optional<Estimate> energy_mj;  // of one run, idle subtracted; nothing: not measured
  int64_t file_bytes = 0;
  std::optional<int64_t> peak_bytes;  // resident, of the measuring process
};

Json ToJson(const Costs& costs);

}  // namespace rlc

#endif  // RLC_COST_COST_H_
