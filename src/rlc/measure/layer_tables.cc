#include "rlc/measure/layer_tables.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "rlc/base/clock.h"
#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/measure/child.h"
#include "rlc/measure/inputs.h"
#include "rlc/measure/layer_models.h"
#include "rlc/onnx/export.h"
#include "rlc/ort/runtime.h"

namespace rlc {
namespace {

// Models that one child times together: starting one costs more than timing one.
constexpr size_t kModelsEach = 8;

struct Entry {
  std::string signature, form;
  std::function<Expected<Model>(const std::string& input)> build;
};

// An entry's model, ready to be timed.
struct Ready {
  const Entry* entry = nullptr;
  TimedModel model;
  std::vector<NamedTensor> inputs;
};

Expected<Model> Inside(Expected<Model> model, const std::string& input) {
  if (!model) return model;
  return InsideNetwork(*model, input);
}

std::vector<Entry> EntriesFor(std::span<const LayerShape> layers) {
  std::vector<Entry> entries;
  std::set<std::pair<std::string, std::string>> known;
  const auto add = [&](const std::string& signature, const std::string& form, auto build) {
    if (known.emplace(signature, form).second) entries.push_back({signature, form, std::move(build)});
  };
  for (const LayerShape& shape : layers) {
    const std::string signature = LayerSignature(shape);
    add(signature, "float", [shape](const std::string& input) { return Inside(FloatLayerModel(shape, input), input); });
    add(signature, "int8", [shape](const std::string& input) { return Inside(Int8LayerModel(shape, input), input); });
    for (const std::vector<int64_t>& dims : {shape.input, shape.output}) {
      if (dims.empty()) continue;
      add(BorderSignature(dims), "quantize", [dims](const std::string& input) { return QuantizeModel(dims, input); });
      add(BorderSignature(dims), "dequantize",
          [dims](const std::string& input) { return DequantizeModel(dims, input); });
    }
  }
  return entries;
}

Expected<Ready> Prepare(const Entry& entry, const std::string& folder, size_t index) {
  const std::string input = "x" + std::to_string(index);
  RLC_ASSIGN_OR_RETURN(const Model model, entry.build(input));
  Ready ready;
  ready.entry = &entry;
  // Already what the runtime makes of it; optimizing again would put the layout changes back.
  ready.model = {
      entry.signature + " " + entry.form, JoinPath(folder, std::to_string(index) + ".onnx"), OptLevel::kNone, {}};
  RLC_RETURN_IF_ERROR(WriteModel(model, ready.model.path));
  std::vector<InterfaceValue> inputs;
  for (const ValueId id : model.graph.inputs()) inputs.push_back({model.graph.value(id).name, model.graph.type(id)});
  RLC_ASSIGN_OR_RETURN(ready.inputs, RandomInputs(inputs, {}, index));
  return ready;
}

class Measurer {
 public:
  Measurer(const std::string& machine, std::string runtime, TrialStore& store, const LayerTableOptions& options)
      : machine_(machine), runtime_(std::move(runtime)), store_(store), options_(options) {}

  // Times all in one child; if that fails, each in one of its own, so that a bad one costs only itself.
  Expected<void> Measure(std::span<const Ready> group, LayerTables& tables) {
    auto timed = Time(group);
    if (timed) {
      for (size_t i = 0; i < group.size(); ++i) {
        RLC_RETURN_IF_ERROR(Keep(*group[i].entry, timed->models[i].latency_ms, tables));
      }
      return {};
    }
    if (timed.error().kind == ErrorKind::kInterrupted) return Unexpected(timed.error());
    if (group.size() == 1) {
      Log(Severity::kInfo, "{}: not measured: {}", group[0].model.name, timed.error().message);
      return {};
    }
    for (size_t i = 0; i < group.size(); ++i) RLC_RETURN_IF_ERROR(Measure(group.subspan(i, 1), tables));
    return {};
  }

 private:
  Expected<TimingResult> Time(std::span<const Ready> group) const {
    std::vector<TimedModel> models;
    std::vector<NamedTensor> inputs;
    for (const Ready& ready : group) {
      models.push_back(ready.model);
      inputs.insert(inputs.end(), ready.inputs.begin(), ready.inputs.end());
    }
    TimingOptions timing;
    timing.threads = options_.threads;
    timing.budget_seconds = options_.seconds_each * static_cast<double>(group.size());
    timing.min_batch_seconds = 0.003;
    timing.min_rounds = 9;
    timing.precision = 0;  // the ratios of different layers mean nothing
    timing.control = false;
    ChildLimits limits;
    limits.seconds = options_.child_seconds;
    limits.stop = options_.stop;
    return TimeModelsInChild(models, inputs, timing, limits);
  }

  Expected<void> Keep(const Entry& entry, const Estimate& ms, LayerTables& tables) {
    tables.ms[entry.signature][entry.form] = ms;
    return store_.AddLayerTime({entry.signature, entry.form, options_.threads, machine_, runtime_, ms});
  }

  const std::string& machine_;
  std::string runtime_;
  TrialStore& store_;
  const LayerTableOptions& options_;
};

}  // namespace

const Estimate* LayerTables::Find(const std::string& signature, const std::string& form) const {
  const auto forms = ms.find(signature);
  if (forms == ms.end()) return nullptr;
  const auto found = forms->second.find(form);
  return found == forms->second.end() ? nullptr : &found->second;
}

std::string BorderSignature(const std::vector<int64_t>& dims) { return "border " + FormatShape(dims); }

Expected<LayerTables> MeasureLayers(std::span<const LayerShape> layers, const std::string& machine, TrialStore& store,
                                    const LayerTableOptions& options, const ProgressSink& progress) {
  RLC_ASSIGN_OR_RETURN(const RuntimeInfo runtime, LoadRuntime());
  RLC_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create("rlc-layers"));
  LayerTables stored, tables;
  RLC_ASSIGN_OR_RETURN(const std::vector<LayerTime> times, store.LayerTimes(machine, runtime.version, options.threads));
  for (const LayerTime& time : times) stored.ms[time.signature][time.form] = time.ms;

  const std::vector<Entry> entries = EntriesFor(layers);
  Measurer measurer(machine, runtime.version, store, options);
  std::vector<Ready> group;
  const auto flush = [&]() -> Expected<void> {
    if (group.empty()) return {};
    RLC_RETURN_IF_ERROR(measurer.Measure(group, tables));
    for (const Ready& ready : group) std::remove(ready.model.path.c_str());
    group.clear();
    return {};
  };
  const Clock clock = SteadyClock();
  const double begin = clock();
  for (size_t i = 0; i < entries.size(); ++i) {
    Report(progress,
           {"layer tables", static_cast<double>(i), static_cast<double>(entries.size()), clock() - begin, ""});
    if (options.stop.StopRequested()) return MakeError(ErrorKind::kInterrupted, "measuring layers was interrupted");
    if (const Estimate* known = stored.Find(entries[i].signature, entries[i].form)) {
      tables.ms[entries[i].signature][entries[i].form] = *known;
      continue;
    }
    auto ready = Prepare(entries[i], folder.path(), i);
    if (!ready) {
      Log(Severity::kInfo, "{} {}: not measured: {}", entries[i].signature, entries[i].form, ready.error().message);
      continue;
    }
    group.push_back(*std::move(ready));
    if (group.size() == kModelsEach) RLC_RETURN_IF_ERROR(flush());
  }
  RLC_RETURN_IF_ERROR(flush());
  return tables;
}

}  // namespace rlc
