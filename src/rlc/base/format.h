// Numbers with units, the same way everywhere, and the sizes and times that people type.
#ifndef RLC_BASE_FORMAT_H_
#define RLC_BASE_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"

namespace rlc {

// Three significant digits; "n/a" for NaN, "inf" and "-inf" as such.
std::string FormatSeconds(double seconds);                   // "12.3 ms", "850 ns", "2.50 s", "3 min 20 s"
std::string FormatBytes(double bytes);                       // decimal units: "512 B", "3.40 MB"
std::string FormatCount(double count);                       // "950", "12.3 k", "3.40 M", "1.20 G"
std::string FormatRatio(double ratio);                       // "1.25x"
std::string FormatPercent(double fraction);                  // 0.0123 -> "1.23 %"
std::string FormatPoints(double fraction);                   // accuracy difference, 0.0123 -> "1.23 points"
std::string FormatShape(const std::vector<int64_t>& shape);  // "[1,3,?,224]", -1 as "?"
std::string FormatUtc(double unix_seconds);                  // "2031-05-01T12:00:00Z"

// "90", "90s", "2m", "1.5h", "250ms" -> seconds; no sign. `what` names the flag in errors.
Expected<double> ParseDuration(std::string_view text, std::string_view what);
// "1000", "64k", "512MB", "2GiB" -> bytes.
Expected<uint64_t> ParseBytes(std::string_view text, std::string_view what);
// "1%" and "0.01" -> 0.01; within [0, 1].
Expected<double> ParseFraction(std::string_view text, std::string_view what);
// The whole text must be one finite number.
Expected<double> ParseNumber(std::string_view text, std::string_view what);
Expected<int64_t> ParseInt(std::string_view text, std::string_view what);

// "a,b,,c" -> {"a", "b", "", "c"}; "" -> {}.
std::vector<std::string> SplitText(std::string_view text, char separator);

}  // namespace rlc

#endif  // RLC_BASE_FORMAT_H_
