#include "rlc/optimize/zoo.h"

#include <memory>

#include "command.h"
#include "rlc/onnx/export.h"

namespace rlc {

CommandRunner ZooCommand(CLI::App& app) {
  struct Options {
    std::string name, output;
    CommonOptions common;
  };
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, fmt::format("{} or custom:SPEC", fmt::join(ZooNames(), ", ")))->required();
  app.add_option("-o,--output", options->output, "file to write, - for stdout")->required();
  AddCommonOptions(app, options->common, "qs");
  app.footer(
      "SPEC: CxHxW, then steps: convO[kK][sS][gG] dwK[sS] bn relu relu6 hswish silu sigmoid maxK[sS] avgK[sS] [ "
      "residual\n"
      "block ] gap fcO, separated by commas.\n"
      "Example: rlc zoo custom:1x28x28,conv8k3s2,bn,relu,[conv8,bn,relu,conv8,bn],relu,gap,fc10 -o tiny.onnx");
  return [options]() -> CommandResult {
    RLC_ASSIGN_OR_RETURN(const Model model, MakeZooModel(options->name, options->common.seed));
    RLC_RETURN_IF_ERROR(WriteModel(model, options->output));
    Talk(options->common, fmt::format("wrote {}: {} nodes", options->output, model.graph.nodes().size()));
    return 0;
  };
}

}  // namespace rlc
