#include "rlc/measure/child.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "rlc/base/clock.h"
#include "rlc/base/file.h"
#include "rlc/data/safetensors.h"
#include "rlc/measure/child_jobs.h"
#include "rlc/measure/tensor_array.h"

namespace rlc {
namespace {

Json ModelToJson(const TimedModel& model) {
  return {{"name", model.name},
          {"path", model.path},
          {"level", OptLevelName(model.level)},
          {"custom_op_libraries", model.custom_op_libraries}};
}

Expected<TimedModel> ModelFromJson(const Json& json) {
  TimedModel model;
  RLC_ASSIGN_OR_RETURN(model.name, GetString(json, "name"));
  RLC_ASSIGN_OR_RETURN(model.path, GetString(json, "path"));
  RLC_ASSIGN_OR_RETURN(const std::string level, GetString(json, "level"));
  RLC_ASSIGN_OR_RETURN(model.level, ParseOptLevel(level));
  RLC_ASSIGN_OR_RETURN(model.custom_op_libraries, GetStrings(json, "custom_op_libraries"));
  return model;
}

Json OptionsToJson(const TimingOptions& options) {
  return {{"threads", options.threads},
          {"budget_seconds", options.budget_seconds},
          {"min_batch_seconds", options.min_batch_seconds},
          {"min_rounds", options.min_rounds},
          {"max_rounds", options.max_rounds},
          {"precision", options.precision},
          {"control", options.control},
          {"pin", options.pin},
          {"confidence", options.confidence},
          {"seed", std::to_string(options.seed)}};  // 64 bits do not fit into a JSON number everywhere
}

Expected<int> GetSmallInt(const Json& json, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const int64_t value, GetInt(json, key));
  return static_cast<int>(value);
}

Expected<TimingOptions> OptionsFromJson(const Json& json) {
  TimingOptions options;
  RLC_ASSIGN_OR_RETURN(options.threads, GetSmallInt(json, "threads"));
  RLC_ASSIGN_OR_RETURN(options.budget_seconds, GetDouble(json, "budget_seconds"));
  RLC_ASSIGN_OR_RETURN(options.min_batch_seconds, GetDouble(json, "min_batch_seconds"));
  RLC_ASSIGN_OR_RETURN(options.min_rounds, GetSmallInt(json, "min_rounds"));
  RLC_ASSIGN_OR_RETURN(options.max_rounds, GetSmallInt(json, "max_rounds"));
  RLC_ASSIGN_OR_RETURN(options.precision, GetDouble(json, "precision"));
  RLC_ASSIGN_OR_RETURN(options.control, GetBool(json, "control"));
  RLC_ASSIGN_OR_RETURN(options.pin, GetBool(json, "pin"));
  RLC_ASSIGN_OR_RETURN(options.confidence, GetDouble(json, "confidence"));
  RLC_ASSIGN_OR_RETURN(const std::string seed, GetString(json, "seed"));
  options.seed = std::strtoull(seed.c_str(), nullptr, 10);
  return options;
}

Expected<std::vector<NamedTensor>> ReadInputs(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const Safetensors file, ReadSafetensors(path));
  std::vector<NamedTensor> inputs;
  for (const auto& [name, stored] : file.arrays) inputs.push_back({name, ToTensor(stored.Load())});
  return inputs;
}

Expected<Json> TimeJob(const Json& request) {
  RLC_ASSIGN_OR_RETURN(const Json* list, GetArray(request, "models"));
  std::vector<TimedModel> models;
  for (const Json& json : *list) {
    RLC_ASSIGN_OR_RETURN(TimedModel model, ModelFromJson(json));
    models.push_back(std::move(model));
  }
  RLC_ASSIGN_OR_RETURN(const Json* options_json, GetObject(request, "options"));
  RLC_ASSIGN_OR_RETURN(const TimingOptions options, OptionsFromJson(*options_json));
  RLC_ASSIGN_OR_RETURN(const std::string inputs_path, GetString(request, "inputs"));
  RLC_ASSIGN_OR_RETURN(const std::vector<NamedTensor> inputs, ReadInputs(inputs_path));
  RLC_ASSIGN_OR_RETURN(const TimingResult result, TimeModels(models, inputs, options, SteadyClock()));
  return ToJson(result);
}

