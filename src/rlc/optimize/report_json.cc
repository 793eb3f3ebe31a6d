// report.json: what an optimization found, for people and programs. Schema: docs/report-schema.md.

#include <algorithm>
#include <cmath>

#include "rlc/base/format.h"
#include "rlc/optimize/optimize_run.h"

namespace rlc {
namespace {

constexpr int kSchemaVersion = 1;

Json OptionalEstimate(const std::optional<Estimate>& estimate) { return estimate ? EstimateToJson(*estimate) : Json(); }

// Speed-up and its interval from a ratio of times: the ends change places.
Estimate SpeedUp(const Estimate& ratio) { return {1 / ratio.value, 1 / ratio.high, 1 / ratio.low, ratio.samples, "x"}; }

// Energy of one run, before and after, where the machine's counters could be read while searching.
Json EnergyOf(const OptimizeRun& run, const Finalist& winner) {
  for (const SearchTrial& trial : run.search.trials) {
    const bool same = !winner.original && trial.candidate == Normalized(run.catalogue, winner.candidate);
    if (same && trial.costs && trial.costs->energy_mj) return EstimateToJson(*trial.costs->energy_mj);
  }
  return {};
}

Json VerdictOf(const OptimizeRun& run) {
  const Finalist& winner = run.finalists[static_cast<size_t>(run.winner)];
  Json verdict = {{"improved", run.winner != 0},
                  {"chosen", winner.description},
                  {"exact_only", winner.exact_only()},
                  {"needs_library", winner.has_regions()},
                  {"speedup", EstimateToJson(SpeedUp(winner.timing.ratio))},
                  {"latency_before", EstimateToJson(run.finalists[0].timing.latency_ms)},
                  {"latency_after", EstimateToJson(winner.timing.latency_ms)},
                  {"max_drop", run.request.max_drop},
                  {"metric", run.search_judge->metric()},
                  {"random_data", run.data->random()},
                  {"bytes_before", run.finalists[0].file_bytes},
                  {"bytes_after", winner.file_bytes},
                  {"drop", OptionalEstimate(winner.final_drop)},
                  {"energy", EnergyOf(run, winner)},
                  {"reason", run.reason},
                  {"interrupted", run.request.stop.StopRequested()}};
  if (run.request.min_gain) {
    verdict["goal"] = {{"min_gain", *run.request.min_gain},
                       {"missed", 1 / winner.timing.ratio.value < *run.request.min_gain}};
  }
  return verdict;
}

Json TrialsOf(const OptimizeRun& run) {
  Json trials = Json::array();
  for (const SearchTrial& trial : run.search.trials) {
    Json row = {{"name", Describe(run.catalogue, trial.candidate)},
                {"actions", trial.candidate.size()},
                {"evaluation", trial.evaluation},
                {"seconds", trial.seconds}};
    if (trial.costs) {
      row["ratio"] = EstimateToJson(trial.costs->ratio);
      row["drop"] = OptionalEstimate(trial.costs->drop);
    } else {
      row["failure"] = trial.failure;
    }
    trials.push_back(std::move(row));
  }
  return trials;
}

// Largest relative RMS of an output; null also when the outputs cannot be compared at all.
Json DeviationOf(const Finalist& finalist) {
  if (!finalist.deviation || !std::isfinite(finalist.deviation->relative_rms)) return {};
  return finalist.deviation->relative_rms;
}

Json FinalistsOf(const OptimizeRun& run) {
  Json finalists = Json::array();
  for (size_t i = 0; i < run.finalists.size(); ++i) {
    const Finalist& finalist = run.finalists[i];
    finalists.push_back(
        {{"name", finalist.description},
         {"latency", EstimateToJson(finalist.timing.latency_ms)},
         {"ratio", EstimateToJson(finalist.timing.ratio)},
         {"change", ChangeName(finalist.timing.change)},
         {"bytes", finalist.file_bytes},
         {"search_drop", OptionalEstimate(finalist.search_drop)},
         {"final_drop", OptionalEstimate(finalist.final_drop)},
         {"without_library", finalist.plain_timing ? EstimateToJson(finalist.plain_timing->ratio) : Json()},
         {"deviation", DeviationOf(finalist)},
         {"winner", static_cast<int>(i) == run.winner}});
  }
  return finalists;
}

Json LayersOf(const OptimizeRun& run) {
  const Finalist& winner = run.finalists[static_cast<size_t>(run.winner)];
  Json layers = Json::array();
  for (const LayerEntry& layer : run.catalogue.layers) {
    const auto chosen = [&](ActionType type) {
      const int entry = run.catalogue.Find(type, layer.number);
      return std::find(winner.candidate.begin(), winner.candidate.end(), entry) != winner.candidate.end();
    };
    const auto region_form = [&](int number) -> std::string {
      if (!winner.has_regions() || !run.form_ms.contains(number)) return "";
      const auto form = winner.forms.find(number);
      return form != winner.forms.end() ? form->second : "direct";
    };
    Json row = {{"number", layer.number},
                {"name", layer.name},
                {"signature", layer.signature},
                {"form", winner.original                      ? "as it was"
                         : !region_form(layer.number).empty() ? region_form(layer.number)
                         : chosen(ActionType::kQuantize)      ? "int8"
                                                              : "float"},
                {"pruned", chosen(ActionType::kPrune)}};
    const auto ran =
        std::find_if(run.ran.begin(), run.ran.end(), [&](const RanAs& r) { return r.layer == layer.number; });
    if (ran != run.ran.end() && ran->found()) row["ran_as"] = ran->op;
    if (const auto ms = run.form_ms.find(layer.number); ms != run.form_ms.end()) row["region_ms"] = ms->second;
    if (run.surrogate) {
      const LayerTimes& times = run.surrogate->tables().layers[static_cast<size_t>(layer.number)];
      row["float_ms"] = times.float_ms;
      row["int8_ms"] = times.int8_ms;
    }
    layers.push_back(std::move(row));
  }
  return layers;
}

Json PlanOf(const OptimizeRun& run) {
  const Finalist& winner = run.finalists[static_cast<size_t>(run.winner)];
  Json actions = Json::array();
  if (!winner.original) {
    for (const Action& action : winner.plan.actions) actions.push_back(action.Name());
  }
  Json credits = Json::array();
  for (const Credit& credit : run.credits)
    credits.push_back({{"name", credit.name}, {"without", EstimateToJson(credit.ratio)}});
  return {{"actions", std::move(actions)}, {"credits", std::move(credits)}};
}

Json LearningOf(const OptimizeRun& run) {
  if (!run.trained) return {};
  Json curve = Json::array();
  for (const auto& [timesteps, gain] : run.trained->curve) curve.push_back({timesteps, gain});
  return {{"curve", std::move(curve)}, {"summary", ToJson(run.trained->summary)}};
}

Json RefusalsOf(const Catalogue& catalogue) {
  Json refusals = Json::array();
  for (const Catalogue::Refused& refused : catalogue.refusals) {
    refusals.push_back(
        {{"action", ActionTypeName(refused.type)}, {"layer", refused.layer}, {"reason", refused.reason}});
  }
  return refusals;
}

Json NotMeasuredOf(const OptimizeRun& run) {
  Json list = Json::array();
  if (const auto rapl = Rapl::Open(); !rapl) list.push_back("energy: " + rapl.error().message);
  if (run.data->random()) list.push_back("accuracy on real data: no --data was given");
  return list;
}

}  // namespace

Json MakeReport(const OptimizeRun& run) {
  Json phases = Json::array();
  for (const PhaseTime& phase : run.phases) phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}});
  Json report = {
      {"schema", kSchemaVersion},
      {"model", {{"path", run.request.input}, {"hash", run.hash}, {"nodes", run.model.graph.nodes().size()}}},
      {"output", run.request.output},
      {"verdict", VerdictOf(run)},
      {"finalists", FinalistsOf(run)},
      {"trials", TrialsOf(run)},
      {"method", run.method},
      {"layers", LayersOf(run)},
      {"plan", PlanOf(run)},
      {"learning", LearningOf(run)},
      {"refusals", RefusalsOf(run.catalogue)},
      {"data",
       {{"description", run.data->dataset.Describe()},
        {"calibration_rows", run.calibration_rows},
        {"search_rows", run.search_judge->rows()},
        {"final_rows", run.final_rows},
        {"metric", run.search_judge->metric()},
        {"baseline_score", run.search_judge->baseline().value}}},
      {"timing",
       {{"rounds", run.timing.rounds},
        {"threads", run.timing.threads},
        {"pinned_core", run.timing.core},
        {"stable", run.timing.stable},
        {"denormals_flushed", run.timing.denormals_flushed},
        {"control", run.timing.control ? EstimateToJson(run.timing.control->ratio) : Json()}}},
      {"machine", ToJson(run.machine)},
      {"runtime", run.runtime.version},
      {"command", run.request.command},
      {"seed", run.request.seed},
      {"phases", std::move(phases)},
      {"not_measured", NotMeasuredOf(run)},
      {"warnings", run.warnings}};
  return report;
}

}  // namespace rlc
