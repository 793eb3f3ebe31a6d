#include "rlc/measure/measured_evaluator.h"

#include <utility>

#include "rlc/base/hash.h"
#include "rlc/base/log.h"
#include "rlc/onnx/export.h"
#include "rlc/ort/runtime.h"

namespace rlc {

Expected<MeasuredEvaluator> MeasuredEvaluator::Create(MeasuredSetup setup) {
  RLC_CHECK(setup.model != nullptr && setup.catalogue != nullptr && setup.wall_clock);
  RLC_ASSIGN_OR_RETURN(TempDir folder, TempDir::Create("rlc-candidates"));
  RLC_ASSIGN_OR_RETURN(RuntimeInfo runtime, LoadRuntime());
  return MeasuredEvaluator(std::move(setup), std::move(folder), std::move(runtime.version));
}

Expected<std::string> MeasuredEvaluator::BytesOf(const Candidate& candidate) const {
  const Plan plan = ToPlan(*setup_.catalogue, candidate, setup_.model_hash);
  RLC_ASSIGN_OR_RETURN(const Model optimized, ApplyPlan(*setup_.model, plan, setup_.services));
  return SerializeModel(optimized);
}

Expected<std::optional<Trial>> MeasuredEvaluator::Look(const TrialKey& key) const {
  if (setup_.store == nullptr || !setup_.reuse) return std::optional<Trial>();
  return setup_.store->Find(key);
}

Expected<Costs> MeasuredEvaluator::Measure(const std::string& bytes, const std::string& name) {
  const std::string path = JoinPath(folder_.path(), "candidate.onnx");
  RLC_RETURN_IF_ERROR(WriteFileAtomically(path, bytes));
  ChildLimits limits = setup_.limits;
  limits.stop = setup_.stop;
  const std::vector<TimedModel> models = {{"baseline", setup_.model_path, OptLevel::kAll, {}},
                                          {name, path, OptLevel::kAll, {}}};
  RLC_ASSIGN_OR_RETURN(const TimingResult timing,
                       TimeModelsInChild(models, setup_.timing_inputs, setup_.timing, limits));
  Costs costs;
  costs.source = CostSource::kMeasured;
  costs.latency_ms = timing.models[1].latency_ms;
  costs.ratio = timing.models[1].ratio;
  costs.file_bytes = static_cast<int64_t>(bytes.size());
  if (setup_.judge != nullptr) {
    RLC_ASSIGN_OR_RETURN(const Accuracy accuracy, setup_.judge->Judge(path, setup_.stop));
    costs.drop = accuracy.drop;
    costs.peak_bytes = static_cast<int64_t>(accuracy.peak_rss_bytes);
  }
  if (setup_.energy && energy_readable_) {
    auto energy = MeasureEnergyInChild(models[1], setup_.timing_inputs, setup_.timing.threads, *setup_.energy, limits,
                                       setup_.powercap);
    if (energy) {
      costs.energy_mj = *std::move(energy);
    } else if (energy.error().kind == ErrorKind::kInterrupted) {
      return Unexpected(energy.error());
    } else {
      Log(Severity::kInfo, "{}", energy.error().message);
      energy_readable_ = false;  // it will not become readable while we run
    }
  }
  return costs;
}

Expected<Costs> MeasuredEvaluator::Evaluate(const Candidate& candidate) {
  const Candidate normalized = Normalized(*setup_.catalogue, candidate);
  if (const auto known = known_.find(normalized); known != known_.end()) return known->second;
  if (setup_.stop.StopRequested()) return MakeError(ErrorKind::kInterrupted, "measuring was interrupted");
  const std::string name = Describe(*setup_.catalogue, normalized);
  const auto bytes = BytesOf(normalized);
  if (!bytes) {
    return known_.emplace(normalized, WithContext(bytes.error(), name)).first->second;
  }
  Trial trial;
  trial.key = {setup_.model_hash,
               ContentHash(*bytes),
               setup_.timing.threads,
               setup_.machine,
               runtime_,
               setup_.judge != nullptr ? setup_.judge->key() : ""};
  RLC_ASSIGN_OR_RETURN(const std::optional<Trial> stored, Look(trial.key));
  // A stored failure is tried again: it may have been the machine's.
  if (stored && stored->costs) return known_.emplace(normalized, *stored->costs).first->second;

  ++evaluations_;
  trial.plan = name;
  trial.unix_seconds = setup_.wall_clock();
  Expected<Costs> costs = Measure(*bytes, name);
  if (!costs && costs.error().kind == ErrorKind::kInterrupted) {
    --evaluations_;
    return costs;
  }
  trial.seconds = setup_.wall_clock() - trial.unix_seconds;
  if (costs) {
    trial.costs = *costs;
  } else {
    trial.failure = costs.error().message;
  }
  if (setup_.store != nullptr) RLC_RETURN_IF_ERROR(setup_.store->Add(trial));
  return known_.emplace(normalized, std::move(costs)).first->second;
}

}  // namespace rlc
