#include "rlc/base/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>

namespace rlc {
namespace {

// Three significant digits without an exponent, for |value| in [1, 1000); "n/a" and "inf" as such.
std::string ThreeDigits(double value) {
  if (std::isnan(value)) return "n/a";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  // The limits are where rounding reaches the next power of ten: 9.995 is printed as 10.0, not as 10.00.
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

// The value in the largest unit that leaves at least 1, three digits. Steps of 1000 from units[0].
template <std::size_t N>
std::string InUnits(double value, const std::array<std::string_view, N>& units) {
  if (!std::isfinite(value)) return ThreeDigits(value);
  std::size_t unit = 0;
  while (unit + 1 < N && std::abs(value) >= 999.5) {
    value /= 1000;
    ++unit;
  }
  const bool whole = unit == 0 && value == std::floor(value);
  const std::string digits = whole ? fmt::format("{:.0f}", value) : ThreeDigits(value);
  return units[unit].empty() ? digits : fmt::format("{} {}", digits, units[unit]);
}

struct Unit {
  std::string_view name;
  double factor;
};

// Splits "12.5ms" into the number and the name of its unit. No value if it does not start with a finite number >= 0.
struct Quantity {
  double number;
  std::string_view unit;
};
std::optional<Quantity> SplitQuantity(std::string_view text) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return Quantity{number, text};
}

template <std::size_t N>
std::optional<double> InBaseUnit(std::string_view text, const std::array<Unit, N>& units) {
  const std::optional<Quantity> quantity = SplitQuantity(text);
  if (!quantity) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name == quantity->unit) return quantity->number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds)) return ThreeDigits(seconds);
  const double size = std::abs(seconds);
  if (size >= 99.95) {
    const double whole = std::round(size);
    const double minutes = std::floor(whole / 60);
    const char* sign = seconds < 0 ? "-" : "";
    if (minutes < 60) return fmt::format("{}{:.0f} min {:.0f} s", sign, minutes, whole - 60 * minutes);
    return fmt::format("{}{:.0f} h {:.0f} min", sign, std::floor(minutes / 60), std::fmod(minutes, 60));
  }
  if (seconds == 0) return "0 s";
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
  return InUnits(seconds * 1e9, kUnits);
}

std::string FormatBytes(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  return InUnits(bytes, kUnits);
}

std::string FormatCount(double count) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  return InUnits(count, kUnits);
}

std::string FormatRatio(double ratio) {
  if (!std::isfinite(ratio)) return ThreeDigits(ratio);
  return ThreeDigits(ratio) + "x";
}

std::string FormatPercent(double fraction) {
  if (!std::isfinite(fraction)) return ThreeDigits(fraction);
  return ThreeDigits(100 * fraction) + " %";
}

std::string FormatPoints(double fraction) {
  if (!std::isfinite(fraction)) return ThreeDigits(fraction);
  return ThreeDigits(100 * fraction) + " points";
}

std::string FormatShape(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += shape[i] < 0 ? "?" : fmt::format("{}", shape[i]);
  }
  return text + "]";
}

std::string FormatUtc(double unix_seconds) {
  // Years 0000 to 9999: beyond them the format has no room, and a damaged time stamp must not become an exception.
  if (!(unix_seconds >= -62167219200.0 && unix_seconds < 253402300800.0)) return "n/a";
  const auto seconds = static_cast<std::time_t>(std::floor(unix_seconds));
  std::tm parts = {};
  if (gmtime_r(&seconds, &parts) == nullptr) return "n/a";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Expected<double> ParseDuration(std::string_view text, std::string_view what) {
  static constexpr std::array<Unit, 7> kUnits = {
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"min", 60}, {"h", 3600}}};
  const std::optional<double> seconds = InBaseUnit(text, kUnits);
  if (!seconds) {
    return MakeError(ErrorKind::kUsage, "{}: '{}' is not a duration; write for example 90, 90s, 2m, 1.5h or 250ms",
                     what, text);
  }
  return *seconds;
}

Expected<uint64_t> ParseBytes(std::string_view text, std::string_view what) {
  static constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                                   {"B", 1},
                                                   {"k", 1e3},
                                                   {"kB", 1e3},
                                                   {"KB", 1e3},
                                                   {"KiB", 1024},
                                                   {"M", 1e6},
                                                   {"MB", 1e6},
                                                   {"MiB", 1048576},
                                                   {"G", 1e9},
                                                   {"GB", 1e9},
                                                   {"GiB", 1073741824},
                                                   {"TB", 1e12},
                                                   {"TiB", 1099511627776}}};
  const std::optional<double> bytes = InBaseUnit(text, kUnits);
  if (!bytes || *bytes >= 0x1.0p63) {
    return MakeError(ErrorKind::kUsage, "{}: '{}' is not a size; write for example 1000, 64kB, 512MB or 2GiB", what,
                     text);
  }
  return static_cast<uint64_t>(*bytes);
}

Expected<double> ParseFraction(std::string_view text, std::string_view what) {
  static constexpr std::array<Unit, 2> kUnits = {{{"", 1}, {"%", 0.01}}};
  const std::optional<double> fraction = InBaseUnit(text, kUnits);
  if (!fraction || *fraction > 1) {
    return MakeError(ErrorKind::kUsage, "{}: '{}' is not a fraction between 0 and 1; write for example 1% or 0.01",
                     what, text);
  }
  return *fraction;
}

Expected<double> ParseNumber(std::string_view text, std::string_view what) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return MakeError(ErrorKind::kUsage, "{}: '{}' is not a number", what, text);
  }
  return number;
}

Expected<int64_t> ParseInt(std::string_view text, std::string_view what) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc::result_out_of_range) {
    return MakeError(ErrorKind::kUsage, "{}: {} is outside the range of whole numbers, {} to {}", what, text,
                     std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  }
  if (code != std::errc() || end != text.data() + text.size()) {
    return MakeError(ErrorKind::kUsage, "{}: '{}' is not a whole number", what, text);
  }
  return number;
}

std::vector<std::string> SplitText(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace rlc
