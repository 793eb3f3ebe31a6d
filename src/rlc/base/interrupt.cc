#include "rlc/base/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace rlc {
namespace {

// Lock-free, so that a signal handler may touch it; constant-initialized, so that it exists before main.
constinit std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void HandleSignal(int) {
  // A second signal means that the user does not want to wait for the best so far.
  if (g_interrupted.exchange(true)) _exit(130);
}

}  // namespace

void RequestInterrupt() { g_interrupted.store(true); }
bool Interrupted() { return g_interrupted.load(std::memory_order_relaxed); }
void ClearInterrupt() { g_interrupted.store(false); }

void InstallInterruptHandlers() {
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a blocking wait returns, and its loop sees the flag.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

StopToken StopToken::OfProcess() { return StopToken(&g_interrupted); }

}  // namespace rlc
