#include "rlc/quant/emulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace rlc {
namespace {

TEST(EmulateGemm, MatchesRealArithmeticWithinHalfAStep) {
  std::mt19937 engine(1);
  std::uniform_int_distribution<int32_t> activation(0, 255);
  std::uniform_int_distribution<int> weight(-64, 64);
  const int64_t rows = 3, depth = 17, columns = 5;
  std::vector<int32_t> a(static_cast<size_t>(rows * depth));
  std::vector<int8_t> b(static_cast<size_t>(depth * columns));
  for (auto& x : a) x = activation(engine);
  for (auto& x : b) x = static_cast<int8_t>(weight(engine));
  const std::vector<int32_t> bias{5, -700, 0, 12, 9};
  const std::vector<float> scale{0.01f, 0.02f, 0.005f, 0.01f, 0.03f};
  const Requantize how{{0.05f, 100}, {0.4f, 128}, scale, Scheme{}, Accumulation::kExact};
  const std::vector<int32_t> y = EmulateGemm(a, b, bias, rows, depth, columns, how);
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < columns; ++n) {
      double sum = bias[static_cast<size_t>(n)] * 0.05 * scale[static_cast<size_t>(n)];
      for (int64_t k = 0; k < depth; ++k) {
        sum += (a[static_cast<size_t>(m * depth + k)] - 100) * 0.05 * b[static_cast<size_t>(k * columns + n)] *
               scale[static_cast<size_t>(n)];
      }
      const double real = std::clamp(sum, -128 * 0.4, 127 * 0.4);
      EXPECT_NEAR((y[static_cast<size_t>(m * columns + n)] - 128) * 0.4, real, 0.2 + 1e-4);
    }
  }
}

TEST(EmulateGemm, FullRangeWeightsSaturateWithoutVnniReducedOnesDoNot) {
  const std::vector<int32_t> a{255, 255};
  const std::vector<float> scale{1};
  for (const bool reduced : {false, true}) {
    const Scheme scheme{DType::kUint8, reduced};
    const auto w = static_cast<int8_t>(scheme.weight_limit());
    const std::vector<int8_t> b{w, w};
    Requantize how{{1, 0}, {1000, 0}, scale, scheme, Accumulation::kExact};
    const auto exact = EmulateGemm(a, b, {}, 1, 2, 1, how);
    how.accumulation = Accumulation::kSaturatingPairs;
    const auto saturating = EmulateGemm(a, b, {}, 1, 2, 1, how);
    EXPECT_EQ(exact == saturating, reduced);
  }
}

TEST(EmulateConv, PaddingIsTheZeroPoint) {
  // A 3x3 kernel of ones over one pixel: only the pixel counts, whatever stands for 0.
  const std::vector<float> scale{1};
  const Requantize how{{1, 77}, {1, 0}, scale, Scheme{}, Accumulation::kExact};
  ConvGeometry g;
  g.kernel_h = g.kernel_w = 3;
  g.pad_top = g.pad_left = g.pad_bottom = g.pad_right = 1;
  EXPECT_EQ(EmulateConv(std::vector<int32_t>{80}, std::vector<int8_t>(9, 1), {}, g, how), (std::vector<int32_t>{3}));
}

TEST(EmulateConv, GroupsStridesAndDilation) {
  const std::vector<float> scale{1, 1};
  const Requantize how{{1, 0}, {1, 0}, scale, Scheme{}, Accumulation::kExact};
  ConvGeometry g;
  g.in_channels = g.out_channels = g.group = 2;
  g.height = 1;
  g.width = 5;
  g.kernel_w = 2;
  g.stride_w = 2;
  g.dilation_w = 2;
  const std::vector<int32_t> x{1, 2, 3, 4, 5, 10, 20, 30, 40, 50};
  EXPECT_EQ(EmulateConv(x, std::vector<int8_t>{1, 1, 1, 0}, {}, g, how), (std::vector<int32_t>{4, 8, 10, 30}));
}

}  // namespace
}  // namespace rlc
