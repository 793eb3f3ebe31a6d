#include "rlc/base/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace rlc {
namespace {

TEST(Clock, SteadyMovesForward) {
  const Clock clock = SteadyClock();
  const double before = clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(clock() - before, 0.005);
}

TEST(Clock, ManualMovesWhenTold) {
  ManualClock manual(10);
  const Clock clock = manual.AsClock();
  EXPECT_EQ(clock(), 10);
  manual.Advance(2.5);
  EXPECT_EQ(clock(), 12.5);
}

}  // namespace
}  // namespace rlc
