// Messages and progress out of library code. The library never prints: without a sink, messages vanish. Tools set a
// sink once; tests use ScopedLogSink.
#ifndef RLC_BASE_LOG_H_
#define RLC_BASE_LOG_H_

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rlc {

enum class Severity { kDebug, kInfo, kWarning, kError };
std::string_view SeverityName(Severity severity);  // "debug", "info", "warning", "error"

// Called under a lock, from any thread, with one message without a trailing newline. Must not log itself.
using LogSink = std::function<void(Severity, std::string_view)>;

// Sets the process-wide sink and gives the old one back. Messages below `minimum` are not even formatted.
LogSink SetLogSink(LogSink sink, Severity minimum = Severity::kInfo);

bool LogEnabled(Severity severity);
void LogMessage(Severity severity, std::string_view message);

template <typename... Args>
void Log(Severity severity, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(severity)) LogMessage(severity, fmt::format(format, std::forward<Args>(args)...));
}

// Sets a sink for its own lifetime.
class ScopedLogSink {
 public:
  explicit ScopedLogSink(LogSink sink, Severity minimum = Severity::kDebug);
  ~ScopedLogSink();
  ScopedLogSink(const ScopedLogSink&) = delete;
  ScopedLogSink& operator=(const ScopedLogSink&) = delete;

 private:
  LogSink previous_;
  Severity previous_minimum_;
};

// Where a long job stands.
struct Progress {
  std::string phase = {};            // "calibrate", "search" ...
  double done = 0;                   // steps (or seconds) done in this phase
  std::optional<double> total = {};  // of how many, when known
  double elapsed_seconds = 0;        // since the start of the job
  std::string best = {};             // best result so far, in words: "1.31x at -0.2 points"; empty when none
};

// Called from the job's own thread, often: a sink that draws must throttle itself. An empty function is allowed
// everywhere that one is taken.
using ProgressSink = std::function<void(const Progress&)>;

inline void Report(const ProgressSink& sink, const Progress& progress) {
  if (sink) sink(progress);
}

}  // namespace rlc

#endif  // RLC_BASE_LOG_H_
