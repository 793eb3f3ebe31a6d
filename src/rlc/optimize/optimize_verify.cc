// rlc optimize, last phases: finalists, final split, choice, credits, output.

#include <algorithm>

#include "rlc/base/format.h"
#include "rlc/onnx/export.h"
#include "rlc/optimize/optimize_run.h"
#include "rlc/optimize/output_paths.h"

namespace rlc {
namespace {

constexpr size_t kMostCredits = 10;

Expected<Model> ModelOf(OptimizeRun& run, const Plan& plan) { return ApplyPlan(run.model, plan, run.services->get()); }

// Writes the file of `finalist.plan`.
Expected<Finalist> MakeFile(OptimizeRun& run, Finalist finalist) {
  finalist.path = JoinPath(run.folder->path(), fmt::format("finalist{}.onnx", run.finalists.size()));
  RLC_ASSIGN_OR_RETURN(const Model model, ModelOf(run, finalist.plan));
  RLC_ASSIGN_OR_RETURN(const std::string bytes, SerializeModel(model));
  finalist.file_bytes = static_cast<int64_t>(bytes.size());
  RLC_RETURN_IF_ERROR(WriteFileAtomically(finalist.path, bytes));
  return finalist;
}

Expected<Finalist> MakeFinalist(OptimizeRun& run, const Candidate& candidate) {
  Finalist finalist;
  finalist.candidate = candidate;
  finalist.plan = ToPlan(run.catalogue, candidate, run.hash);
  finalist.exact = candidate.empty();
  finalist.description = candidate.empty() ? "exact rewrites only" : Describe(run.catalogue, candidate);
  return MakeFile(run, std::move(finalist));
}

Expected<Finalist> MakeFinalist(OptimizeRun& run, const RegionVariant& variant) {
  Finalist finalist;
  finalist.plan = variant.plan;
  finalist.exact = variant.exact;
  finalist.description = variant.description;
  finalist.libraries = {run.ops_library};
  finalist.forms = variant.forms;
  return MakeFile(run, std::move(finalist));
}

Expected<void> GatherFinalists(OptimizeRun& run) {
  Finalist original;
  original.original = true;
  original.description = "the original";
  original.path = run.request.input;
  RLC_ASSIGN_OR_RETURN(const auto mapped, MappedFile::Open(run.request.input));
  original.file_bytes = static_cast<int64_t>(mapped->bytes().size());
  run.finalists.push_back(std::move(original));
  RLC_ASSIGN_OR_RETURN(Finalist exact, MakeFinalist(run, Candidate()));
  exact.search_drop = run.exact_costs.drop;
  run.finalists.push_back(std::move(exact));
  for (const SearchTrial* trial : BestTrials(run.search.trials, run.request.max_drop)) {
    RLC_ASSIGN_OR_RETURN(Finalist finalist, MakeFinalist(run, trial->candidate));
    finalist.search_drop = trial->costs->drop;
    run.finalists.push_back(std::move(finalist));
  }
  for (const RegionVariant& variant : run.region_variants) {
    RLC_ASSIGN_OR_RETURN(Finalist finalist, MakeFinalist(run, variant));
    run.finalists.push_back(std::move(finalist));
  }
  return {};
}

TimingOptions FreshTiming(const OptimizeRun& run, double seconds) {
  TimingOptions timing;
  timing.threads = run.request.threads;
  timing.budget_seconds = seconds;
  timing.seed = run.request.seed + 1;
  return timing;
}

Expected<void> TimeFinalists(OptimizeRun& run) {
  std::vector<TimedModel> models;
  for (const Finalist& finalist : run.finalists)
    models.push_back({finalist.description, finalist.path, OptLevel::kAll, finalist.libraries});
  std::vector<size_t> plain;  // finalists that are timed once more, without our library
  for (size_t i = 0; i < run.finalists.size(); ++i) {
    if (!run.finalists[i].has_regions()) continue;
    models.push_back(
        {run.finalists[i].description + ", without librlc_ops.so", run.finalists[i].path, OptLevel::kAll, {}});
    plain.push_back(i);
  }
  const double seconds = std::clamp(0.4 * run.Left(), 4.0, 30.0);
  RLC_ASSIGN_OR_RETURN(run.timing, TimeModelsInChild(models, run.data->timing_inputs, FreshTiming(run, seconds)));
  for (size_t i = 0; i < run.finalists.size(); ++i) run.finalists[i].timing = run.timing.models[i];
  for (size_t i = 0; i < plain.size(); ++i) {
    run.finalists[plain[i]].plain_timing = run.timing.models[run.finalists.size() + i];
  }
  return {};
}

// The final split is looked at once: by the original, the exact model and the fastest finalists, all in this function.
Expected<void> CheckOnFinalSplit(OptimizeRun& run) {
  AccuracyOptions options;
  options.metric = run.search_judge->metric();
  options.threads = run.request.threads;
  RLC_ASSIGN_OR_RETURN(
      const AccuracyJudge judge,
      AccuracyJudge::Create(run.request.input, run.data->dataset, run.data->splits.final, run.data->classes, options));
  run.final_rows = judge.rows();
  options.custom_op_libraries = {run.ops_library};
  std::optional<AccuracyJudge> region_judge;
  if (!run.region_variants.empty()) {
    RLC_ASSIGN_OR_RETURN(region_judge, AccuracyJudge::Create(run.request.input, run.data->dataset,
                                                             run.data->splits.final, run.data->classes, options));
  }
  for (Finalist& finalist : run.finalists) {
    if (finalist.original || finalist.timing.change != Change::kFaster) continue;
    RLC_ASSIGN_OR_RETURN(const Accuracy accuracy, judge.Judge(finalist.path));
    finalist.final_drop = accuracy.drop;
    if (finalist.has_regions()) {
      finalist.plain_drop = accuracy.drop;
      RLC_ASSIGN_OR_RETURN(const Accuracy compiled, region_judge->Judge(finalist.path));
      finalist.final_drop = compiled.drop;
    }
    if (finalist.exact_only() && finalist.has_regions()) {
      finalist.deviation = RegionDeviation(run, finalist);
    } else if (finalist.exact_only()) {
      ExactOutputsAreSame(run);
      finalist.deviation = run.exact_deviation;
    }
  }
  return {};
}

// Plans of the winner with one part left out: its own actions first, then the exact rules that applied.
std::vector<std::pair<std::string, Plan>> PartsOf(OptimizeRun& run, const Finalist& winner) {
  std::vector<std::pair<std::string, Plan>> parts;
  for (int entry : winner.candidate) {
    Candidate without = winner.candidate;
    without.erase(std::find(without.begin(), without.end(), entry));
    parts.emplace_back(run.catalogue.entries[static_cast<size_t>(entry)].name,
                       ToPlan(run.catalogue, without, run.hash));
  }
  Model model = run.model;
  const auto report = Simplify(model, run.services->get());
  if (!report) return parts;
  std::vector<std::string> rules;
  for (const RewriteEvent& event : report->applied) {
    if (std::find(rules.begin(), rules.end(), event.rule) == rules.end()) rules.push_back(event.rule);
  }
  for (const std::string& rule : rules) {
    Plan plan = winner.plan;
    for (Action& action : plan.actions) {
      if (action.rewrite == "simplify") action.params.values["skip"] = Json::array({rule});
    }
    parts.emplace_back("rule " + rule, std::move(plan));
  }
  return parts;
}

// Leave-one-out: what the winner loses without each part. Parts without which the model cannot be built are left out.
Expected<void> CreditParts(OptimizeRun& run) {
  const Finalist& winner = run.finalists[static_cast<size_t>(run.winner)];
  std::vector<TimedModel> models = {{"winner", winner.path, OptLevel::kAll, winner.libraries}};
  for (const auto& [name, plan] : PartsOf(run, winner)) {
    if (models.size() > kMostCredits) break;
    const auto model = ModelOf(run, plan);
    const std::string path = JoinPath(run.folder->path(), fmt::format("without{}.onnx", models.size()));
    if (model && WriteModel(*model, path)) models.push_back({name, path, OptLevel::kAll, winner.libraries});
  }
  if (models.size() == 1) return {};
  const double seconds = std::clamp(0.5 * run.Left(), 3.0, 20.0);
  RLC_ASSIGN_OR_RETURN(const TimingResult timing,
                       TimeModelsInChild(models, run.data->timing_inputs, FreshTiming(run, seconds)));
  for (size_t i = 1; i < timing.models.size(); ++i)
    run.credits.push_back({timing.models[i].name, timing.models[i].ratio});
  return {};
}

std::string PlanPath(const OptimizeRequest& request) {
  return request.plan_path.empty() ? BesideOutput(request.output, ".plan.json") : request.plan_path;
}

Expected<void> WriteWinner(OptimizeRun& run) {
  const Finalist& winner = run.finalists[static_cast<size_t>(run.winner)];
  Plan plan;
  plan.model_hash = run.hash;
  if (!winner.original) plan = winner.plan;
  plan.provenance = {{"command", run.request.command},
                     {"machine", ToJson(run.machine)},
                     {"runtime", run.runtime.version},
                     {"data", run.data->dataset.Describe()},
                     {"seed", run.request.seed}};
  if (winner.original) {
    RLC_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(run.request.input));
    RLC_RETURN_IF_ERROR(WriteFileAtomically(run.request.output, bytes));
  } else {
    RLC_ASSIGN_OR_RETURN(const Model model, ModelOf(run, plan));
    RLC_RETURN_IF_ERROR(WriteModel(model, run.request.output));
    if (winner.has_regions()) return WritePlan(plan, PlanPath(run.request));
    auto ran = WhatRan(model, run.request.output, OptLevel::kAll);
    if (ran) {
      run.ran = *std::move(ran);
    } else {
      run.warnings.push_back(fmt::format("what ran could not be read back: {}", ran.error().message));
    }
  }
  return WritePlan(plan, PlanPath(run.request));
}

}  // namespace

