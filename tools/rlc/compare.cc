#include <memory>

#include "command.h"
#include "optimize_options.h"
#include "rlc/optimize/compare_job.h"

namespace rlc {
namespace {

struct CompareCommandOptions : OptimizeOptions {
  CompareOptions compare{.methods = {"rl", "greedy", "random", "static"}};
  int evaluations = 40;
};

CommandResult RunCompare(CompareCommandOptions& options) {
  RLC_RETURN_IF_ERROR(options.Fill());
  options.request.evaluations = options.evaluations;
  RLC_ASSIGN_OR_RETURN(const Comparison comparison, CompareMethods(options.request, options.compare));
  Talk(options.common, "");
  RLC_RETURN_IF_ERROR(PrintOut(options.common.json ? DumpJson(ToJson(comparison)) : ToText(comparison)));
  return 0;
}

}  // namespace

CommandRunner CompareCommand(CLI::App& app) {
  auto options = std::make_shared<CompareCommandOptions>();
  app.add_option("MODEL", options->request.input, "ONNX model")->required();
  app.add_option("--methods", options->compare.methods, "search methods")->delimiter(',')->capture_default_str();
  app.add_option("--seeds", options->compare.seeds, "runs of each")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--evaluations", options->evaluations, "measured evaluations of each run")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--held-out", options->compare.held_out,
                 "candidates measured afterwards, to score the surrogate on; 0: none")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  options->budget = "24h";  // evaluations end a run, not time
  options->Declare(app);
  app.footer("Example: rlc compare model.onnx --data samples.npz --methods rl,greedy,random,static");
  return [options] { return RunCompare(*options); };
}

}  // namespace rlc
