// Time as a value that is passed in: library code never reads the clock by itself, so tests can run it by hand.
#ifndef RLC_BASE_CLOCK_H_
#define RLC_BASE_CLOCK_H_

#include <functional>
#include <memory>

namespace rlc {

// Seconds since an arbitrary moment; never runs backwards.
using Clock = std::function<double()>;

Clock SteadyClock();  // the machine's monotonic clock
Clock SystemClock();  // seconds since 1970-01-01 UTC, for time stamps only (it may jump)

// A clock that stands still until it is told to move. Copies share the time; convert to a Clock with AsClock().
class ManualClock {
 public:
  explicit ManualClock(double start = 0.0) : now_(std::make_shared<double>(start)) {}
  void Advance(double seconds) { *now_ += seconds; }
  Clock AsClock() const {
    return [now = now_] { return *now; };
  }

 private:
  std::shared_ptr<double> now_;
};

}  // namespace rlc

#endif  // RLC_BASE_CLOCK_H_
