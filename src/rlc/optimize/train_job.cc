#include "rlc/optimize/train_job.h"

#include <algorithm>

#include "rlc/base/format.h"
#include "rlc/optimize/onnx_policy.h"
#include "rlc/optimize/optimize_run.h"
#include "rlc/optimize/summary.h"

namespace rlc {
namespace {

constexpr double kTrainSeconds = 3600;

// Everything up to the surrogate's tables.
Expected<void> PrepareTables(OptimizeRun& run) {
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

Expected<ComparedRun> RunMethod(OptimizeRun& run, const SearchMethod& method, uint64_t seed, Policy* policy) {
  RLC_ASSIGN_OR_RETURN(const auto evaluator, MakeEvaluator(run, /*reuse=*/false));
  Surrogate surrogate(run.catalogue, run.surrogate->tables());  // without what other runs taught it
  SearchProblem problem;
  problem.catalogue = &run.catalogue;
  problem.features = run.features.get();
  problem.evaluator = evaluator.get();
  problem.surrogate = &surrogate;
  problem.policy = policy;
  problem.max_drop = run.request.max_drop;
  problem.budget.evaluations = *run.request.evaluations;
  problem.seed = seed;
  problem.clock = run.request.clock;
  problem.stop = run.request.stop;
  problem.progress = ProgressOf(run);
  ComparedRun compared;
  compared.method = method.name();
  compared.seed = seed;
  problem.on_trial = [&](const SearchTrial& trial, const SearchTrial* best) {
    if (best == &trial) compared.best_so_far.emplace_back(trial.evaluation, 1 - trial.costs->ratio.value);
  };
  RLC_ASSIGN_OR_RETURN(const SearchResult result, method.Run(problem));
  compared.evaluations = evaluator->evaluations();
  if (result.best >= 0) {
    const SearchTrial& best = result.trials[static_cast<size_t>(result.best)];
    compared.best_gain = 1 - best.costs->ratio.value;
    compared.best = best.candidate;
    compared.best_name = Describe(run.catalogue, best.candidate);
  }
  return compared;
}

}  // namespace

Expected<TrainSummary> TrainPolicy(const OptimizeRequest& request, const std::string& log_folder) {
  OptimizeRun run(request);
  RLC_RETURN_IF_ERROR(PrepareTables(run));
  const std::string folder = log_folder.empty() ? JoinPath(run.folder->path(), "train") : log_folder;
  RLC_ASSIGN_OR_RETURN(const TrainedPolicy trained, TrainFor(run, request.seed, folder, kTrainSeconds));
  RLC_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(trained.policy_path));
  RLC_RETURN_IF_ERROR(WriteFileAtomically(request.output, bytes));
  return trained.summary;
}

Expected<Comparison> CompareMethods(const OptimizeRequest& request, const std::vector<std::string>& methods,
                                    int seeds) {
  RLC_CHECK(request.evaluations.has_value());
  for (const std::string& name : methods) {
    if (FindMethod(name) == nullptr) {
      return MakeError(ErrorKind::kUsage, "--methods '{}': there are {}", name, fmt::join(MethodNames(), ", "));
    }
  }
  OptimizeRun run(request);
  RLC_RETURN_IF_ERROR(PrepareTables(run));
  Comparison comparison;
  comparison.model = request.input;
  comparison.metric = run.search_judge->metric();
  comparison.max_drop = request.max_drop;
  comparison.evaluations = *request.evaluations;
  for (int seed = 0; seed < seeds && !request.stop.StopRequested(); ++seed) {
    const uint64_t number = request.seed + static_cast<uint64_t>(seed);
    std::unique_ptr<Policy> policy;
    if (std::find(methods.begin(), methods.end(), "rl") != methods.end()) {
      RLC_ASSIGN_OR_RETURN(
          const TrainedPolicy trained,
          TrainFor(run, number, JoinPath(run.folder->path(), fmt::format("train{}", seed)), kTrainSeconds));
      RLC_ASSIGN_OR_RETURN(policy, LoadPolicy(trained.policy_path, static_cast<int>(run.catalogue.layers.size())));
    }
    for (const std::string& name : methods) {
      RLC_ASSIGN_OR_RETURN(ComparedRun compared, RunMethod(run, *FindMethod(name), number, policy.get()));
      comparison.runs.push_back(std::move(compared));
    }
  }
  return comparison;
}

Json ToJson(const Comparison& comparison) {
  Json runs = Json::array();
  for (const ComparedRun& run : comparison.runs) {
    runs.push_back({{"method", run.method},
                    {"seed", run.seed},
                    {"best_gain", run.best_gain},
                    {"best", run.best_name},
                    {"evaluations", run.evaluations},
                    {"best_so_far", run.best_so_far}});
  }
  return {{"model", comparison.model},
          {"metric", comparison.metric},
          {"max_drop", comparison.max_drop},
          {"evaluations", comparison.evaluations},
          {"runs", std::move(runs)}};
}

std::string ToText(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows = {{"method", "seed", "speed-up", "reached after", "evaluations"}};
  for (const ComparedRun& run : comparison.runs) {
    rows.push_back({run.method, std::to_string(run.seed), FormatRatio(1 / (1 - run.best_gain)),
                    run.best_so_far.empty() ? "-" : std::to_string(run.best_so_far.back().first),
                    std::to_string(run.evaluations)});
  }
  return fmt::format("{}: best measured speed-up with a drop of at most {} ({})\n\n{}", comparison.model,
                     FormatPoints(comparison.max_drop), comparison.metric, FormatTable(rows));
}

}  // namespace rlc
