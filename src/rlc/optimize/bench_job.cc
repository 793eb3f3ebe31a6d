#include "rlc/optimize/bench_job.h"

#include <algorithm>

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/onnx/import.h"
#include "rlc/optimize/ops_library.h"
#include "rlc/optimize/summary.h"
#include "rlc/ort/runtime.h"

namespace rlc {
namespace {

std::vector<InterfaceValue> InterfaceOf(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<InterfaceValue> values;
  for (ValueId id : ids) {
    if (graph.value(id).kind != Value::Kind::kOverridable) values.push_back({graph.value(id).name, graph.type(id)});
  }
  return values;
}

std::string Milliseconds(double ms) { return FormatSeconds(ms / 1000); }

std::string WithInterval(const Estimate& estimate) {
  return fmt::format("{:.3f} ({:.3f} - {:.3f})", estimate.value, estimate.low, estimate.high);
}

}  // namespace

std::vector<InterfaceValue> InputsOf(const Model& model) { return InterfaceOf(model.graph, model.graph.inputs()); }
std::vector<InterfaceValue> OutputsOf(const Model& model) { return InterfaceOf(model.graph, model.graph.outputs()); }

Expected<BenchResult> BenchFiles(const BenchRequest& request) {
  BenchResult result;
  std::vector<InterfaceValue> interface;
  std::vector<TimedModel> timed;
  for (const std::string& path : request.models) {
    RLC_ASSIGN_OR_RETURN(const Model model, ReadModel(path));
    for (InterfaceValue& input : InputsOf(model)) {
      const auto same = [&](const InterfaceValue& known) { return known.name == input.name; };
      if (std::none_of(interface.begin(), interface.end(), same)) interface.push_back(std::move(input));
    }
    RLC_ASSIGN_OR_RETURN(const auto mapped, MappedFile::Open(path));
    result.file_bytes.push_back(static_cast<int64_t>(mapped->bytes().size()));
    timed.push_back({path, path, request.level, LibrariesFor(model, request.ops_library)});
  }
  RLC_ASSIGN_OR_RETURN(const auto inputs, RandomInputs(interface, request.shapes, request.seed));
  TimingOptions options;
  options.threads = request.threads;
  options.budget_seconds = request.seconds;
  options.seed = request.seed;
  ChildLimits limits;
  limits.seconds = 60 + 10 * request.seconds;
  limits.stop = request.stop;
  RLC_ASSIGN_OR_RETURN(result.timing, TimeModelsInChild(timed, inputs, options, limits));
  result.machine = DescribeMachine();
  RLC_ASSIGN_OR_RETURN(const RuntimeInfo runtime, LoadRuntime());
  result.runtime = runtime.version;
  return result;
}

Json ToJson(const BenchResult& result) {
  Json json = ToJson(result.timing);
  json["machine"] = ToJson(result.machine);
  json["runtime"] = result.runtime;
  json["file_bytes"] = result.file_bytes;
  return json;
}

std::string ToText(const BenchResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"model", "latency", "95 % interval", "time / baseline", "create", "size", ""}};
  const auto add = [&](const Timing& timing, const std::string& bytes) {
    rows.push_back({timing.name, Milliseconds(timing.latency_ms.value),
                    fmt::format("{} - {}", Milliseconds(timing.latency_ms.low), Milliseconds(timing.latency_ms.high)),
                    WithInterval(timing.ratio), Milliseconds(timing.creation_ms), bytes,
                    std::string(ChangeName(timing.change))});
  };
  for (size_t i = 0; i < result.timing.models.size(); ++i) {
    add(result.timing.models[i], FormatBytes(static_cast<double>(result.file_bytes[i])));
  }
  rows[1].back() = "baseline";
  if (result.timing.control) {
    Timing control = *result.timing.control;
    control.name = "(baseline again)";
    add(control, "");
  }
  return FormatTable(rows) +
         fmt::format("\n{} rounds, {} thread{}{}, ONNX Runtime {}, {}; denormals {}{}\n", result.timing.rounds,
                     result.timing.threads, result.timing.threads == 1 ? "" : "s",
                     result.timing.core >= 0 ? fmt::format(" on core {}", result.timing.core) : "", result.runtime,
                     result.machine.cpu, result.timing.denormals_flushed ? "flushed" : "kept",
                     result.timing.stable ? "" : "; warm-up did not settle, the machine is noisy");
}

}  // namespace rlc
