#include "rlc/report/figures.h"

#include <algorithm>

namespace rlc {

Expected<std::optional<Estimate>> ReadEstimate(const Json& object, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(object, key));
  if (field->is_null()) return std::nullopt;
  Estimate estimate;
  const auto read = [&](std::string_view name, double& into) -> Expected<void> {
    auto number = GetDouble(*field, name);
    if (!number) return WithContext(std::move(number).error(), key);
    into = *number;
    return {};
  };
  RLC_RETURN_IF_ERROR(read("value", estimate.value));
  // An interval that reaches to infinity is written as null.
  estimate.low = estimate.high = estimate.value;
  if (field->contains("low") && (*field)["low"].is_number()) RLC_RETURN_IF_ERROR(read("low", estimate.low));
  if (field->contains("high") && (*field)["high"].is_number()) RLC_RETURN_IF_ERROR(read("high", estimate.high));
  RLC_ASSIGN_OR_RETURN(const int64_t samples, GetIntOr(*field, "samples", 0));
  estimate.samples = static_cast<size_t>(std::max<int64_t>(samples, 0));
  return estimate;
}

Expected<Estimate> ReadNeededEstimate(const Json& object, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const std::optional<Estimate> estimate, ReadEstimate(object, key));
  if (!estimate) return MakeError(ErrorKind::kInvalidInput, "{}: is null, wanted an estimate", key);
  return *estimate;
}

std::string SpeedupText(const Estimate& e) {
  return fmt::format("{:.2f}x ({:.2f} \u2013 {:.2f})", e.value, e.low, e.high);
}

std::string LatencyText(const Estimate& e) {
  return fmt::format("{:.3g} ms ({:.3g} \u2013 {:.3g})", e.value, e.low, e.high);
}

std::string PointsText(const Estimate& e) {
  return fmt::format("{:.2f} points ({:.2f} to {:.2f})", 100 * e.value, 100 * e.low, 100 * e.high);
}

std::string Escape(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace rlc
