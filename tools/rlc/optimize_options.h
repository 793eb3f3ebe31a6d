// Options that optimize, train and compare share.
#ifndef RLC_TOOLS_RLC_OPTIMIZE_OPTIONS_H_
#define RLC_TOOLS_RLC_OPTIMIZE_OPTIONS_H_

#include "command.h"
#include "data_options.h"
#include "rlc/optimize/optimize_job.h"

namespace rlc {

struct OptimizeOptions {
  OptimizeRequest request;
  DataOptions data;
  std::string max_drop = "1%", actions, budget = "2m";
  CommonOptions common;

  void Declare(CLI::App& app);
  // Everything of the request but what only one command has.
  Expected<void> Fill();
};

// "2m", "90s", "500evals", or both: "2m,500evals".
Expected<void> ParseBudget(const std::string& text, OptimizeRequest& request);

}  // namespace rlc

#endif  // RLC_TOOLS_RLC_OPTIMIZE_OPTIONS_H_
