// Child processes with limits: whatever the child does (crash, hang, eat memory, flood its output), the parent gets a
// ProcessResult within the time limit and goes on.
//
// RunProcess is safe in a process that has threads: between fork and exec only async-signal-safe calls are made. To
// run part of rlc itself under limits, re-execute it: argv = {SelfExecutable(), "<hidden subcommand>", ...}.
// RunInChild forks without exec, for code that has no program of its own; the child has only the calling thread, so
// locks held by other threads of the parent stay locked in it. Use it only where no other thread is running.
//
// Each child leads a process group of its own. On time-out, stop and after its end the whole group is killed, so
// grandchildren do not survive; if the parent dies, the child is killed too.
#ifndef RLC_BASE_PROCESS_H_
#define RLC_BASE_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"

namespace rlc {

struct ProcessLimits {
  double seconds = 0;                // wall time; 0: none
  uint64_t address_space_bytes = 0;  // RLIMIT_AS; 0: none. Sanitizer builds need terabytes: leave 0 there.
  std::size_t stdout_bytes = std::size_t{64} << 20;  // captured; the rest is read and thrown away
  std::size_t stderr_bytes = std::size_t{1} << 20;
  StopToken stop = {};  // when it stops: SIGTERM, then SIGKILL after the grace
  double stop_grace_seconds = 0;
};

struct ProcessSpec {
  std::vector<std::string> argv = {};  // argv[0] is looked up in PATH unless it holds a '/'
  std::vector<std::pair<std::string, std::string>> environment = {};  // added to ours, or replacing
  std::string folder = {};                                            // working folder; empty: ours
  std::string stdin_bytes = {};                                       // then end of file
  ProcessLimits limits = {};
  // Called with what the child writes to stderr, as it comes (progress of a long-running child). May be empty.
  std::function<void(std::string_view)> on_stderr = {};
};

enum class ProcessEnd { kExited, kSignal, kTimeLimit, kOutOfMemory, kStopped };

struct ProcessResult {
  ProcessEnd end = ProcessEnd::kExited;
  int exit_code = 0;  // kExited
  int signal = 0;     // kSignal, or the signal behind kOutOfMemory, if any
  std::string out;    // stdout (RunInChild: also the child's stdout)
  std::string err;
  bool out_truncated = false;
  bool err_truncated = false;
  std::string payload;  // RunInChild: what the function returned
  double wall_seconds = 0;
  // Peak resident set of the child. Linux reports at least the size of the parent at the time of the fork; when that
  // hides the child, this is the largest of the samples taken every 50 ms instead.
  uint64_t peak_rss_bytes = 0;

  bool Succeeded() const { return end == ProcessEnd::kExited && exit_code == 0; }
  // "exited with code 3: last line of stderr", "died of signal 11 (Segmentation fault)", "was killed after 5.00 s, the
  // time limit" ...
  std::string Describe() const;
};

// Errors: the program cannot be found or started (kUnavailable). Everything that happens afterwards is in the result.
Expected<ProcessResult> RunProcess(const ProcessSpec& spec);

// Runs the function in a forked child and hands back its bytes (at most limits.stdout_bytes of them) as payload. See
// the warning above. An exception that leaves the function is exit code 5 with its text on stderr; std::bad_alloc is
// kOutOfMemory.
Expected<ProcessResult> RunInChild(const std::function<std::string()>& function, const ProcessLimits& limits);

// A child that runs out of memory cannot say so in a way that every program shares. Ours exit with this code, after
// InstallOutOfMemoryExit() at their start; RunProcess reports it as kOutOfMemory. So are: SIGKILL that we did not send
// (the kernel's OOM killer), and a failing end under a memory limit with "bad_alloc" or "Cannot allocate memory" in
// stderr.
inline constexpr int kOutOfMemoryExitCode = 87;
void InstallOutOfMemoryExit();

// Absolute path of the running program.
Expected<std::string> SelfExecutable();

// Peak and current resident set of this process, bytes; 0 where /proc does not tell.
uint64_t PeakRssBytes();
uint64_t CurrentRssBytes();

}  // namespace rlc

#endif  // RLC_BASE_PROCESS_H_