Expected<void> KeepBest(OptimizeRun& run, const Candidate& candidate) {
  if (!run.writes_model) return {};
  if (run.request.output == "-") return {};
  RLC_ASSIGN_OR_RETURN(const std::string bytes, run.evaluator->BytesOf(candidate));
  return WriteFileAtomically(run.request.output, bytes);
}

Expected<void> VerifyAndWrite(OptimizeRun& run) {
  Report(ProgressOf(run), {"finalists", 0, std::nullopt, 0, ""});
  RLC_RETURN_IF_ERROR(GatherFinalists(run));
  RLC_RETURN_IF_ERROR(TimeFinalists(run));
  Report(ProgressOf(run), {"final split", 0, std::nullopt, 0, ""});
  RLC_RETURN_IF_ERROR(CheckOnFinalSplit(run));
  const Choice choice = Choose(run.finalists, run.request.max_drop);
  run.winner = choice.winner;
  run.reason = choice.reason;
  if (run.winner != 0 && !run.request.stop.StopRequested()) {
    Report(ProgressOf(run), {"credits", 0, std::nullopt, 0, ""});
    if (const auto credited = CreditParts(run); !credited) {
      run.warnings.push_back(fmt::format("actions could not be credited: {}", credited.error().message));
    }
  }
  Report(ProgressOf(run), {"write", 0, std::nullopt, 0, ""});
  return WriteWinner(run);
}

}  // namespace rlc
