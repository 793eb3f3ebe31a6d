#include <memory>

#include "command.h"
#include "data_options.h"
#include "rlc/base/interrupt.h"
#include "rlc/optimize/quantize_job.h"

namespace rlc {
namespace {

struct QuantizeOptions {
  QuantizeRequest request;
  DataOptions data;
  std::string scheme, range = "minmax";
  CommonOptions common;
};

CommandResult RunQuantize(QuantizeOptions& options) {
  QuantizeRequest& request = options.request;
  RLC_ASSIGN_OR_RETURN(request.data, options.data.Parse(options.common.seed));
  if (!options.scheme.empty()) {
    RLC_ASSIGN_OR_RETURN(request.scheme, ParseScheme(options.scheme));
  }
  RLC_ASSIGN_OR_RETURN(request.range.method, ParseRangeMethod(options.range));
  request.threads = options.common.threads;
  request.stop = StopToken::OfProcess();
  if (request.data.path.empty()) {
    Talk(options.common,
         "warning: no --data, so ranges are calibrated on random inputs; the result is for timing only");
  }
  RLC_ASSIGN_OR_RETURN(const QuantizeResult result, QuantizeFile(request));
  const std::string text = options.common.json ? DumpJson(ToJson(result)) : ToText(result);
  if (request.output == "-") {
    Talk(options.common, text);
  } else {
    RLC_RETURN_IF_ERROR(PrintOut(text));
  }
  return 0;
}

}  // namespace

CommandRunner QuantizeCommand(CLI::App& app) {
  auto options = std::make_shared<QuantizeOptions>();
  QuantizeRequest& request = options->request;
  app.add_option("MODEL", request.input, "ONNX model")->required();
  app.add_option("-o,--output", request.output, "file to write, - for stdout")->required();
  app.add_option("--plan", request.plan_path, "write the plan here (default: beside OUT)");
  app.add_option("--include", request.include, "quantize only these layers: number, node name or output name")
      ->delimiter(',');
  app.add_option("--exclude", request.exclude, "leave these layers float")->delimiter(',');
  app.add_option("--scheme", options->scheme, "u8s8, u8s7, s8s8 or s8s7 (default: what this CPU's kernels want)");
  app.add_option("--range", options->range, "how ranges are found: minmax, percentile, entropy, mse")
      ->capture_default_str();
  app.add_option("--percentile", request.range.percentile, "for --range percentile")
      ->check(CLI::Range(0.5, 1.0))
      ->capture_default_str();
  options->data.Declare(app);
  AddCommonOptions(app, options->common, "jqst");
  app.footer("Example: rlc quantize model.onnx -o int8.onnx --data samples.npz --exclude 0");
  return [options] { return RunQuantize(*options); };
}

}  // namespace rlc
