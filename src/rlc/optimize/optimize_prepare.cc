// rlc optimize, first phases: model, data, baseline; exact rewrites, calibration, catalogue.

#include <algorithm>

#include "rlc/onnx/import.h"
#include "rlc/optimize/apply_job.h"
#include "rlc/optimize/latency_tables.h"
#include "rlc/optimize/ops_library.h"
#include "rlc/optimize/optimize_run.h"
#include "rlc/optimize/quantize_job.h"

namespace rlc {
namespace {

// Rows of the search split that a candidate is judged on: more would cost more time than they sharpen the estimate.
constexpr size_t kMostSearchRows = 1000;

Expected<void> OpenStore(OptimizeRun& run) {
  std::string path = run.request.store_path;
  if (path.empty()) {
    RLC_ASSIGN_OR_RETURN(path, TrialStore::DefaultPath());
  }
  RLC_ASSIGN_OR_RETURN(TrialStore store, TrialStore::Open(path));
  run.store = std::make_unique<TrialStore>(std::move(store));
  return {};
}

Expected<void> JudgeBaseline(OptimizeRun& run) {
  std::vector<size_t> rows = run.data->splits.search;
  rows.resize(std::min(rows.size(), kMostSearchRows));
  AccuracyOptions options;
  options.metric = run.request.metric;
  options.threads = run.request.threads;
  options.limits.stop = run.request.stop;
  RLC_ASSIGN_OR_RETURN(AccuracyJudge judge, AccuracyJudge::Create(run.request.input, run.data->dataset, std::move(rows),
                                                                  run.data->classes, options));
  run.search_judge = std::make_unique<AccuracyJudge>(std::move(judge));
  return {};
}

}  // namespace

ProgressSink ProgressOf(const OptimizeRun& run) {
  return [&run](const Progress& progress) {
    Progress timed = progress;
    timed.elapsed_seconds = run.Elapsed();
    Report(run.request.progress, timed);
  };
}

Expected<std::unique_ptr<MeasuredEvaluator>> MakeEvaluator(const OptimizeRun& run, bool reuse) {
  MeasuredSetup setup;
  setup.model = &run.model;
  setup.catalogue = &run.catalogue;
  setup.judge = run.search_judge.get();
  setup.store = reuse ? run.store.get() : nullptr;
  setup.reuse = reuse;
  setup.services = run.services->get();
  setup.model_path = run.request.input;
  setup.model_hash = run.hash;
  setup.machine = run.machine.Fingerprint();
  setup.timing_inputs = run.data->timing_inputs;
  setup.timing.threads = run.request.threads;
  setup.timing.budget_seconds = 1.5;
  setup.timing.precision = 0.01;
  setup.timing.control = false;
  setup.timing.seed = run.request.seed;
  setup.wall_clock = run.request.wall_clock;
  setup.stop = run.request.stop;
  setup.limits.stop = run.request.stop;
  if (Rapl::Open(setup.powercap)) setup.energy = EnergyOptions{};
  RLC_ASSIGN_OR_RETURN(MeasuredEvaluator evaluator, MeasuredEvaluator::Create(std::move(setup)));
  return std::make_unique<MeasuredEvaluator>(std::move(evaluator));
}

Expected<void> Prepare(OptimizeRun& run) {
  const OptimizeRequest& request = run.request;
  Report(ProgressOf(run), {"prepare", 0, std::nullopt, 0, ""});
  RLC_ASSIGN_OR_RETURN(run.model, ReadModel(request.input));
  RLC_ASSIGN_OR_RETURN(run.hash, HashModelFile(request.input));
  run.services = std::make_unique<StandardServices>(run.model);
  RLC_ASSIGN_OR_RETURN(DataSetup data, SetUpData(run.model, request.data));
  run.data = std::move(data);
  run.kinds =
      request.actions ? *request.actions : ActionKinds{.int8 = !run.data->random(), .prune = !run.data->random()};
  if (run.kinds.region) {
    run.ops_library = FindOpsLibrary();
    if (run.ops_library.empty()) {
      return MakeError(
          ErrorKind::kUnavailable,
          "compiled regions need librlc_ops.so, which is not beside rlc; build it, set RLC_OPS_LIBRARY, or "
          "use --actions portable");
    }
  }
  if (run.data->random() && run.kinds.approximate()) {
    run.warnings.push_back("no --data: calibrated and judged on random inputs, so the accuracy figures say little");
  }
  run.machine = DescribeMachine();
  RLC_ASSIGN_OR_RETURN(run.runtime, LoadRuntime());
  RLC_RETURN_IF_ERROR(OpenStore(run));
  RLC_ASSIGN_OR_RETURN(TempDir folder, TempDir::Create("rlc-optimize"));
  run.folder = std::make_unique<TempDir>(std::move(folder));
  // Without data there is still something to hold exact rewrites against: agreement or deviation on random inputs.
  return JudgeBaseline(run);
}

Expected<void> BuildActions(OptimizeRun& run) {
  Report(ProgressOf(run), {"exact rewrites", 0, std::nullopt, 0, ""});
  std::vector<Action> prologue =
      run.kinds.int8 ? QuantizationPrologue(run.model) : std::vector<Action>{{"simplify", "*", {}}};
  if (!run.kinds.fuse) prologue.pop_back();
  Plan plan;
  plan.actions = prologue;
  RLC_ASSIGN_OR_RETURN(const Model prepared, ApplyPlan(run.model, plan, run.services->get()));
  RLC_ASSIGN_OR_RETURN(run.prepared, WithInputShapes(prepared, run.data->timing_inputs));
  Report(ProgressOf(run), {"calibrate", 0, std::nullopt, 0, ""});
  CatalogueOptions options;
  options.kinds = run.kinds;
  options.scheme = SchemeFor(run.machine);
  CalibrationOutcome calibration;
  if (run.kinds.approximate()) {
    CalibrationRequest calibrate;
    calibrate.scheme = options.scheme;
    calibrate.threads = run.request.threads;
    calibrate.stop = run.request.stop;
    RLC_ASSIGN_OR_RETURN(calibration, CalibrateModel(prepared, *run.data, calibrate));
    run.calibration_rows = calibration.rows;
  }
  int layers = 0;
  for (NodeId id : run.model.graph.nodes()) layers = std::max(layers, run.model.graph.node(id).layer + 1);
  run.catalogue = BuildCatalogue(prepared, layers, std::move(prologue), calibration, options);
  run.features = std::make_unique<GraphFeatures>(prepared.graph);
  RLC_ASSIGN_OR_RETURN(run.evaluator, MakeEvaluator(run, /*reuse=*/true));
  RLC_ASSIGN_OR_RETURN(run.exact_costs, run.evaluator->Evaluate({}));
  if (run.exact_costs.ratio.high < 1 && ExactOutputsAreSame(run)) RLC_RETURN_IF_ERROR(KeepBest(run, {}));
  return {};
}

}  // namespace rlc
