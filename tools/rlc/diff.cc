#include <memory>

#include "command.h"
#include "rlc/optimize/diff_job.h"

namespace rlc {
namespace {

struct DiffOptions {
  std::string before, after;
  CommonOptions common;
};

CommandResult RunDiff(const DiffOptions& options) {
  if (options.before == "-" && options.after == "-") {
    return MakeError(ErrorKind::kUsage, "diff: only one of the two models can come from stdin");
  }
  RLC_ASSIGN_OR_RETURN(const DiffResult result, DiffFiles(options.before, options.after));
  RLC_RETURN_IF_ERROR(PrintOut(options.common.json ? DumpJson(ToJson(result)) : ToText(result)));
  return 0;
}

}  // namespace

CommandRunner DiffCommand(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  app.add_option("A", options->before, "ONNX model, - for stdin")->required();
  app.add_option("B", options->after, "ONNX model, - for stdin")->required();
  AddCommonOptions(app, options->common, "j");
  app.footer("Example: rlc diff model.onnx simple.onnx");
  return [options] { return RunDiff(*options); };
}

}  // namespace rlc
