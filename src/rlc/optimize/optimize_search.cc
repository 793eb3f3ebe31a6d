// rlc optimize, middle phases: tables, training, search.

#include <algorithm>

#include "rlc/base/format.h"
#include "rlc/optimize/latency_tables.h"
#include "rlc/optimize/onnx_policy.h"
#include "rlc/optimize/optimize_run.h"

namespace rlc {
namespace {

// Shares of the time that is left when the phase begins.
constexpr double kSensitivityShare = 0.3, kTrainShare = 0.3;
// Kept for finalists, credits and the final split.
constexpr double kFinishShare = 0.25;
constexpr size_t kSensitivityRows = 256;

}  // namespace

Expected<void> MakeSurrogate(OptimizeRun& run) {
  LayerTableOptions options;
  options.threads = run.request.threads;
  options.seconds_each = 0.1;
  options.stop = run.request.stop;
  Report(ProgressOf(run), {"layer tables", 0, std::nullopt, 0, ""});
  SurrogateTables tables;
  RLC_ASSIGN_OR_RETURN(tables.layers, MeasureLayerTimes(run.prepared, run.catalogue, run.machine.Fingerprint(),
                                                        *run.store, options, ProgressOf(run)));
  tables.exact_ms = run.exact_costs.latency_ms.value;
  tables.baseline_ms = tables.exact_ms / run.exact_costs.ratio.value;
  tables.drop_known = true;

  std::vector<size_t> rows = run.data->splits.search;
  rows.resize(std::min(rows.size(), kSensitivityRows));
  AccuracyOptions accuracy;
  accuracy.metric = run.search_judge->metric();
  accuracy.threads = run.request.threads;
  accuracy.limits.stop = run.request.stop;
  RLC_ASSIGN_OR_RETURN(const AccuracyJudge judge, AccuracyJudge::Create(run.request.input, run.data->dataset,
                                                                        std::move(rows), run.data->classes, accuracy));
  SensitivityRequest sensitivity{
      &run.model,        &run.catalogue,   &judge,         run.services->get(), kSensitivityShare * run.Left(),
      run.request.clock, run.request.stop, ProgressOf(run)};
  RLC_ASSIGN_OR_RETURN(tables.entry_drop, MeasureSensitivities(sensitivity));
  run.surrogate = std::make_unique<Surrogate>(run.catalogue, std::move(tables));
  return {};
}

Expected<void> PrepareTables(OptimizeRun& run) {
  run.writes_model = false;
  run.started = run.request.clock();
  RLC_RETURN_IF_ERROR(Prepare(run));
  if (!run.kinds.approximate()) {
    return MakeError(ErrorKind::kUsage,
                     "there is nothing to learn with exact actions only; give --data, or --actions int8,prune");
  }
  RLC_RETURN_IF_ERROR(BuildActions(run));
  if (run.catalogue.entries.empty()) {
    return MakeError(ErrorKind::kInvalidInput, "{}: no layer can be quantized or pruned, so there is nothing to learn",
                     run.request.input);
  }
  return MakeSurrogate(run);
}

Expected<TrainedPolicy> TrainFor(const OptimizeRun& run, uint64_t seed, const std::string& folder, double seconds) {
  TrainRequest request;
  request.catalogue = run.catalogue;
  request.tables = run.surrogate->tables();
  request.features = run.features->counts();
  request.env.max_steps = 2 * static_cast<int>(run.catalogue.layers.size());
  request.env.target_drop = run.request.max_drop;
  request.ppo.total_timesteps = run.request.timesteps;
  request.ppo.seed = seed;
  return RunTrainer(run.request.trainer, request, folder, seconds, run.request.stop, ProgressOf(run));
}

namespace {

Expected<std::unique_ptr<Policy>> GetPolicy(OptimizeRun& run) {
  const int layers = static_cast<int>(run.catalogue.layers.size());
  if (!run.request.policy.empty()) return LoadPolicy(run.request.policy, layers);
  Report(ProgressOf(run), {"train", 0, static_cast<double>(run.request.timesteps), 0, ""});
  RLC_ASSIGN_OR_RETURN(run.trained, TrainFor(run, run.request.seed, JoinPath(run.folder->path(), "train"),
                                             std::max(10.0, kTrainShare * run.Left())));
  return LoadPolicy(run.trained->policy_path, layers);
}

SearchProblem MakeProblem(OptimizeRun& run, Policy* policy) {
  SearchProblem problem;
  problem.catalogue = &run.catalogue;
  problem.features = run.features.get();
  problem.evaluator = run.evaluator.get();
  problem.surrogate = run.surrogate.get();
  problem.policy = policy;
  problem.max_drop = run.request.max_drop;
  problem.budget.evaluations = run.request.evaluations.value_or(1'000'000);
  problem.budget.seconds = std::max(1.0, run.Left() - kFinishShare * run.request.seconds);
  problem.seed = run.request.seed;
  problem.clock = run.request.clock;
  problem.stop = run.request.stop;
  problem.progress = ProgressOf(run);
  problem.on_trial = [&run](const SearchTrial& trial, const SearchTrial* best) {
    // Only what is certain enough is put on disk before the final check.
    const bool certain = best == &trial && trial.costs->ratio.high < 1 &&
                         (!trial.costs->drop || trial.costs->drop->high <= run.request.max_drop);
    if (certain && !trial.candidate.empty()) {
      if (const auto kept = KeepBest(run, trial.candidate); !kept) run.warnings.push_back(kept.error().message);
    }
  };
  return problem;
}

}  // namespace

Expected<void> SearchActions(OptimizeRun& run) {
  run.method = run.request.method;
  const SearchMethod* method = FindMethod(run.method);
  if (method == nullptr) {
    return MakeError(ErrorKind::kUsage, "--method '{}': there are {}", run.method, fmt::join(MethodNames(), ", "));
  }
  if (run.catalogue.entries.empty()) {  // exact only, or nothing that can be quantized or pruned
    run.method = "none";
    SearchTrial exact;
    exact.costs = run.exact_costs;
    run.search.trials = {exact};
    run.search.best = 0;
    return {};
  }
  RLC_RETURN_IF_ERROR(MakeSurrogate(run));
  std::unique_ptr<Policy> policy;
  if (run.method == "rl") {
    auto loaded = GetPolicy(run);
    if (loaded) {
      policy = *std::move(loaded);
    } else if (!run.request.policy.empty() || loaded.error().kind == ErrorKind::kInterrupted) {
      return Unexpected(std::move(loaded).error());  // the user named this policy
    } else {
      run.warnings.push_back(fmt::format("no policy ({}); searched with greedy instead", loaded.error().message));
      run.method = "greedy";
      method = FindMethod(run.method);
    }
  }
  Report(ProgressOf(run), {"search", 0, std::nullopt, 0, ""});
  RLC_ASSIGN_OR_RETURN(run.search, method->Run(MakeProblem(run, policy.get())));
  return {};
}

}  // namespace rlc
