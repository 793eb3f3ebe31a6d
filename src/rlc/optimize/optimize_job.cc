#include "rlc/optimize/optimize_job.h"

#include "rlc/base/file.h"
#include "rlc/optimize/optimize_run.h"
#include "rlc/optimize/output_paths.h"
#include "rlc/report/report.h"

namespace rlc {
namespace {

Expected<void> CheckRequest(const OptimizeRequest& request) {
  if (FindMethod(request.method) == nullptr) {
    return MakeError(ErrorKind::kUsage, "--method '{}': there are {}", request.method, fmt::join(MethodNames(), ", "));
  }
  if (request.input == "-") {
    return MakeError(ErrorKind::kUsage,
                     "optimize measures the original file, so it cannot come from stdin; save it first");
  }
  // Fails now rather than after minutes of work.
  RLC_ASSIGN_OR_RETURN(const AtomicFile probe, AtomicFile::Create(request.output));
  return {};
}

// Runs one phase and notes how long it took.
template <typename Phase>
Expected<void> Timed(OptimizeRun& run, const char* name, const Phase& phase) {
  const double before = run.Elapsed();
  Expected<void> done = phase(run);
  run.phases.push_back({name, run.Elapsed() - before});
  return done;
}

Expected<void> WriteReports(const OptimizeRun& run, const Json& report) {
  const OptimizeRequest& request = run.request;
  const auto path = [&](const std::string& named, std::string_view ending) {
    return named.empty() ? BesideOutput(request.output, ending) : named;
  };
  RLC_RETURN_IF_ERROR(WriteFileAtomically(path(request.report_path, ".report.json"), DumpJson(report)));
  RLC_ASSIGN_OR_RETURN(const std::string html, RenderHtml(report));
  return WriteFileAtomically(path(request.html_path, ".report.html"), html);
}

}  // namespace

Expected<OptimizeOutcome> OptimizeFile(const OptimizeRequest& request) {
  RLC_RETURN_IF_ERROR(CheckRequest(request));
  OptimizeRun run(request);
  run.started = request.clock();
  RLC_RETURN_IF_ERROR(Timed(run, "prepare", Prepare));
  RLC_RETURN_IF_ERROR(Timed(run, "exact rewrites and calibration", BuildActions));
  if (const auto searched = Timed(run, "search", SearchActions); !searched) {
    // The exact model is there already: an interrupt or a failing search ends with it, and says so.
    if (searched.error().kind == ErrorKind::kUsage) return Unexpected(searched.error());
    if (searched.error().kind != ErrorKind::kInterrupted) {
      run.warnings.push_back(fmt::format("the search ended early: {}", searched.error().message));
    }
  }
  RLC_RETURN_IF_ERROR(Timed(run, "compiled regions", ChooseForms));
  RLC_RETURN_IF_ERROR(Timed(run, "verify and write", VerifyAndWrite));

  OptimizeOutcome outcome;
  outcome.report = MakeReport(run);
  outcome.improved = run.winner != 0;
  outcome.interrupted = request.stop.StopRequested();
  const double gain = 1 / run.finalists[static_cast<size_t>(run.winner)].timing.ratio.value;
  outcome.goal_missed = request.min_gain && gain < *request.min_gain;
  RLC_RETURN_IF_ERROR(WriteReports(run, outcome.report));
  return outcome;
}

}  // namespace rlc
