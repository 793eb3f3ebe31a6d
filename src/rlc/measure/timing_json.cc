// Timing results as JSON, for reports and on the way out of the measuring child process.
#include <limits>
#include <utility>

#include "rlc/measure/timing.h"

namespace rlc {
namespace {

Json TimingToJson(const Timing& timing) {
  return {{"name", timing.name},
          {"creation_ms", timing.creation_ms},
          {"runs_per_batch", timing.runs_per_batch},
          {"run_ms", timing.run_ms},
          {"discarded", timing.discarded},
          {"disturbed", timing.disturbed},
          {"latency_ms", EstimateToJson(timing.latency_ms)},
          {"ratio", EstimateToJson(timing.ratio)},
          {"change", ChangeName(timing.change)}};
}

// JSON has no infinities: an unbounded side is null.
Expected<double> GetBound(const Json& json, std::string_view key, double unbounded) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(json, key));
  if (field->is_null()) return unbounded;
  return GetDouble(json, key);
}

Expected<Change> ParseChange(std::string_view name) {
  for (const Change change : {Change::kFaster, Change::kSlower, Change::kNone}) {
    if (name == ChangeName(change)) return change;
  }
  return MakeError(ErrorKind::kInvalidInput, "'{}' is no outcome of a timing", name);
}

Expected<Timing> TimingFromJson(const Json& json) {
  Timing timing;
  RLC_ASSIGN_OR_RETURN(timing.name, GetString(json, "name"));
  RLC_ASSIGN_OR_RETURN(timing.creation_ms, GetDouble(json, "creation_ms"));
  RLC_ASSIGN_OR_RETURN(const int64_t runs, GetInt(json, "runs_per_batch"));
  timing.runs_per_batch = static_cast<int>(runs);
  RLC_ASSIGN_OR_RETURN(timing.run_ms, GetDoubles(json, "run_ms"));
  RLC_ASSIGN_OR_RETURN(const int64_t discarded, GetInt(json, "discarded"));
  timing.discarded = static_cast<int>(discarded);
  RLC_ASSIGN_OR_RETURN(timing.disturbed, GetBool(json, "disturbed"));
  RLC_ASSIGN_OR_RETURN(const Json* latency, GetObject(json, "latency_ms"));
  RLC_ASSIGN_OR_RETURN(timing.latency_ms, EstimateFromJson(*latency));
  RLC_ASSIGN_OR_RETURN(const Json* ratio, GetObject(json, "ratio"));
  RLC_ASSIGN_OR_RETURN(timing.ratio, EstimateFromJson(*ratio));
  RLC_ASSIGN_OR_RETURN(const std::string change, GetString(json, "change"));
  RLC_ASSIGN_OR_RETURN(timing.change, ParseChange(change));
  return timing;
}

}  // namespace

Json EstimateToJson(const Estimate& estimate) {
  return {{"value", estimate.value},
          {"low", estimate.low},
          {"high", estimate.high},
          {"samples", estimate.samples},
          {"unit", estimate.unit}};
}

Expected<Estimate> EstimateFromJson(const Json& json) {
  Estimate estimate;
  RLC_ASSIGN_OR_RETURN(estimate.value, GetDouble(json, "value"));
  RLC_ASSIGN_OR_RETURN(estimate.low, GetBound(json, "low", -std::numeric_limits<double>::infinity()));
  RLC_ASSIGN_OR_RETURN(estimate.high, GetBound(json, "high", std::numeric_limits<double>::infinity()));
  RLC_ASSIGN_OR_RETURN(const int64_t samples, GetInt(json, "samples"));
  estimate.samples = static_cast<size_t>(samples);
  RLC_ASSIGN_OR_RETURN(estimate.unit, GetString(json, "unit"));
  return estimate;
}

Json ToJson(const TimingResult& result) {
  Json models = Json::array();
  for (const Timing& timing : result.models) models.push_back(TimingToJson(timing));
  Json json = {{"models", std::move(models)}, {"rounds", result.rounds},
               {"threads", result.threads},   {"core", result.core},
               {"stable", result.stable},     {"denormals_flushed", result.denormals_flushed},
               {"seconds", result.seconds}};
  if (result.control) json["control"] = TimingToJson(*result.control);
  return json;
}

Expected<TimingResult> TimingResultFromJson(const Json& json) {
  TimingResult result;
  RLC_ASSIGN_OR_RETURN(const Json* models, GetArray(json, "models"));
  for (const Json& model : *models) {
    RLC_ASSIGN_OR_RETURN(Timing timing, TimingFromJson(model));
    result.models.push_back(std::move(timing));
  }
  if (result.models.empty()) return MakeError(ErrorKind::kInvalidInput, "a timing without models");
  if (json.contains("control")) {
    RLC_ASSIGN_OR_RETURN(const Json* control, GetObject(json, "control"));
    RLC_ASSIGN_OR_RETURN(result.control, TimingFromJson(*control));
  }
  RLC_ASSIGN_OR_RETURN(const int64_t rounds, GetInt(json, "rounds"));
  RLC_ASSIGN_OR_RETURN(const int64_t threads, GetInt(json, "threads"));
  RLC_ASSIGN_OR_RETURN(const int64_t core, GetInt(json, "core"));
  result.rounds = static_cast<int>(rounds);
  result.threads = static_cast<int>(threads);
  result.core = static_cast<int>(core);
  RLC_ASSIGN_OR_RETURN(result.stable, GetBool(json, "stable"));
  RLC_ASSIGN_OR_RETURN(result.denormals_flushed, GetBool(json, "denormals_flushed"));
  RLC_ASSIGN_OR_RETURN(result.seconds, GetDouble(json, "seconds"));
  return result;
}

}  // namespace rlc
