#include "rlc/base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rlc/base/rng.h"

namespace rlc {
namespace {

std::vector<double> NormalSample(Rng& rng, std::size_t count, double mean, double deviation) {
  std::vector<double> values(count);
  for (double& value : values) value = rng.Normal(mean, deviation);
  return values;
}

TEST(Statistics, CentreAndSpread) {
  const std::vector<double> values = {4, 1, 100, 2, 3};
  EXPECT_EQ(Mean(values), 22);
  EXPECT_EQ(Median(values), 3);
  EXPECT_EQ(Median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_NEAR(Mad(values), 1.4826, 1e-12);
  EXPECT_NEAR(StandardDeviation(std::vector<double>{1, 2, 3, 4}), 1.2909944487358056, 1e-15);
  EXPECT_EQ(StandardDeviation(std::vector<double>{5}), 0);
  EXPECT_NEAR(GeometricMean(std::vector<double>{1, 10, 100}), 10, 1e-12);
}

TEST(Statistics, QuantileInterpolatesAsNumpy) {
  const std::vector<double> values = {10, 0, 30, 20};
  EXPECT_EQ(Quantile(values, 0), 0);
  EXPECT_EQ(Quantile(values, 1), 30);
  EXPECT_NEAR(Quantile(values, 0.1), 3, 1e-12);
  EXPECT_NEAR(Quantile(values, 0.75), 22.5, 1e-12);
  EXPECT_TRUE(std::isnan(Quantile(std::vector<double>{1, std::nan("")}, 0.5)));
}

TEST(Statistics, NormalQuantileAgreesWithTables) {
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-15);
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(NormalQuantile(0.005), -2.5758293035489004, 1e-14);
  EXPECT_NEAR(NormalQuantile(1e-20), -9.262340089798408, 1e-13);
}

TEST(Statistics, NormalQuantileInvertsTheDistribution) {
  for (double p = 0.001; p < 1; p += 0.001) {
    EXPECT_NEAR(0.5 * std::erfc(-NormalQuantile(p) / std::sqrt(2.0)), p, 1e-14);
  }
}

TEST(Bootstrap, SameSeedSameInterval) {
  Rng rng(1);
  const std::vector<double> a = NormalSample(rng, 30, 10, 1);
  EXPECT_EQ(MedianEstimate(a, "s", {.seed = 5}), MedianEstimate(a, "s", {.seed = 5}));
  EXPECT_NE(MedianEstimate(a, "s", {.seed = 5}), MedianEstimate(a, "s", {.seed = 6}));
  EXPECT_EQ(MedianEstimate(a, "s").unit, "s");
  EXPECT_EQ(MedianEstimate(a, "s").samples, 30U);
}

TEST(Bootstrap, RatioIntervalCoversTheTruthAboutAsOftenAsItSays) {
  Rng rng(2);
  int covered = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<double> slow = NormalSample(rng, 41, 15, 1);
    const std::vector<double> fast = NormalSample(rng, 41, 10, 1);
    const Estimate ratio = RatioOfMedians(slow, fast, {.resamples = 400, .seed = rng.Next()});
    EXPECT_LE(ratio.low, ratio.value);
    EXPECT_GE(ratio.high, ratio.value);
    covered += ratio.interval().Contains(1.5) ? 1 : 0;
  }
  EXPECT_GE(covered, 0.88 * kTrials);
  EXPECT_LT(covered, kTrials);  // or it would be too wide to be of use
}

TEST(Bootstrap, PairingRemovesSharedDrift) {
  Rng rng(3);
  std::vector<double> base;
  std::vector<double> candidate;
  for (int i = 0; i < 40; ++i) {
    const double drift = 1 + 0.5 * i;
    base.push_back(drift * (1 + 0.001 * rng.Normal()));
    candidate.push_back(drift / 1.25);
  }
  const Estimate paired = RatioOfMedians(base, candidate, {.paired = true});
  const Estimate unpaired = RatioOfMedians(base, candidate, {.paired = false});
  EXPECT_LT(paired.high - paired.low, 0.02);
  EXPECT_GT(unpaired.high - unpaired.low, 0.2);
  EXPECT_TRUE(paired.interval().Contains(1.25));
}

TEST(Bootstrap, NanGivesTheWidestInterval) {
  const Estimate ratio = RatioOfMedians(std::vector<double>{1, std::nan("")}, std::vector<double>{1, 1});
  EXPECT_TRUE(std::isnan(ratio.value));
  EXPECT_EQ(ratio.interval(), (Interval{0, HUGE_VAL}));
}

TEST(Proportion, WilsonAgreesWithTables) {
  const Interval interval = WilsonInterval(81, 263);  // Newcombe 1998, method 3
  EXPECT_NEAR(interval.low, 0.2553, 5e-5);
  EXPECT_NEAR(interval.high, 0.3662, 5e-5);
  EXPECT_EQ(WilsonInterval(0, 20).low, 0);
  EXPECT_NEAR(WilsonInterval(0, 20).high, 0.1611, 5e-5);
  EXPECT_EQ(WilsonInterval(20, 20).high, 1);
}

TEST(PairedProportion, TangoAgreesWithThePaper) {
  // Tango 1998, table of examples by Newcombe: n, b, c -> 95 % score interval.
  const Estimate a = PairedProportionDifference(1, 0, 50);
  EXPECT_NEAR(a.value, 0.02, 1e-12);
  EXPECT_NEAR(a.low, -0.0529, 5e-4);
  EXPECT_NEAR(a.high, 0.1047, 5e-4);
  const Estimate none = PairedProportionDifference(0, 0, 2000);
  EXPECT_EQ(none.value, 0);
  EXPECT_NEAR(none.high, 0.00192, 2e-5);  // z^2 / (n + z^2)
  EXPECT_NEAR(none.low, -none.high, 1e-12);
}

TEST(PairedProportion, SwappingTheSidesSwapsTheSign) {
  const Estimate a = PairedProportionDifference(12, 5, 300);
  const Estimate b = PairedProportionDifference(5, 12, 300);
  EXPECT_NEAR(a.low, -b.high, 1e-12);
  EXPECT_NEAR(a.high, -b.low, 1e-12);
  EXPECT_LT(a.low, a.value);
  EXPECT_GT(a.high, a.value);
  const Estimate all = PairedProportionDifference(10, 0, 10);
  EXPECT_EQ(all.value, 1);
  EXPECT_LE(all.high, 1);
}

TEST(PairedProportion, IntervalCoversTheTruthAboutAsOftenAsItSays) {
  Rng rng(4);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::size_t only_first = 0;
    std::size_t only_second = 0;
    for (int i = 0; i < 500; ++i) {
      const double draw = rng.UniformReal();
      only_first += draw < 0.02 ? 1 : 0;
      only_second += draw >= 0.02 && draw < 0.03 ? 1 : 0;
    }
    covered += PairedProportionDifference(only_first, only_second, 500).interval().Contains(0.01) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(covered) / kTrials, 0.95, 0.015);
}

