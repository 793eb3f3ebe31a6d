#include "rlc/quant/emulate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace rlc {
namespace {

int32_t Saturate16(int32_t x) { return std::clamp(x, -32768, 32767); }

// Sums products in the order they come; with saturating pairs, two neighbours meet in 16 bits first.
class Accumulator {
 public:
  Accumulator(int32_t start, const Requantize& how) : sum_(start), how_(how) {}

  void Add(int32_t activation, int8_t weight) {
    const int32_t zero = how_.input.zero_point;
    if (how_.accumulation == Accumulation::kExact) {
      sum_ += (activation - zero) * weight;
      return;
    }
    // The kernel multiplies raw u8 values and takes the zero point's share off at the end.
    correction_ += zero * weight;
    const int32_t product = activation * weight;
    if (half_full_) {
      sum_ += Saturate16(half_ + product);
    } else {
      half_ = product;
    }
    half_full_ = !half_full_;
  }

  int32_t Finish(float weight_scale) const {
    const int32_t total = sum_ + (half_full_ ? Saturate16(half_) : 0) - correction_;
    const float factor = how_.input.scale * weight_scale / how_.output.scale;
    const double scaled = static_cast<float>(static_cast<float>(total) * factor);
    return QuantizeNumber(scaled, QuantParams{1, how_.output.zero_point}, how_.scheme.activation_low(),
                          how_.scheme.activation_high());
  }

 private:
  int32_t sum_;
  const Requantize& how_;
  int32_t correction_ = 0;
  int32_t half_ = 0;
  bool half_full_ = false;
};

int32_t BiasAt(std::span<const int32_t> bias, int64_t channel) {
  return bias.empty() ? 0 : bias[static_cast<size_t>(channel)];
}

void CheckScheme(const Requantize& how) {
  RLC_CHECK(how.accumulation == Accumulation::kExact || how.scheme.activation == DType::kUint8);
}

}  // namespace

std::vector<int32_t> EmulateGemm(std::span<const int32_t> a, std::span<const int8_t> b, std::span<const int32_t> bias,
                                 int64_t rows, int64_t depth, int64_t columns, const Requantize& how) {
  CheckScheme(how);
  std::vector<int32_t> result;
  result.reserve(static_cast<size_t>(rows * columns));
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < columns; ++n) {
      Accumulator sum(BiasAt(bias, n), how);
      for (int64_t k = 0; k < depth; ++k)
        sum.Add(a[static_cast<size_t>(m * depth + k)], b[static_cast<size_t>(k * columns + n)]);
      result.push_back(sum.Finish(how.weight_scale[static_cast<size_t>(n)]));
    }
  }
  return result;
}

std::vector<int32_t> EmulateConv(std::span<const int32_t> x, std::span<const int8_t> w, std::span<const int32_t> bias,
                                 const ConvGeometry& g, const Requantize& how) {
  CheckScheme(how);
  const int64_t group_in = g.in_channels / g.group;
  const int64_t group_out = g.out_channels / g.group;
  // The input at (n, c, row, column); padding holds the zero point.
  const auto input = [&](int64_t n, int64_t c, int64_t row, int64_t column) {
    if (row < 0 || row >= g.height || column < 0 || column >= g.width) return how.input.zero_point;
    return x[static_cast<size_t>(((n * g.in_channels + c) * g.height + row) * g.width + column)];
  };
  const auto output = [&](int64_t n, int64_t m, int64_t row, int64_t column) {
    Accumulator sum(BiasAt(bias, m), how);
    for (int64_t c = 0; c < group_in; ++c) {
      for (int64_t i = 0; i < g.kernel_h; ++i) {
        for (int64_t j = 0; j < g.kernel_w; ++j) {
          sum.Add(input(n, m / group_out * group_in + c, row * g.stride_h - g.pad_top + i * g.dilation_h,
                        column * g.stride_w - g.pad_left + j * g.dilation_w),
                  w[static_cast<size_t>(((m * group_in + c) * g.kernel_h + i) * g.kernel_w + j)]);
        }
      }
    }
    return sum.Finish(how.weight_scale[static_cast<size_t>(m)]);
  };
  std::vector<int32_t> result;
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t m = 0; m < g.out_channels; ++m) {
      for (int64_t row = 0; row < g.out_height(); ++row) {
        for (int64_t column = 0; column < g.out_width(); ++column) result.push_back(output(n, m, row, column));
      }
    }
  }
  return result;
}

}  // namespace rlc
