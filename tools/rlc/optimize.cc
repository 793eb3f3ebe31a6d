#include <memory>

#include "command.h"
#include "optimize_options.h"
#include "rlc/optimize/output_paths.h"
#include "rlc/report/report.h"

namespace rlc {
namespace {

CommandResult Run(OptimizeOptions& options) {
  RLC_RETURN_IF_ERROR(options.Fill());
  OptimizeRequest& request = options.request;
  if (request.data.path.empty()) {
    Talk(options.common, "no --data: exact rewrites only, unless --actions says otherwise");
  }
  RLC_ASSIGN_OR_RETURN(const OptimizeOutcome outcome, OptimizeFile(request));
  Talk(options.common, "");
  RLC_ASSIGN_OR_RETURN(std::string text, RenderVerdict(outcome.report));
  text += fmt::format("  wrote {}; the report is {}\n", request.output,
                      request.html_path.empty() ? BesideOutput(request.output, ".report.html") : request.html_path);
  if (options.common.json) text = DumpJson(outcome.report);
  if (request.output == "-") {
    Talk(options.common, text);
  } else {
    RLC_RETURN_IF_ERROR(PrintOut(text));
  }
  if (outcome.interrupted) return static_cast<int>(ErrorKind::kInterrupted);
  return outcome.goal_missed ? static_cast<int>(ErrorKind::kGoalMissed) : 0;
}

}  // namespace

CommandRunner OptimizeCommand(CLI::App& app) {
  auto options = std::make_shared<OptimizeOptions>();
  OptimizeRequest& request = options->request;
  app.add_option("MODEL", request.input, "ONNX model")->required();
  app.add_option("-o,--output", request.output, "file to write, - for stdout")->required();
  app.add_option("--budget", options->budget, "time for all of it, or measured evaluations, or both: 2m,500evals")
      ->capture_default_str();
  app.add_option("--method", request.method, fmt::format("how to search: {}", fmt::join(MethodNames(), ", ")))
      ->capture_default_str();
  app.add_option("--policy", request.policy, "trained policy (ONNX) for method rl; default: train one for this model");
  app.add_option("--min-gain", request.min_gain, "goal: at least this many times faster, else exit code 4");
  app.add_option("--plan", request.plan_path, "write the plan here (default: beside OUT)");
  app.add_option("--report", request.report_path, "write report.json here (default: beside OUT)");
  app.add_option("--html", request.html_path, "write the report page here (default: beside OUT)");
  options->Declare(app);
  app.footer(
      "Ctrl-C ends early with the best so far.\nExample: rlc optimize model.onnx -o fast.onnx --data samples.npz "
      "--max-drop 1%");
  return [options, &app]() -> CommandResult {
    options->request.command = "rlc optimize";
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& value : option->results()) {
        options->request.command +=
            fmt::format(" {}{}", option->get_positional() ? "" : option->get_name() + " ", value);
      }
    }
    return Run(*options);
  };
}

}  // namespace rlc
