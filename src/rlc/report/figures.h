// Figures as a report writes them: value, interval, samples.
#ifndef RLC_REPORT_FIGURES_H_
#define RLC_REPORT_FIGURES_H_

#include <optional>
#include <string>
#include <string_view>

#include "rlc/base/error.h"
#include "rlc/base/json.h"
#include "rlc/base/statistics.h"

namespace rlc {

// The estimate in `object[key]`; nothing for null.
Expected<std::optional<Estimate>> ReadEstimate(const Json& object, std::string_view key);
Expected<Estimate> ReadNeededEstimate(const Json& object, std::string_view key);

std::string SpeedupText(const Estimate& estimate);  // "1.34x (1.31 - 1.37)"
std::string LatencyText(const Estimate& estimate);  // "0.92 ms (0.91 - 0.93)"
std::string PointsText(const Estimate& estimate);   // "0.05 points (-0.20 - 0.30)"

// For HTML text and attribute values.
std::string Escape(std::string_view text);

}  // namespace rlc

#endif  // RLC_REPORT_FIGURES_H_
