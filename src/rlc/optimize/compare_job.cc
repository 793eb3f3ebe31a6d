#include "rlc/optimize/compare_job.h"

#include <algorithm>

#include "rlc/base/format.h"
#include "rlc/measure/child.h"
#include "rlc/onnx/export.h"
#include "rlc/optimize/onnx_policy.h"
#include "rlc/optimize/optimize_run.h"
#include "rlc/optimize/summary.h"

namespace rlc {
namespace {

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
  RLC_ASSIGN_OR_RETURN(SearchResult result, method.Run(problem));
  compared.evaluations = evaluator->evaluations();
  if (result.best >= 0) {
    const SearchTrial& best = result.trials[static_cast<size_t>(result.best)];
    compared.best_gain = 1 - best.costs->ratio.value;
    compared.best = best.candidate;
    compared.best_name = Describe(run.catalogue, best.candidate);
  }
  compared.trials = std::move(result.trials);
  return compared;
}

void AddMeasured(const Surrogate& surrogate, const Candidate& candidate, const Costs& costs,
                 std::vector<Surrogate::Measured>& measured) {
  const double latency = costs.ratio.value * surrogate.tables().baseline_ms;
  measured.push_back({candidate, latency, costs.drop ? costs.drop->value : 0.0});
}

// The best candidate of all runs.
Candidate BestOf(const Comparison& comparison) {
  const ComparedRun* best = nullptr;
  for (const ComparedRun& run : comparison.runs) {
    if (best == nullptr || run.best_gain > best->best_gain) best = &run;
  }
  return best == nullptr ? Candidate{} : best->best;
}

Candidate RandomNeighbour(const Catalogue& catalogue, Candidate candidate, Rng& rng) {
  constexpr size_t kMostChanges = 4;  // more, and hardly any is within a quarter of the best
  for (size_t changes = 1 + rng.UniformInt(kMostChanges); changes > 0; --changes) {
    const int entry = static_cast<int>(rng.UniformInt(catalogue.entries.size()));
    const auto found = std::find(candidate.begin(), candidate.end(), entry);
    if (found == candidate.end()) {
      candidate.push_back(entry);
    } else {
      candidate.erase(found);
    }
  }
  return Normalized(catalogue, candidate);
}

// Times `pick` against `best` side by side: a search's own figures favour whichever was lucky.
Expected<Estimate> FreshRatio(OptimizeRun& run, const Candidate& pick, const Candidate& best) {
  std::vector<TimedModel> models;
  for (const Candidate& candidate : {best, pick}) {
    const std::string path = JoinPath(run.folder->path(), fmt::format("regret{}.onnx", models.size()));
    const Plan plan = ToPlan(run.catalogue, candidate, run.hash);
    RLC_ASSIGN_OR_RETURN(const Model model, ApplyPlan(run.model, plan, run.services->get()));
    RLC_RETURN_IF_ERROR(WriteModel(model, path));
    models.push_back({Describe(run.catalogue, candidate), path, OptLevel::kAll, {}});
  }
  TimingOptions timing;
  timing.threads = run.request.threads;
  timing.seed = run.request.seed;
  RLC_ASSIGN_OR_RETURN(const TimingResult result, TimeModelsInChild(models, run.data->timing_inputs, timing));
  return result.models[1].ratio;
}

// The median of three measurements, each in sessions of its own: from one session to the next the same plan differs by
// more than the interval of either says. Nothing if one fails.
Expected<std::optional<Costs>> MeasureSeveralTimes(const OptimizeRun& run, const Candidate& candidate) {
  std::vector<Costs> all;
  for (int i = 0; i < 3; ++i) {
    RLC_ASSIGN_OR_RETURN(const auto evaluator, MakeEvaluator(run, /*reuse=*/false));
    auto costs = evaluator->Evaluate(candidate);
    if (!costs) return std::optional<Costs>();
    all.push_back(*std::move(costs));
  }
  std::sort(all.begin(), all.end(), [](const Costs& a, const Costs& b) { return a.ratio.value < b.ratio.value; });
  return std::optional<Costs>(all[1]);
}

Expected<HeldOut> ScoreHeldOut(OptimizeRun& run, const Comparison& comparison, int count) {
  std::vector<Surrogate::Measured> fitted, measured;
  for (const ComparedRun& compared : comparison.runs) {
    for (const SearchTrial& trial : compared.trials) {
      if (trial.costs) AddMeasured(*run.surrogate, trial.candidate, *trial.costs, fitted);
    }
  }
  Rng rng(run.request.seed);
  const Candidate best = BestOf(comparison);
  for (int number = 0; number < count && !run.request.stop.StopRequested(); ++number) {
    Report(ProgressOf(run), {"held-out candidates", static_cast<double>(number), static_cast<double>(count), 0, ""});
    const Candidate candidate = RandomNeighbour(run.catalogue, best, rng);
    RLC_ASSIGN_OR_RETURN(const auto costs, MeasureSeveralTimes(run, candidate));
    if (costs) AddMeasured(*run.surrogate, candidate, *costs, measured);
  }
  HeldOut held_out;
  held_out.score = ScoreSurrogate(run.catalogue, run.surrogate->tables(), fitted, measured);
  const SurrogateScore& score = held_out.score;
  if (score.near_best > 0 && score.pick != score.best && !run.request.stop.StopRequested()) {
    RLC_ASSIGN_OR_RETURN(held_out.fresh_regret, FreshRatio(run, score.pick, score.best));
  }
  return held_out;
}

Json TrialsToJson(const std::vector<SearchTrial>& trials) {
  Json json = Json::array();
  for (const SearchTrial& trial : trials) {
    Json row = {{"entries", trial.candidate}};
    if (trial.costs) row["ratio"] = EstimateToJson(trial.costs->ratio);
    if (trial.costs && trial.costs->drop) row["drop"] = EstimateToJson(*trial.costs->drop);
    if (!trial.failure.empty()) row["failure"] = trial.failure;
    json.push_back(std::move(row));
  }
  return json;
}

std::string HeldOutText(const HeldOut& held_out) {
  const SurrogateScore& score = held_out.score;
  std::string regret = "it picks the best";
  if (held_out.fresh_regret) {
    const Estimate& fresh = *held_out.fresh_regret;
    regret =
        fmt::format("its pick takes {:.3f} ({:.3f} - {:.3f}) of the best's time", fresh.value, fresh.low, fresh.high);
  }
  std::vector<std::vector<std::string>> drops = {
      {"measured drop above", "up to", "candidates", "mean error", "mean |error|", "largest"}};
  for (const DropError& error : score.drop) {
    drops.push_back({fmt::format("{:.2f}", 100 * error.above), fmt::format("{:.2f}", 100 * error.up_to),
                     std::to_string(error.candidates), fmt::format("{:+.2f}", 100 * error.mean),
                     fmt::format("{:.2f}", 100 * error.mean_absolute), fmt::format("{:.2f}", 100 * error.largest)});
  }
  return fmt::format(
      "\nThe surrogate on {} candidates that it has not seen: mean error in latency {:.1f} %; of the {} within 25 % of "
      "the best, Kendall's tau {:.2f}, and {}\n\nIts error in accuracy drop, expected - measured, in points\n\n{}",
      score.held_out, 100 * score.latency_error, score.near_best, score.kendall, regret, FormatTable(drops));
}

}  // namespace

