#include <memory>

#include "command.h"
#include "model_options.h"
#include "rlc/optimize/bench_job.h"
#include "rlc/optimize/ops_library.h"

namespace rlc {
namespace {

struct BenchOptions {
  BenchRequest request;
  ShapeOptions shapes;
  std::string level = "all", budget = "10s", ops_library;
  CommonOptions common;
};

CommandResult RunBench(BenchOptions& options) {
  BenchRequest& request = options.request;
  RLC_ASSIGN_OR_RETURN(request.shapes, options.shapes.Parse());
  RLC_ASSIGN_OR_RETURN(request.level, ParseOptLevel(options.level));
  RLC_ASSIGN_OR_RETURN(request.seconds, ParseDuration(options.budget, "--budget"));
  request.ops_library = options.ops_library == "none" ? "" : options.ops_library;
  if (options.ops_library.empty()) request.ops_library = FindOpsLibrary();
  request.threads = options.common.threads;
  request.seed = options.common.seed;
  request.stop = StopToken::OfProcess();
  RLC_ASSIGN_OR_RETURN(const BenchResult result, BenchFiles(request));
  RLC_RETURN_IF_ERROR(PrintOut(options.common.json ? DumpJson(ToJson(result)) : ToText(result)));
  return 0;
}

}  // namespace

CommandRunner BenchCommand(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  app.add_option("MODEL", options->request.models, "models; the first is the baseline")->required();
  app.add_option("--ort-level", options->level, "ONNX Runtime's optimizations: none, basic, extended, all")
      ->capture_default_str();
  app.add_option("--ops-library", options->ops_library,
                 "librlc_ops.so, for models with compiled regions; none: as a runtime without it runs them (default: "
                 "the one beside rlc)");
  app.add_option("--budget", options->budget, "time to spend: 10s, 2m")->capture_default_str();
  options->shapes.Declare(app);
  AddCommonOptions(app, options->common, "jst");
  app.footer(
      "Models are timed interleaved, in a child process, on random inputs.\nExample: rlc bench model.onnx simple.onnx");
  return [options] { return RunBench(*options); };
}

}  // namespace rlc
