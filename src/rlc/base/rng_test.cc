#include "rlc/base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace rlc {
namespace {

TEST(Rng, FirstNumbersOfSeedZeroAreThoseOfTheReference) {
  // xoshiro256** 1.0 seeded by splitmix64(0), as the authors' C code gives them: a change would break every stored
  // seed.
  Rng rng(0);
  EXPECT_EQ(rng.state()[0], 0xe220a8397b1dcdafU);
  EXPECT_EQ(rng.state()[1], 0x6e789e6aa1b965f4U);
  EXPECT_EQ(rng.Next(), 0x99ec5f36cb75f2b4U);
  EXPECT_EQ(rng.Next(), 0xbf6e1f784956452aU);
}

TEST(Rng, CopyContinuesTheSameStream) {
  Rng a(7);
  a.Next();
  Rng b = a;
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.Next(), b.Next());
  b.Next();
  EXPECT_NE(a, b);
}

TEST(Rng, StateRestoresAndAllZerosIsRefused) {
  Rng a(7);
  a.Next();
  EXPECT_EQ(Rng::FromState(a.state()), a);
  EXPECT_EQ(Rng::FromState({}), Rng(0));
}

TEST(Rng, UniformIntHitsEveryValueEquallyOften) {
  Rng rng(1);
  std::array<int, 6> counts = {};
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) ++counts.at(rng.UniformInt(6));
  double chi_squared = 0;
  for (const int count : counts) chi_squared += std::pow(count - kDraws / 6.0, 2) / (kDraws / 6.0);
  EXPECT_LT(chi_squared, 20.5);  // 0.1 % point for 5 degrees of freedom
}

TEST(Rng, UniformIntIsUnbiasedForLargeBounds) {
  // With bound 3/4 * 2^64, plain Next() % bound would make the lowest third come twice as often.
  Rng rng(2);
  const uint64_t bound = 3U * (uint64_t{1} << 62);
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += rng.UniformInt(bound) < bound / 3 ? 1 : 0;
  EXPECT_NEAR(low, 10000, 400);
}

TEST(Rng, UniformRangeIncludesBothEnds) {
  Rng rng(3);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 200; ++i) {
    const int64_t value = rng.UniformRange(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    low |= value == -2;
    high |= value == 2;
  }
  EXPECT_TRUE(low);
  EXPECT_TRUE(high);
  EXPECT_EQ(rng.UniformRange(5, 5), 5);
  rng.UniformRange(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
}

TEST(Rng, NormalHasItsMomentsAndTails) {
  Rng rng(4);
  constexpr int kDraws = 200000;
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = rng.Normal(10, 2);
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += (value - 10) * (value - 10);
    beyond_two += std::abs(value - 10) > 4 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 10, 0.02);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 2, 0.02);
  EXPECT_NEAR(static_cast<double>(beyond_two) / kDraws, 0.0455, 0.002);
}

TEST(Rng, ShuffleIsAPermutationAndReachesAllOrders) {
  Rng rng(5);
  std::array<int, 6> seen = {};
  for (int i = 0; i < 600; ++i) {
    std::vector<int> items = {0, 1, 2};
    rng.Shuffle(items);
    EXPECT_TRUE(std::is_permutation(items.begin(), items.end(), std::vector<int>{0, 1, 2}.begin()));
    ++seen.at(static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0)));
  }
  for (const int count : seen) EXPECT_NEAR(count, 100, 45);
}

TEST(Rng, ForksDifferAndDoNotAdvanceTheParent) {
  const Rng rng(6);
  Rng a = rng.Fork(0);
  Rng b = rng.Fork(1);
  EXPECT_EQ(rng, Rng(6));
  EXPECT_EQ(a, rng.Fork(0));
  EXPECT_NE(a.Next(), b.Next());
  EXPECT_NE(rng.Fork(0), Rng(6));
}

}  // namespace
}  // namespace rlc
