#include "rlc/ir/float16.h"

#include <bit>
#include <cmath>

namespace rlc {
namespace {

// Rounds to a format with `mantissa` explicit mantissa bits, smallest normal exponent `min_exponent` and largest
// `max_exponent`.
uint16_t Round(double value, int mantissa, int min_exponent, int max_exponent) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const auto infinity = static_cast<uint16_t>((max_exponent - min_exponent + 2) << mantissa);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | infinity | (1 << (mantissa - 1)));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return static_cast<uint16_t>(sign | infinity);
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < min_exponent) exponent = min_exponent;  // subnormal: the steps stay as wide as at the smallest normal
  // In units of the last place this is at most 2^(mantissa+1): exact as a double, and rounding it may carry into the
  // next exponent, which the addition below does by itself.
  const double steps = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));
  if (exponent > max_exponent || std::ldexp(steps, exponent - mantissa) >= std::ldexp(1.0, max_exponent + 1)) {
    return static_cast<uint16_t>(sign | infinity);
  }
  const int bits = ((exponent - min_exponent) << mantissa) + static_cast<int>(steps);
  return static_cast<uint16_t>(sign | bits);
}

}  // namespace

float Float16ToFloat(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = mantissa != 0 ? std::nanf("") : INFINITY;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t DoubleToFloat16(double value) { return Round(value, 10, -14, 15); }

uint16_t DoubleToBFloat16(double value) { return Round(value, 7, -126, 127); }

}  // namespace rlc
