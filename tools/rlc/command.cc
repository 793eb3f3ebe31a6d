#include "command.h"

#include <unistd.h>

#include <cstdio>
#include <memory>

#include "rlc/base/format.h"

namespace rlc {

void AddCommonOptions(CLI::App& app, CommonOptions& options, std::string_view which) {
  for (const char option : which) {
    switch (option) {
      case 'j':
        app.add_flag("--json", options.json, "print the result as JSON on stdout");
        break;
      case 'q':
        app.add_flag("-q,--quiet", options.quiet, "no talk and no progress on stderr");
        break;
      case 's':
        app.add_option("--seed", options.seed, "seed of everything random")->capture_default_str();
        break;
      default:
        app.add_option("--threads", options.threads, "threads that the runtime may use")
            ->check(CLI::Range(1, 256))
            ->capture_default_str();
    }
  }
}

Expected<void> PrintOut(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    return MakeError(ErrorKind::kUnavailable, "cannot write to standard output (is it closed, or the disk full?)");
  }
  return {};
}

void Talk(const CommonOptions& options, std::string_view text) {
  if (!options.quiet) fmt::print(stderr, "{}\n", text);
}

ProgressSink MakeProgressSink(const CommonOptions& options) {
  if (options.quiet) return {};
  const bool terminal = isatty(STDERR_FILENO) == 1;
  struct State {
    std::string phase;
    double drawn_at = -1;
  };
  auto state = std::make_shared<State>();
  return [terminal, state](const Progress& progress) {
    constexpr double kRedrawSeconds = 0.1;
    const bool new_phase = progress.phase != state->phase;
    if (!new_phase && (!terminal || progress.elapsed_seconds - state->drawn_at < kRedrawSeconds)) return;
    std::string line = fmt::format("[{:6.1f} s] {}", progress.elapsed_seconds, progress.phase);
    if (progress.total) line += fmt::format(" {:.0f}/{:.0f}", progress.done, *progress.total);
    if (!progress.best.empty()) line += fmt::format("  best so far: {}", progress.best);
    if (terminal) {
      fmt::print(stderr, "{}\r\x1b[2K{}", new_phase && !state->phase.empty() ? "\n" : "", line);
    } else {
      fmt::print(stderr, "{}\n", line);
    }
    std::fflush(stderr);
    state->phase = progress.phase;
    state->drawn_at = progress.elapsed_seconds;
  };
}

}  // namespace rlc