// Inputs of batch `index`, in the order of `wanted`; empty after the last.
Expected<std::vector<NamedTensor>> BatchOf(const Safetensors& file, size_t index,
                                           const std::vector<InterfaceValue>& wanted) {
  const std::string prefix = std::to_string(index) + "/";
  std::vector<NamedTensor> inputs;
  for (const InterfaceValue& input : wanted) {
    const auto stored = file.arrays.find(prefix + input.name);
    if (stored != file.arrays.end()) inputs.push_back({input.name, ToTensor(stored->second.Load())});
  }
  return inputs;
}

Expected<Json> RunJob(const Json& request) {
  RLC_ASSIGN_OR_RETURN(const Json* model_json, GetObject(request, "model"));
  RLC_ASSIGN_OR_RETURN(const TimedModel model, ModelFromJson(*model_json));
  RLC_ASSIGN_OR_RETURN(const std::string batches_path, GetString(request, "batches"));
  RLC_ASSIGN_OR_RETURN(const std::string outputs_path, GetString(request, "outputs"));
  SessionOptions options;
  options.level = model.level;
  options.flush_denormals = false;  // numbers as users get them
  options.custom_op_libraries = model.custom_op_libraries;
  RLC_ASSIGN_OR_RETURN(options.threads, GetSmallInt(request, "threads"));
  RLC_ASSIGN_OR_RETURN(const Session session, Session::FromFile(model.path, options));
  RLC_ASSIGN_OR_RETURN(const Safetensors file, ReadSafetensors(batches_path));
  std::vector<NamedArray> outputs;
  int64_t count = 0;
  RLC_ASSIGN_OR_RETURN(const int64_t batches, GetInt(request, "count"));
  for (; count < batches; ++count) {
    RLC_ASSIGN_OR_RETURN(const auto inputs, BatchOf(file, static_cast<size_t>(count), session.inputs()));
    RLC_ASSIGN_OR_RETURN(const std::vector<Tensor> results, session.Run(inputs));
    for (size_t i = 0; i < results.size(); ++i) {
      RLC_ASSIGN_OR_RETURN(Array array, ToArray(results[i]));
      outputs.push_back({std::to_string(count) + "/" + session.outputs()[i].name, std::move(array)});
    }
  }
  RLC_RETURN_IF_ERROR(WriteSafetensors(outputs_path, outputs));
  std::vector<std::string> names;
  for (const InterfaceValue& output : session.outputs()) names.push_back(output.name);
  return Json{{"names", names}};
}

Expected<Json> EnergyJob(const Json& request) {
  RLC_ASSIGN_OR_RETURN(const Json* model_json, GetObject(request, "model"));
  RLC_ASSIGN_OR_RETURN(const TimedModel model, ModelFromJson(*model_json));
  RLC_ASSIGN_OR_RETURN(const std::string powercap, GetString(request, "powercap"));
  RLC_ASSIGN_OR_RETURN(const Rapl rapl, Rapl::Open(powercap));
  RLC_ASSIGN_OR_RETURN(const std::string inputs_path, GetString(request, "inputs"));
  RLC_ASSIGN_OR_RETURN(std::vector<NamedTensor> inputs, ReadInputs(inputs_path));
  EnergyOptions energy;
  RLC_ASSIGN_OR_RETURN(energy.idle_seconds, GetDouble(request, "idle_seconds"));
  RLC_ASSIGN_OR_RETURN(energy.sample_seconds, GetDouble(request, "sample_seconds"));
  RLC_ASSIGN_OR_RETURN(energy.samples, GetSmallInt(request, "samples"));
  SessionOptions options;
  options.level = model.level;
  options.custom_op_libraries = model.custom_op_libraries;
  RLC_ASSIGN_OR_RETURN(options.threads, GetSmallInt(request, "threads"));
  RLC_ASSIGN_OR_RETURN(const Session session, Session::FromFile(model.path, options));
  RLC_ASSIGN_OR_RETURN(BoundRun bound, BoundRun::Create(session, std::move(inputs)));
  RLC_ASSIGN_OR_RETURN(const Estimate millijoules,
                       MeasureEnergy(
                           rapl, [&] { return bound.Run(); }, energy, SteadyClock(),
                           [](double seconds) { usleep(static_cast<useconds_t>(seconds * 1e6)); }));
  return EstimateToJson(millijoules);
}

Expected<void> WriteInputs(const std::string& path, std::span<const NamedTensor> inputs) {
  RLC_ASSIGN_OR_RETURN(const std::vector<NamedArray> arrays, ToArrays(inputs));
  return WriteSafetensors(path, arrays);
}

}  // namespace

