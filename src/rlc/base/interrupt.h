// Stopping long jobs: a process-wide flag that a signal handler may set, and a token that jobs take by value.
#ifndef RLC_BASE_INTERRUPT_H_
#define RLC_BASE_INTERRUPT_H_

#include <atomic>

namespace rlc {

// Async-signal-safe.
void RequestInterrupt();
bool Interrupted();
void ClearInterrupt();

// For tools: the first SIGINT or SIGTERM sets the flag, the second ends the process with exit code 130.
void InstallInterruptHandlers();

// Asked by a long job between two steps; when it says stop, the job ends soon, with the best it has. One pointer in
// size; a default token never stops. A flag that is given must outlive the token.
class StopToken {
 public:
  StopToken() = default;
  explicit StopToken(const std::atomic<bool>* flag) : flag_(flag) {}
  static StopToken OfProcess();  // stops when Interrupted()

  bool StopRequested() const { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

}  // namespace rlc

#endif  // RLC_BASE_INTERRUPT_H_
