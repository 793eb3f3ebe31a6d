#include "rlc/quant/observer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace rlc {
namespace {

constexpr RangeMethod kAll[] = {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy,
                                RangeMethod::kMse};

std::vector<float> Normal(size_t count, float scale, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> distribution(0, scale);
  std::vector<float> samples(count);
  for (float& x : samples) x = distribution(engine);
  return samples;
}

// Mean squared error of 8-bit quantization of the samples.
double ErrorOf(const std::vector<float>& samples, Range range) {
  const QuantParams params = *ParamsForRange(range.low, range.high, {});
  double error = 0;
  for (const float x : samples) {
    const double y = DequantizeNumber(QuantizeNumber(x, params, 0, 255), params);
    error += (x - y) * (x - y);
  }
  return error / static_cast<double>(samples.size());
}

TEST(Observer, MinMaxIsExactAndHoldsZero) {
  Observer observer;
  ASSERT_TRUE(observer.Add("x", std::vector<float>{0.5f, 2}));
  EXPECT_EQ(observer.FindRange({}).low, 0);
  EXPECT_EQ(observer.FindRange({}).high, 2);
  ASSERT_TRUE(observer.Add("x", std::vector<float>{-3e5f}));
  EXPECT_EQ(observer.FindRange({}).low, -3e5);
  EXPECT_EQ(observer.min(), -3e5);
}

TEST(Observer, RefusesNanAndInfinityByName) {
  Observer observer;
  const auto result = observer.Add("conv_3", std::vector<float>{1, std::nanf(""), 3});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("conv_3"), std::string::npos);
  EXPECT_FALSE(observer.Add("x", std::vector<float>{-std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(observer.count(), 0);
}

TEST(Observer, OrderAndMergingDoNotMatter) {
  const std::vector<float> small = Normal(1000, 1e-3f, 1);
  const std::vector<float> large = Normal(1000, 50, 2);
  const std::vector<float> zeros(100, 0.0f);
  Observer forward, backward, left, right;
  for (const auto* part : {&zeros, &small, &large}) ASSERT_TRUE(forward.Add("x", *part));
  for (const auto* part : {&large, &small, &zeros}) ASSERT_TRUE(backward.Add("x", *part));
  ASSERT_TRUE(left.Add("x", small));
  ASSERT_TRUE(right.Add("x", large));
  ASSERT_TRUE(right.Add("x", zeros));
  left.Merge(right);
  EXPECT_EQ(left.count(), 2100);
  for (const RangeMethod method : kAll) {
    const Range expected = forward.FindRange({method, 0.99});
    EXPECT_EQ(backward.FindRange({method, 0.99}).high, expected.high) << RangeMethodName(method);
    EXPECT_EQ(backward.FindRange({method, 0.99}).low, expected.low) << RangeMethodName(method);
    EXPECT_EQ(left.FindRange({method, 0.99}).high, expected.high) << RangeMethodName(method);
    EXPECT_EQ(left.FindRange({method, 0.99}).low, expected.low) << RangeMethodName(method);
  }
}

TEST(Observer, SurvivesExtremeValues) {
  Observer observer;
  ASSERT_TRUE(observer.Add("x", std::vector<float>{1e-45f, -1e-45f}));
  ASSERT_TRUE(observer.Add("x", std::vector<float>{3.4e38f, -3.4e38f, 1}));
  ASSERT_TRUE(observer.Add("x", std::vector<float>{}));
  for (const RangeMethod method : kAll) {
    const Range range = observer.FindRange({method, 0.9999});
    EXPECT_LE(range.low, 0);
    EXPECT_GE(range.high, 0);
    EXPECT_TRUE(std::isfinite(range.low) && std::isfinite(range.high));
  }
}

TEST(Observer, AConstantTensorHasARange) {
  for (const float value : {0.0f, 7.0f, -2.5f}) {
    Observer observer;
    ASSERT_TRUE(observer.Add("x", std::vector<float>(50, value)));
    for (const RangeMethod method : kAll) {
      const Range range = observer.FindRange({method, 0.9999});
      EXPECT_TRUE(ParamsForRange(range.low, range.high, {})) << RangeMethodName(method);
      EXPECT_LE(range.low, std::min(0.0f, value));
    }
  }
}

TEST(Observer, PercentileCutsOutliers) {
  std::vector<float> samples(10000);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i) / 10000;
  samples[0] = 100;
  Observer observer;
  ASSERT_TRUE(observer.Add("x", samples));
  EXPECT_EQ(observer.FindRange({RangeMethod::kMinMax, 0.999}).high, 100);
  EXPECT_NEAR(observer.FindRange({RangeMethod::kPercentile, 0.999}).high, 0.999, 0.05);
}

TEST(Observer, MseAndEntropyBeatMinMaxOnALongTail) {
  std::vector<float> samples = Normal(100000, 1, 3);
  samples[0] = 60;
  samples[1] = -40;
  Observer observer;
  ASSERT_TRUE(observer.Add("x", samples));
  const double minmax = ErrorOf(samples, observer.FindRange({RangeMethod::kMinMax, 1}));
  const Range mse = observer.FindRange({RangeMethod::kMse, 1});
  const Range entropy = observer.FindRange({RangeMethod::kEntropy, 1});
  EXPECT_LT(ErrorOf(samples, mse), 0.8 * minmax);
  EXPECT_LT(entropy.high, 30);
  EXPECT_GT(entropy.high, 2);
}

TEST(Observer, MseNeverLosesToMinMaxOnWellBehavedSamples) {
  const std::vector<float> samples = Normal(100000, 2, 4);
  Observer observer;
  ASSERT_TRUE(observer.Add("x", samples));
  EXPECT_LE(ErrorOf(samples, observer.FindRange({RangeMethod::kMse, 1})),
            1.02 * ErrorOf(samples, observer.FindRange({RangeMethod::kMinMax, 1})));
}

TEST(ObserverSet, KeepsTensorsApart) {
  ObserverSet a, b;
  ASSERT_TRUE(a.Add("x", std::vector<float>{1}));
  ASSERT_TRUE(b.Add("x", std::vector<float>{2}));
  ASSERT_TRUE(b.Add("y", std::vector<float>{-5}));
  a.Merge(b);
  EXPECT_EQ(a.observers().at("x").max(), 2);
  EXPECT_EQ(a.observers().at("y").min(), -5);
}

}  // namespace
}  // namespace rlc
