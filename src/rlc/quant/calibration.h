// The result of calibration: scale and zero point of each observed value.
#ifndef RLC_QUANT_CALIBRATION_H_
#define RLC_QUANT_CALIBRATION_H_

#include <map>
#include <string>
#include <string_view>

#include "rlc/base/json.h"
#include "rlc/quant/observer.h"
#include "rlc/quant/scheme.h"

namespace rlc {

struct Calibration {
  Scheme scheme;
  std::map<std::string, QuantParams> values;  // by value name
  bool operator==(const Calibration&) const = default;
};

// Error: a value that saw no sample (names it).
Expected<Calibration> Calibrate(const ObserverSet& observers, const Scheme& scheme, const RangeOptions& options = {});

// {"scheme": "u8s8", "values": {"relu1": {"scale": 0.02, "zero_point": 0}}}
Json ToJson(const Calibration& calibration);
// Outside data: every field checked; scales must be positive and finite, zero points within the type.
Expected<Calibration> CalibrationFromJson(const Json& json);

Json ToJson(const QuantParams& params);
Expected<QuantParams> QuantParamsFromJson(const Json& json, const Scheme& scheme);

}  // namespace rlc

#endif  // RLC_QUANT_CALIBRATION_H_
