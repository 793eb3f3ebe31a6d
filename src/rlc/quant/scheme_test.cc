#include "rlc/quant/scheme.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace rlc {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Scheme, NamesRoundTrip) {
  for (const char* name : {"u8s8", "u8s7", "s8s8", "s8s7"}) {
    const auto scheme = ParseScheme(name);
    ASSERT_TRUE(scheme);
    EXPECT_EQ(scheme->Name(), name);
  }
  EXPECT_EQ(ParseScheme("u4s4").error().kind, ErrorKind::kUsage);
}

TEST(Scheme, DefaultReducesWeightsWhereProductsSaturate) {
  EXPECT_EQ(Scheme::DefaultFor({.x86 = true, .vnni = false}).Name(), "u8s7");
  EXPECT_EQ(Scheme::DefaultFor({.x86 = true, .vnni = true}).Name(), "u8s8");
  EXPECT_EQ(Scheme::DefaultFor({.x86 = false, .vnni = false}).Name(), "s8s8");
}

TEST(Scheme, ReducedWeightsCannotSaturateAPairOfProducts) {
  const Scheme reduced{DType::kUint8, true};
  EXPECT_LE(2 * 255 * reduced.weight_limit(), 32767);
}

TEST(ParamsForRange, CoversTheRangeAndRepresentsZero) {
  for (const Scheme scheme : {Scheme{DType::kUint8, false}, Scheme{DType::kInt8, false}}) {
    for (const auto& [low, high] :
         {std::pair{-1.0, 3.0}, {0.0, 6.0}, {-5.0, 0.0}, {0.5, 2.0}, {-3.0, -1.0}, {-1e-20, 1e20}}) {
      const auto params = ParamsForRange(low, high, scheme);
      ASSERT_TRUE(params);
      EXPECT_GE(params->zero_point, scheme.activation_low());
      EXPECT_LE(params->zero_point, scheme.activation_high());
      EXPECT_EQ(
          DequantizeNumber(QuantizeNumber(0, *params, scheme.activation_low(), scheme.activation_high()), *params), 0);
      const double step = params->scale;
      EXPECT_NEAR(DequantizeNumber(scheme.activation_high(), *params), std::max(high, 0.0), step);
      EXPECT_NEAR(DequantizeNumber(scheme.activation_low(), *params), std::min(low, 0.0), step);
    }
  }
}

TEST(ParamsForRange, AfterReluTheZeroPointIsTheLowestInteger) {
  EXPECT_EQ(*ParamsForRange(0, 2.55, {DType::kUint8, false}), (QuantParams{0.01f, 0}));
  EXPECT_EQ(ParamsForRange(0, 2.55, {DType::kInt8, false})->zero_point, -128);
}

TEST(ParamsForRange, AnEmptyRangeGetsScaleOne) {
  EXPECT_EQ(ParamsForRange(0, 0, {})->scale, 1);
  EXPECT_EQ(ParamsForRange(0, 1e-44, {})->scale, 1);
}

TEST(ParamsForRange, RefusesWhatIsNotARange) {
  EXPECT_FALSE(ParamsForRange(std::nan(""), 1, {}));
  EXPECT_FALSE(ParamsForRange(0, kInf, {}));
  EXPECT_FALSE(ParamsForRange(2, 1, {}));
  EXPECT_FALSE(ParamsForRange(-3e40, 3e40 * 255, {}));
}

TEST(QuantizeNumber, RoundsHalfToEvenAndSaturates) {
  const QuantParams params{1, 10};
  EXPECT_EQ(QuantizeNumber(0.5, params, 0, 255), 10);
  EXPECT_EQ(QuantizeNumber(1.5, params, 0, 255), 12);
  EXPECT_EQ(QuantizeNumber(2.5, params, 0, 255), 12);
  EXPECT_EQ(QuantizeNumber(-0.5, params, 0, 255), 10);
  EXPECT_EQ(QuantizeNumber(-1.5, params, 0, 255), 8);
  EXPECT_EQ(QuantizeNumber(1e30, params, 0, 255), 255);
  EXPECT_EQ(QuantizeNumber(-1e30, params, 0, 255), 0);
  EXPECT_EQ(QuantizeNumber(std::nan(""), params, 0, 255), 10);
}