TEST(PairedProportion, McNemarIsTheBinomialTest) {
  EXPECT_EQ(McNemarExact(0, 0), 1);
  EXPECT_EQ(McNemarExact(5, 5), 1);
  EXPECT_NEAR(McNemarExact(6, 0), 2 / 64.0, 1e-15);
  EXPECT_NEAR(McNemarExact(2, 8), 2 * 56 / 1024.0, 1e-14);
  EXPECT_NEAR(McNemarExact(2000, 2000), 1, 1e-9);
  EXPECT_GT(McNemarExact(1000, 1200), 0);
}

TEST(PairedDifference, ZeroOneScoresUseTheExactCounts) {
  const std::vector<double> first = {1, 1, 0, 1};
  const std::vector<double> second = {1, 0, 1, 0};
  EXPECT_EQ(PairedDifference(first, second), PairedProportionDifference(2, 1, 4));
}

TEST(PairedDifference, OtherScoresAreBootstrapped) {
  Rng rng(5);
  std::vector<double> first = NormalSample(rng, 100, 0, 1);
  std::vector<double> second = first;
  for (double& score : second) score -= 0.3 + 0.01 * rng.Normal();
  const Estimate drop = PairedDifference(first, second);
  EXPECT_NEAR(drop.value, 0.3, 0.01);
  EXPECT_LT(drop.high - drop.low, 0.01);
  first[0] = HUGE_VAL;
  second[0] = HUGE_VAL;
  EXPECT_TRUE(std::isfinite(PairedDifference(first, second).high));
  second[0] = 0;
  EXPECT_EQ(PairedDifference(first, second).high, HUGE_VAL);
}

TEST(Kendall, KnownValues) {
  const std::vector<double> up = {1, 2, 3, 4};
  const std::vector<double> down = {4, 3, 2, 1};
  EXPECT_EQ(KendallTau(up, up), 1);
  EXPECT_EQ(KendallTau(up, down), -1);
  EXPECT_EQ(KendallTau(up, std::vector<double>{1, 1, 1, 1}), 0);
  // scipy.stats.kendalltau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0])
  EXPECT_NEAR(KendallTau(std::vector<double>{12, 2, 1, 12, 2}, std::vector<double>{1, 4, 7, 1, 0}), -0.4714045207910316,
              1e-12);
  EXPECT_EQ(KendallTau(std::vector<double>{}, std::vector<double>{}), 0);
}

TEST(RelativeRms, Cases) {
  const std::vector<float> reference = {3, 4};
  EXPECT_EQ(RelativeRms(reference, reference), 0);
  EXPECT_NEAR(RelativeRms(reference, std::vector<float>{3, 4.5F}), 0.1, 1e-7);
  EXPECT_EQ(RelativeRms(std::vector<float>{0, 0}, std::vector<float>{0, 0}), 0);
  EXPECT_EQ(RelativeRms(std::vector<float>{0, 0}, std::vector<float>{0, 1}), HUGE_VAL);
  const float nan = std::nanf("");
  EXPECT_EQ(RelativeRms(std::vector<float>{1, nan}, std::vector<float>{1, nan}), 0);
  EXPECT_EQ(RelativeRms(std::vector<float>{1, nan}, std::vector<float>{1, 1}), HUGE_VAL);
  EXPECT_EQ(RelativeRms(std::vector<float>{1, 1}, std::vector<float>{1, nan}), HUGE_VAL);
  EXPECT_EQ(RelativeRms(std::vector<double>{}, std::vector<double>{}), 0);
  // Below the floor, the deviation is measured against the floor.
  EXPECT_NEAR(RelativeRms(std::vector<double>{0, 0}, std::vector<double>{1e-7, 1e-7}, 0.01), 1e-5, 1e-12);
  EXPECT_NEAR(RelativeRms(std::vector<double>{2, 2}, std::vector<double>{2.2, 2.2}, 0.01), 0.1, 1e-12);
}

}  // namespace
}  // namespace rlc
