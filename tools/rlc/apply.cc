#include <memory>

#include "command.h"
#include "rlc/optimize/apply_job.h"

namespace rlc {

CommandRunner ApplyCommand(CLI::App& app) {
  struct Options {
    std::string model, plan, output;
    bool without_regions = false;
    CommonOptions common;
  };
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->model, "the model that the plan was made for")->required();
  app.add_option("PLAN", options->plan, "plan.json; its arrays are looked for beside it")->required();
  app.add_option("-o,--output", options->output, "file to write, - for stdout")->required();
  app.add_flag("--inline", options->without_regions,
               "without compiled regions: plain operators only, for runtimes without functions");
  AddCommonOptions(app, options->common, "q");
  app.footer("Same model and plan, same bytes.\nExample: rlc apply model.onnx fast.plan.json -o fast.onnx");
  return [options]() -> CommandResult {
    RLC_ASSIGN_OR_RETURN(const ApplyResult result,
                         ApplyFile(options->model, options->plan, options->output, options->without_regions));
    Talk(options->common, fmt::format("applied {} actions: {} nodes became {}", result.actions, result.nodes_before,
                                      result.nodes_after));
    return 0;
  };
}

}  // namespace rlc
