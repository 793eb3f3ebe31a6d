#include <memory>

#include "command.h"
#include "optimize_options.h"
#include "rlc/base/format.h"
#include "rlc/optimize/train_job.h"

namespace rlc {
namespace {

CommandResult Run(OptimizeOptions& options, const std::string& log_folder) {
  RLC_RETURN_IF_ERROR(options.Fill());
  RLC_ASSIGN_OR_RETURN(const TrainSummary summary, TrainPolicy(options.request, log_folder));
  Talk(options.common, "");
  const auto rate = [](const SuccessRate& r) {
    return FormatPercent(static_cast<double>(r.successes) / std::max(r.episodes, 1));
  };
  RLC_RETURN_IF_ERROR(PrintOut(
      options.common.json
          ? DumpJson(ToJson(summary))
          : fmt::format(
                "{} timesteps in {}\nepisodes that reach 80 % of the best gain (estimates): {} before, {} after\n",
                summary.timesteps, FormatSeconds(summary.seconds), rate(summary.before), rate(summary.after))));
  return 0;
}

}  // namespace

CommandRunner TrainCommand(CLI::App& app) {
  struct Options : OptimizeOptions {
    std::string log_folder;
  };
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->request.input, "ONNX model")->required();
  app.add_option("-o,--output", options->request.output, "policy to write (ONNX)")->required();
  app.add_option("--log", options->log_folder, "keep learning curve, event file and checkpoint in this folder");
  options->Declare(app);
  app.footer("Example: rlc train model.onnx --data samples.npz -o policy.onnx --log runs/model");
  return [options] { return Run(*options, options->log_folder); };
}

}  // namespace rlc