TEST(QuantizeWeight, UsesOneScaleForEachChannelOfAnyAxis) {
  const Tensor weight = Tensor::Of<float>({2, 3}, {1, -2, 4, 0.5, 2, -8});
  const auto rows = QuantizeWeight(weight, 0, nullptr, 0.1f, {DType::kUint8, false});
  ASSERT_TRUE(rows);
  EXPECT_EQ(std::vector<float>(rows->scale.data<float>().begin(), rows->scale.data<float>().end()),
            (std::vector<float>{4.0f / 127, 8.0f / 127}));
  const auto columns = QuantizeWeight(weight, 1, nullptr, 0.1f, {DType::kUint8, false});
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->scale.dims(), (std::vector<int64_t>{3}));
  const auto q = columns->weight.data<int8_t>();
  EXPECT_EQ(std::vector<int>(q.begin(), q.end()), (std::vector<int>{127, -127, 64, 64, 127, -127}));
  EXPECT_FALSE(columns->bias.has_value());
}

TEST(QuantizeWeight, ReducedRangeKeepsWithin64) {
  const Tensor weight = Tensor::Of<float>({1, 3}, {1, -1, 0.5});
  const auto q = QuantizeWeight(weight, 0, nullptr, 1, {DType::kUint8, true});
  ASSERT_TRUE(q);
  EXPECT_EQ(q->weight.data<int8_t>()[0], 64);
  EXPECT_EQ(q->weight.data<int8_t>()[1], -64);
}

TEST(QuantizeWeight, BiasIsInUnitsOfInputTimesWeightScale) {
  const Tensor weight = Tensor::Of<float>({2, 1}, {1.27f, 0});
  const Tensor bias = Tensor::Of<float>({2}, {0.5f, -3});
  const auto q = QuantizeWeight(weight, 0, &bias, 0.1f, {DType::kUint8, false});
  ASSERT_TRUE(q);
  EXPECT_EQ(q->bias->data<int32_t>()[0], 500);
  EXPECT_EQ(q->bias->data<int32_t>()[1], -30);  // an empty channel has scale 1
  EXPECT_EQ(q->widened_channels, 0);
}

TEST(QuantizeWeight, ABiasThatWouldOverflowWidensItsChannelOnly) {
  const Tensor weight = Tensor::Of<float>({2, 1}, {1e-7f, 1});
  const Tensor bias = Tensor::Of<float>({2}, {1000, 1});
  const auto q = QuantizeWeight(weight, 0, &bias, 1e-3f, {DType::kUint8, false});
  ASSERT_TRUE(q);
  EXPECT_EQ(q->widened_channels, 1);
  EXPECT_NEAR(q->bias->data<int32_t>()[0], 1 << 30, 100);
  EXPECT_NEAR(static_cast<double>(q->bias->data<int32_t>()[0]) * 1e-3f * q->scale.data<float>()[0], 1000, 1e-3);
  EXPECT_EQ(q->scale.data<float>()[1], 1.0f / 127);
}

TEST(QuantizeWeight, RefusesWhatItCannotRepresent) {
  const Tensor good = Tensor::Of<float>({2, 1}, {1, 1});
  const Tensor nan = Tensor::Of<float>({2, 1}, {1, std::nanf("")});
  const Tensor inf_bias = Tensor::Of<float>({2}, {kInf, 0});
  const Tensor short_bias = Tensor::Of<float>({1}, {0});
  const Tensor ints = Tensor::Of<int32_t>({2, 1}, {1, 1});
  EXPECT_FALSE(QuantizeWeight(nan, 0, nullptr, 1, {}));
  EXPECT_FALSE(QuantizeWeight(good, 0, &inf_bias, 1, {}));
  EXPECT_FALSE(QuantizeWeight(good, 0, &short_bias, 1, {}));
  EXPECT_FALSE(QuantizeWeight(ints, 0, nullptr, 1, {}));
  const Tensor tiny = Tensor::Of<float>({1, 1}, {1e-30f});
  EXPECT_FALSE(QuantizeWeight(tiny, 0, nullptr, 1e-30f, {})) << "the scale of the bias would be 0";
}

}  // namespace
}  // namespace rlc
