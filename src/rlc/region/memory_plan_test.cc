#include "rlc/region/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rlc/base/rng.h"

namespace rlc {
namespace {

// Sum of what is alive at the busiest step: no plan is smaller.
size_t LowerBound(const std::vector<Lifetime>& lifetimes, int steps) {
  size_t most = 0;
  for (int step = 0; step < steps; ++step) {
    size_t alive = 0;
    for (const Lifetime& lifetime : lifetimes) {
      if (lifetime.first <= step && step <= lifetime.last) alive += (lifetime.bytes + 63) / 64 * 64;
    }
    most = std::max(most, alive);
  }
  return most;
}

TEST(MemoryPlan, ThoseAliveAtTheSameTimeNeverOverlap) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 30; ++i) {
      const int first = static_cast<int>(rng.UniformInt(20));
      lifetimes.push_back({1 + rng.UniformInt(5000), first, first + static_cast<int>(rng.UniformInt(5))});
    }
    const MemoryPlan plan = PlanMemory(lifetimes);
    EXPECT_GE(plan.bytes, LowerBound(lifetimes, 25));
    for (size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0U);
      EXPECT_LE(plan.offsets[a] + lifetimes[a].bytes, plan.bytes);
      for (size_t b = 0; b < a; ++b) {
        if (lifetimes[a].last < lifetimes[b].first || lifetimes[b].last < lifetimes[a].first) continue;
        const bool apart = plan.offsets[a] + lifetimes[a].bytes <= plan.offsets[b] ||
                           plan.offsets[b] + lifetimes[b].bytes <= plan.offsets[a];
        EXPECT_TRUE(apart) << a << " and " << b;
      }
    }
  }
}

TEST(MemoryPlan, AChainTakesTheTwoLargestNeighbours) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({640, i, i + 1});
  EXPECT_EQ(PlanMemory(chain).bytes, 1280U);
  EXPECT_EQ(PlanMemory({}).bytes, 0U);
}

}  // namespace
}  // namespace rlc
