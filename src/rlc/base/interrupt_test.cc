#include "rlc/base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace rlc {
namespace {

TEST(Interrupt, SignalStopsTheProcessToken) {
  ClearInterrupt();
  InstallInterruptHandlers();
  const StopToken token = StopToken::OfProcess();
  EXPECT_FALSE(token.StopRequested());
  std::raise(SIGINT);
  EXPECT_TRUE(Interrupted());
  EXPECT_TRUE(token.StopRequested());
  EXPECT_FALSE(StopToken().StopRequested());
  ClearInterrupt();
  EXPECT_FALSE(token.StopRequested());
}

TEST(InterruptDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        InstallInterruptHandlers();
        std::raise(SIGTERM);
        std::raise(SIGTERM);
      },
      ::testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace rlc