Expected<Comparison> CompareMethods(const OptimizeRequest& request, const CompareOptions& options) {
  RLC_CHECK(request.evaluations.has_value());
  for (const std::string& name : options.methods) {
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
  comparison.tables = run.surrogate->tables();
  for (int seed = 0; seed < options.seeds && !request.stop.StopRequested(); ++seed) {
    const uint64_t number = request.seed + static_cast<uint64_t>(seed);
    std::unique_ptr<Policy> policy;
    if (std::find(options.methods.begin(), options.methods.end(), "rl") != options.methods.end()) {
      RLC_ASSIGN_OR_RETURN(
          const TrainedPolicy trained,
          TrainFor(run, number, JoinPath(run.folder->path(), fmt::format("train{}", seed)), kLongestTraining));
      RLC_ASSIGN_OR_RETURN(policy, LoadPolicy(trained.policy_path, static_cast<int>(run.catalogue.layers.size())));
    }
    for (const std::string& name : options.methods) {
      RLC_ASSIGN_OR_RETURN(ComparedRun compared, RunMethod(run, *FindMethod(name), number, policy.get()));
      comparison.runs.push_back(std::move(compared));
    }
  }
  if (options.held_out > 0) {
    RLC_ASSIGN_OR_RETURN(comparison.held_out, ScoreHeldOut(run, comparison, options.held_out));
  }
  comparison.catalogue = std::move(run.catalogue);
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
                    {"best_so_far", run.best_so_far},
                    {"trials", TrialsToJson(run.trials)}});
  }
  Json held_out;
  if (comparison.held_out) {
    held_out = ToJson(comparison.held_out->score);
    const auto& regret = comparison.held_out->fresh_regret;
    held_out["fresh_regret"] = regret ? EstimateToJson(*regret) : Json();
  }
  return {{"model", comparison.model},
          {"metric", comparison.metric},
          {"max_drop", comparison.max_drop},
          {"evaluations", comparison.evaluations},
          {"runs", std::move(runs)},
          {"held_out", std::move(held_out)},
          {"catalogue", ToJson(comparison.catalogue)},
          {"tables", Surrogate(comparison.catalogue, comparison.tables).ToJson()}};
}

std::string ToText(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows = {{"method", "seed", "speed-up", "reached after", "evaluations"}};
  for (const ComparedRun& run : comparison.runs) {
    rows.push_back({run.method, std::to_string(run.seed), FormatRatio(1 / (1 - run.best_gain)),
                    run.best_so_far.empty() ? "-" : std::to_string(run.best_so_far.back().first),
                    std::to_string(run.evaluations)});
  }
  return fmt::format("{}: best measured speed-up with a drop of at most {} ({})\n\n{}", comparison.model,
                     FormatPoints(comparison.max_drop), comparison.metric, FormatTable(rows)) +
         (comparison.held_out ? HeldOutText(*comparison.held_out) : "");
}

}  // namespace rlc