namespace internal {

std::map<std::string, MeasureJob> BuiltInJobs() {
  return {{"time", TimeJob}, {"run", RunJob}, {"energy", EnergyJob}, {"profile", ProfileJob}};
}

}  // namespace internal

Expected<TimingResult> TimeModelsInChild(std::span<const TimedModel> models, std::span<const NamedTensor> inputs,
                                         const TimingOptions& options, const ChildLimits& limits) {
  if (models.empty()) return MakeError(ErrorKind::kUsage, "there is no model to time");
  RLC_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create("rlc-time"));
  const std::string inputs_path = JoinPath(folder.path(), "inputs.safetensors");
  RLC_RETURN_IF_ERROR(WriteInputs(inputs_path, inputs));
  Json list = Json::array();
  for (const TimedModel& model : models) list.push_back(ModelToJson(model));
  const Json request = {{"models", std::move(list)}, {"options", OptionsToJson(options)}, {"inputs", inputs_path}};
  RLC_ASSIGN_OR_RETURN(const ChildReply reply,
                       RunMeasureChild("time", request, "timing " + models.back().name, limits));
  return TimingResultFromJson(reply.result);
}

Expected<void> WriteBatches(const std::string& path, std::span<const std::vector<NamedArray>> batches) {
  std::vector<NamedArray> all;
  for (size_t i = 0; i < batches.size(); ++i) {
    for (const NamedArray& array : batches[i]) all.push_back({std::to_string(i) + "/" + array.name, array.array});
  }
  return WriteSafetensors(path, all, {{"batches", std::to_string(batches.size())}});
}

Expected<RunReply> RunModelInChild(const RunRequest& request, const ChildLimits& limits) {
  RLC_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create("rlc-run"));
  const std::string outputs_path = JoinPath(folder.path(), "outputs.safetensors");
  RLC_ASSIGN_OR_RETURN(const Safetensors batches, ReadSafetensors(request.batches_path));
  const auto noted = batches.metadata.find("batches");
  const int64_t count = noted == batches.metadata.end() ? 0 : std::strtoll(noted->second.c_str(), nullptr, 10);
  const TimedModel model{BaseName(request.model_path), request.model_path, request.level, request.custom_op_libraries};
  const Json json = {{"model", ModelToJson(model)},
                     {"threads", request.threads},
                     {"batches", request.batches_path},
                     {"count", count},
                     {"outputs", outputs_path}};
  RLC_ASSIGN_OR_RETURN(const ChildReply reply, RunMeasureChild("run", json, "running " + model.name, limits));
  RunReply result;
  result.peak_rss_bytes = reply.peak_rss_bytes;
  RLC_ASSIGN_OR_RETURN(result.names, GetStrings(reply.result, "names"));
  RLC_ASSIGN_OR_RETURN(const Safetensors outputs, ReadSafetensors(outputs_path));
  for (int64_t batch = 0; batch < count; ++batch) {
    std::vector<Array>& row = result.batches.emplace_back();
    for (const std::string& name : result.names) {
      const auto stored = outputs.arrays.find(std::to_string(batch) + "/" + name);
      if (stored == outputs.arrays.end()) {
        return MakeError(ErrorKind::kInternal, "{}: batch {} has no output '{}'", model.name, batch, name);
      }
      row.push_back(stored->second.Load());
    }
  }
  return result;
}

Expected<Estimate> MeasureEnergyInChild(const TimedModel& model, std::span<const NamedTensor> inputs, int threads,
                                        const EnergyOptions& options, const ChildLimits& limits,
                                        const std::string& powercap) {
  RLC_RETURN_IF_ERROR(Rapl::Open(powercap));  // no child where there is nothing to read
  RLC_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create("rlc-energy"));
  const std::string inputs_path = JoinPath(folder.path(), "inputs.safetensors");
  RLC_RETURN_IF_ERROR(WriteInputs(inputs_path, inputs));
  const Json request = {{"model", ModelToJson(model)},
                        {"threads", threads},
                        {"inputs", inputs_path},
                        {"powercap", powercap},
                        {"idle_seconds", options.idle_seconds},
                        {"sample_seconds", options.sample_seconds},
                        {"samples", options.samples}};
  RLC_ASSIGN_OR_RETURN(const ChildReply reply, RunMeasureChild("energy", request, "energy of " + model.name, limits));
  return EstimateFromJson(reply.result);
}

}  // namespace rlc
