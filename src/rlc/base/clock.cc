#include "rlc/base/clock.h"

#include <chrono>

namespace rlc {
namespace {

template <typename ChronoClock>
double SecondsOf() {
  return std::chrono::duration<double>(ChronoClock::now().time_since_epoch()).count();
}

}  // namespace

Clock SteadyClock() { return SecondsOf<std::chrono::steady_clock>; }
Clock SystemClock() { return SecondsOf<std::chrono::system_clock>; }

}  // namespace rlc
