// What a subcommand is made of. tools/rlc/NAME.cc declares options, calls one library function, prints its result and
// returns its exit code; main.cc does the rest.
#ifndef RLC_TOOLS_RLC_COMMAND_H_
#define RLC_TOOLS_RLC_COMMAND_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "rlc/base/error.h"
#include "rlc/base/json.h"
#include "rlc/base/log.h"

namespace rlc {

// Options that mean the same in every subcommand.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  uint64_t seed = 0;
  int threads = 1;
};

// Declares --json, --quiet, --seed, --threads (those that `which` names by letter: "jqst").
void AddCommonOptions(CLI::App& app, CommonOptions& options, std::string_view which);

// What a command yields: its exit code, after it has printed its result.
using CommandResult = Expected<int>;

// Declares the command's options on `app` and hands back the function that runs it once they are parsed.
using CommandRunner = std::function<CommandResult()>;

// Prints to stdout; a closed pipe or a full disk is an error with exit code 6, not silence.
Expected<void> PrintOut(std::string_view text);
// Prints a message for people to stderr, unless --quiet.
void Talk(const CommonOptions& options, std::string_view text);
// A progress line on stderr: redrawn in place on a terminal, one line for each phase elsewhere, nothing with --quiet.
ProgressSink MakeProgressSink(const CommonOptions& options);

#define RLC_COMMAND(Function, name, summary) CommandRunner Function(CLI::App& app);
#include "commands.inc"
#undef RLC_COMMAND

}  // namespace rlc

#endif  // RLC_TOOLS_RLC_COMMAND_H_
