#include "rlc/quant/calibration.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace rlc {

Expected<Calibration> Calibrate(const ObserverSet& observers, const Scheme& scheme, const RangeOptions& options) {
  if (!(options.percentile > 0.5 && options.percentile <= 1)) {
    return MakeError(ErrorKind::kUsage, "a calibration percentile lies above 0.5 and up to 1, not at {:g}",
                     options.percentile);
  }
  Calibration calibration;
  calibration.scheme = scheme;
  const int levels = scheme.activation_high() - scheme.activation_low() + 1;
  for (const auto& [name, observer] : observers.observers()) {
    if (observer.count() == 0) {
      return MakeError(ErrorKind::kInvalidInput, "{}: calibration saw no sample of this tensor", name);
    }
    const Range range = observer.FindRange(options, levels);
    auto params = ParamsForRange(range.low, range.high, scheme);
    if (!params) return WithContext(std::move(params).error(), name);
    calibration.values.emplace(name, *params);
  }
  return calibration;
}

Json ToJson(const QuantParams& params) {
  // The float as a double: JSON keeps it exactly.
  return Json{{"scale", static_cast<double>(params.scale)}, {"zero_point", params.zero_point}};
}

Expected<QuantParams> QuantParamsFromJson(const Json& json, const Scheme& scheme) {
  RLC_RETURN_IF_ERROR(RefuseUnknownFields(json, {"scale", "zero_point"}));
  RLC_ASSIGN_OR_RETURN(const double scale, GetDouble(json, "scale"));
  RLC_ASSIGN_OR_RETURN(const int64_t zero_point, GetInt(json, "zero_point"));
  if (!(scale >= std::numeric_limits<float>::min() && scale <= std::numeric_limits<float>::max())) {
    return MakeError(ErrorKind::kInvalidInput, "scale {:g} is not a positive float", scale);
  }
  if (zero_point < scheme.activation_low() || zero_point > scheme.activation_high()) {
    return MakeError(ErrorKind::kInvalidInput, "zero_point {} is outside [{}, {}] of scheme {}", zero_point,
                     scheme.activation_low(), scheme.activation_high(), scheme.Name());
  }
  return QuantParams{static_cast<float>(scale), static_cast<int32_t>(zero_point)};
}

Json ToJson(const Calibration& calibration) {
  Json values = Json::object();
  for (const auto& [name, params] : calibration.values) values[name] = ToJson(params);
  return Json{{"scheme", calibration.scheme.Name()}, {"values", std::move(values)}};
}

Expected<Calibration> CalibrationFromJson(const Json& json) {
  RLC_ASSIGN_OR_RETURN(const std::string scheme, GetString(json, "scheme"));
  RLC_ASSIGN_OR_RETURN(const Json* values, GetObject(json, "values"));
  RLC_RETURN_IF_ERROR(RefuseUnknownFields(json, {"scheme", "values"}));
  Calibration calibration;
  auto parsed = ParseScheme(scheme);
  if (!parsed) return MakeError(ErrorKind::kInvalidInput, "scheme: {}", parsed.error().message);
  calibration.scheme = *parsed;
  for (const auto& [name, value] : values->items()) {
    auto params = QuantParamsFromJson(value, calibration.scheme);
    if (!params) return WithContext(std::move(params).error(), name);
    calibration.values.emplace(name, *params);
  }
  return calibration;
}

}  // namespace rlc
