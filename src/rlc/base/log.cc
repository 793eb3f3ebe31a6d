#include "rlc/base/log.h"

#include <atomic>
#include <mutex>

namespace rlc {
namespace {

struct State {
  std::mutex mutex;
  LogSink sink;
  // Read without the lock by LogEnabled, so that messages nobody wants cost one load.
  std::atomic<int> minimum{static_cast<int>(Severity::kError) + 1};
};

State& GlobalState() {
  static State state;
  return state;
}

constexpr int kNothing = static_cast<int>(Severity::kError) + 1;

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return "debug";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "error";
}

LogSink SetLogSink(LogSink sink, Severity minimum) {
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  state.minimum = sink ? static_cast<int>(minimum) : kNothing;
  std::swap(state.sink, sink);
  return sink;
}

bool LogEnabled(Severity severity) {
  return static_cast<int>(severity) >= GlobalState().minimum.load(std::memory_order_relaxed);
}

void LogMessage(Severity severity, std::string_view message) {
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  if (state.sink && static_cast<int>(severity) >= state.minimum) state.sink(severity, message);
}

ScopedLogSink::ScopedLogSink(LogSink sink, Severity minimum)
    : previous_minimum_(static_cast<Severity>(GlobalState().minimum.load())) {
  previous_ = SetLogSink(std::move(sink), minimum);
}

ScopedLogSink::~ScopedLogSink() { SetLogSink(std::move(previous_), previous_minimum_); }

}  // namespace rlc
