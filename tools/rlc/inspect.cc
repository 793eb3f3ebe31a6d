#include <memory>

#include "command.h"
#include "rlc/optimize/inspect_job.h"

namespace rlc {
namespace {

struct InspectOptions {
  InspectRequest request;
  bool runtime_graph = false;
  std::string level = "all";
  CommonOptions common;
};

CommandResult RunInspect(InspectOptions& options) {
  if (options.runtime_graph || !options.request.save_runtime_graph.empty()) {
    RLC_ASSIGN_OR_RETURN(options.request.runtime_level, ParseOptLevel(options.level));
  }
  RLC_ASSIGN_OR_RETURN(const InspectResult result, InspectFile(options.request));
  RLC_RETURN_IF_ERROR(PrintOut(options.common.json ? DumpJson(ToJson(result)) : ToText(result)));
  return 0;
}

}  // namespace

CommandRunner InspectCommand(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  app.add_option("MODEL", options->request.input, "ONNX model, - for stdin")->required();
  app.add_flag("--graph", options->request.graph, "print the graph as text");
  app.add_flag("--runtime-graph", options->runtime_graph, "also say what ONNX Runtime makes of the model");
  app.add_option("--ort-level", options->level, "at this level: none, basic, extended, all")->capture_default_str();
  app.add_option("--save-runtime-graph", options->request.save_runtime_graph,
                 "write ONNX Runtime's graph to this file");
  AddCommonOptions(app, options->common, "j");
  app.footer("Example: rlc inspect model.onnx --runtime-graph");
  return [options] { return RunInspect(*options); };
}

}  // namespace rlc
