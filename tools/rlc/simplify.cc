#include <memory>

#include "command.h"
#include "model_options.h"
#include "rlc/optimize/simplify_job.h"

namespace rlc {
namespace {

struct SimplifyOptions {
  SimplifyRequest request;
  ShapeOptions shapes;
  ShapeOptions fix_shapes = {.flag = "--fix-shape"};
  std::string fold_limit;
  bool no_fold = false, explain = false, explain_refusals = false, list_rules = false;
  CommonOptions common;
};

std::string Events(const std::vector<RewriteEvent>& events) {
  std::string text;
  for (const RewriteEvent& event : events) {
    text += fmt::format("{} at {}{}{}\n", event.rule, event.site, event.reason.empty() ? "" : ": ", event.reason);
  }
  return text;
}

std::string RuleList() {
  std::vector<std::vector<std::string>> rows = {{"rule", "kind", "what it does"}};
  std::string text;
  for (const auto& rewrite : AllRewrites()) {
    const RewriteInfo& info = rewrite->info();
    text += fmt::format("{:<34} {:<11} {}\n", info.id, info.exactness == Exactness::kExact ? "exact" : "approximate",
                        info.summary);
  }
  return text;
}

CommandResult RunSimplify(SimplifyOptions& options) {
  if (options.list_rules) {
    RLC_RETURN_IF_ERROR(PrintOut(RuleList()));
    return 0;
  }
  SimplifyRequest& request = options.request;
  if (request.input.empty() || request.output.empty()) {
    return MakeError(ErrorKind::kUsage, "simplify needs MODEL and -o OUT; see 'rlc simplify --help'");
  }
  RLC_ASSIGN_OR_RETURN(request.shapes, options.shapes.Parse());
  RLC_ASSIGN_OR_RETURN(request.fix_shapes, options.fix_shapes.Parse());
  if (!options.fold_limit.empty()) {
    RLC_ASSIGN_OR_RETURN(const uint64_t limit, ParseBytes(options.fold_limit, "--fold-limit"));
    request.pipeline.fold_limit = static_cast<int64_t>(std::min<uint64_t>(limit, uint64_t{1} << 40));
    request.pipeline.growth_limit = request.pipeline.fold_limit;
  }
  request.pipeline.fold = !options.no_fold;
  request.seed = options.common.seed;
  RLC_ASSIGN_OR_RETURN(const SimplifyResult result, SimplifyFile(request));
  const bool stdout_taken = request.output == "-";
  std::string text;
  if (options.common.json) {
    text = DumpJson(ToJson(result));
  } else if (!options.common.quiet) {
    text = CompareTable(result.before, result.after);
    if (options.explain) text += "\nApplied:\n" + Events(result.report.applied);
    if (options.explain_refusals) text += "\nRefused:\n" + Events(result.report.refused);
    if (result.check) {
      text += fmt::format("\nchecked on {} inputs: largest deviation {:.2g} (relative RMS)\n", result.check->runs,
                          result.check->largest_relative_rms);
    }
    if (!result.changed()) text += "\nnothing to simplify: the file is written as it was\n";
  }
  if (stdout_taken) {
    Talk(options.common, text);
  } else {
    RLC_RETURN_IF_ERROR(PrintOut(text));
  }
  return 0;
}

}  // namespace

CommandRunner SimplifyCommand(CLI::App& app) {
  auto options = std::make_shared<SimplifyOptions>();
  SimplifyRequest& request = options->request;
  app.add_option("MODEL", request.input, "ONNX model, - for stdin");
  app.add_option("-o,--output", request.output, "file to write, - for stdout; may be MODEL itself");
  app.add_option("--only", request.pipeline.only, "use only these rules")->delimiter(',');
  app.add_option("--skip", request.pipeline.skip, "leave these rules out")->delimiter(',');
  app.add_flag("--list-rules", options->list_rules, "list all rules and stop");
  app.add_flag("--no-fold", options->no_fold, "no constant folding");
  app.add_option(
      "--fold-limit", options->fold_limit,
      "bytes by which constant folding may grow the file (default: 1MB a fold, a sixteenth of all constants)");
  app.add_option("--check", request.check, "compare outputs with the original's on N random inputs")
      ->check(CLI::Range(0, 100000));
  app.add_option("--inputs", request.check_inputs, "compare on these, too: .npz with an array for each input");
  app.add_flag("--external-data", request.external_data, "weights go to OUT.data");
  app.add_flag("--explain", options->explain, "list every rewrite with its site");
  app.add_flag("--explain-refusals", options->explain_refusals, "list near misses with the guard that stopped them");
  app.add_flag("--inline-functions", request.inline_functions, "make model-local functions part of the graph");
  app.add_option("--opset", request.opset, "raise the operator set to this version")->check(CLI::Range(1, 1000));
  options->shapes.Declare(app);
  options->fix_shapes.Declare(app, "new shape of an input in the file: NAME:1,3,224,224");
  AddCommonOptions(app, options->common, "jqs");
  app.footer("Example: rlc simplify model.onnx -o simple.onnx --check 3");
  return [options] { return RunSimplify(*options); };
}

}  // namespace rlc
