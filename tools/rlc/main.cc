// rlc: parses the command line, runs one subcommand, turns its outcome into a message and an exit code.

#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <string_view>

#include "command.h"
#include "rlc/base/interrupt.h"
#include "rlc/base/log.h"
#include "rlc/base/process.h"
#include "rlc/measure/child.h"

namespace rlc {
namespace {

constexpr const char* kVersion = RLC_VERSION;

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 usage; 2 bad input; 3 check failed; 4 a named goal was missed (safe model written);\n"
    "5 internal error; 6 a needed part is missing or the output cannot be written; 130 interrupted.\n"
    "'rlc COMMAND --help' shows options and an example.";

int Fail(const Error& error) {
  fmt::print(stderr, "rlc: {}\n", error.message);
  return static_cast<int>(error.kind);
}

// The words after "rlc": CLI11's message for usage errors names the flag; the exit code is ours.
int ParseAndRun(int argc, char** argv) {
  CLI::App app("rlc: makes ONNX models faster on this CPU, and proves it", "rlc");
  app.set_version_flag("--version", kVersion);
  app.footer(kFooter);
  app.require_subcommand(1);
  std::map<CLI::App*, CommandRunner> runners;
#define RLC_COMMAND(Function, name, summary)               \
  {                                                        \
    CLI::App* command = app.add_subcommand(name, summary); \
    runners[command] = Function(*command);                 \
  }
#include "commands.inc"
#undef RLC_COMMAND
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ErrorKind::kUsage);
  }
  const CommandResult result = runners.at(app.get_subcommands().front())();
  return result ? *result : Fail(result.error());
}

void LogToStderr() {
  SetLogSink([](Severity severity,
                std::string_view message) { fmt::print(stderr, "rlc: {}: {}\n", SeverityName(severity), message); },
             Severity::kWarning);
}

}  // namespace
}  // namespace rlc

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == rlc::kMeasureChildCommand) return rlc::MeasureChildMain(argc, argv);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of PrintOut, with a message
  rlc::InstallInterruptHandlers();
  rlc::InstallOutOfMemoryExit();
  rlc::LogToStderr();
  try {
    return rlc::ParseAndRun(argc, argv);
  } catch (const std::exception& error) {  // nothing below throws on purpose
    return rlc::Fail({rlc::ErrorKind::kInternal, fmt::format("internal error: {}", error.what())});
  }
}
