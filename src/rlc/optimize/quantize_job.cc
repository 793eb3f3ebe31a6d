#include "rlc/optimize/quantize_job.h"

#include <algorithm>

#include "rlc/base/format.h"
#include "rlc/ir/layers.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"
#include "rlc/optimize/apply_job.h"
#include "rlc/optimize/output_paths.h"
#include "rlc/optimize/services.h"
#include "rlc/optimize/summary.h"
#include "rlc/ort/runtime.h"
#include "rlc/rewrite/approximate/resolve.h"

namespace rlc {
namespace {

constexpr int kPerChannelOpset = 13;  // DequantizeLinear learned about axes there

bool Names(const std::vector<std::string>& list, const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return std::any_of(list.begin(), list.end(), [&](const std::string& entry) {
    return entry == std::to_string(node.layer) || (!node.name.empty() && entry == node.name) ||
           entry == graph.value(node.output(0)).name;
  });
}

// Every entry of --include and --exclude must mean a layer: a typo would silently change the result.
Expected<void> CheckNames(const std::vector<std::string>& list, const Graph& graph, std::string_view flag) {
  for (const std::string& entry : list) {
    const bool found = std::any_of(graph.nodes().begin(), graph.nodes().end(),
                                   [&](NodeId id) { return graph.node(id).layer >= 0 && Names({entry}, graph, id); });
    if (!found) {
      return MakeError(ErrorKind::kUsage,
                       "{} '{}': no layer has this number, node name or output; 'rlc inspect MODEL' lists them", flag,
                       entry);
    }
  }
  return {};
}

std::string NameOf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.name.empty() ? graph.value(node.output(0)).name : node.name;
}

// Asks the runtime what it makes of the written model, at each level that fuses anything; `ran_as` is what users run.
Expected<void> ReadBack(const Model& written, const QuantizeRequest& request, QuantizeResult& result) {
  RLC_ASSIGN_OR_RETURN(const RuntimeInfo runtime, LoadRuntime());
  result.runtime = runtime.version;
  for (const OptLevel level : {OptLevel::kBasic, OptLevel::kExtended, OptLevel::kAll}) {
    RLC_ASSIGN_OR_RETURN(const std::vector<RanAs> ran, WhatRan(written, request.output, level));
    for (const RanAs& layer : ran) {
      const auto row = std::find_if(result.layers.begin(), result.layers.end(),
                                    [&](const QuantizedLayer& candidate) { return candidate.number == layer.layer; });
      if (row == result.layers.end()) continue;
      row->ran_as = layer.found() ? layer.op : "not found";
      row->as_planned = layer.as_planned && layer.planned == row->planned;
      if (!row->as_planned) {
        return MakeError(ErrorKind::kCheckFailed,
                         "layer {} ({}) was planned as {}, but ONNX Runtime {} at level {} runs it as {}; nothing was "
                         "written. Leave it out with --exclude {}",
                         row->number, row->name, row->planned ? "int8" : "float", runtime.version, OptLevelName(level),
                         row->ran_as, row->number);
      }
    }
  }
  return {};
}

}  // namespace

std::vector<Action> QuantizationPrologue(const Model& model) {
  std::vector<Action> actions;
  if (model.graph.opset() < kPerChannelOpset) actions.push_back({"raise-opset", std::to_string(kPerChannelOpset), {}});
  actions.push_back({"simplify", "*", {}});
  return actions;
}

Expected<QuantizePlan> PlanQuantization(const Model& model, const DataSetup& data, const QuantizeRequest& request,
                                        const Scheme& scheme) {
  RLC_RETURN_IF_ERROR(CheckNames(request.include, model.graph, "--include"));
  RLC_RETURN_IF_ERROR(CheckNames(request.exclude, model.graph, "--exclude"));
  QuantizePlan result;
  result.plan.actions = QuantizationPrologue(model);
  StandardServices services(model);
  RLC_ASSIGN_OR_RETURN(const Model prepared, ApplyPlan(model, result.plan, services.get()));
  CalibrationRequest calibration{scheme, request.range, 512, request.threads, request.stop};
  RLC_ASSIGN_OR_RETURN(const CalibrationOutcome outcome, CalibrateModel(prepared, data, calibration));
  result.calibration_rows = outcome.rows;
  for (NodeId id : model.graph.nodes()) {
    const int number = model.graph.node(id).layer;
    if (number < 0) continue;
    QuantizedLayer row;
    row.number = number;
    row.name = NameOf(model.graph, id);
    if (FindLayer(prepared.graph, number) == NodeId::kNone) {
      row.refused = "an exact rewrite merged it into another layer";
      row.ran_as = "nothing";
      row.as_planned = true;
      result.layers.push_back(std::move(row));
      continue;
    }
    const bool chosen = (request.include.empty() || Names(request.include, model.graph, id)) &&
                        !Names(request.exclude, model.graph, id);
    if (chosen) {
      if (auto action = ResolveQuantize(prepared.graph, number, outcome.calibration, scheme)) {
        result.plan.actions.push_back(*std::move(action));
        row.planned = true;
      } else {
        row.refused = action.error().message;
      }
    }
    result.layers.push_back(std::move(row));
  }
  return result;
}

Expected<QuantizeResult> QuantizeFile(const QuantizeRequest& request) {
  RLC_ASSIGN_OR_RETURN(const Model model, ReadModel(request.input));
  RLC_ASSIGN_OR_RETURN(const DataSetup data, SetUpData(model, request.data));
  QuantizeResult result;
  result.scheme = request.scheme ? *request.scheme : SchemeFor(DescribeMachine());
  result.random_data = data.random();
  RLC_ASSIGN_OR_RETURN(QuantizePlan planned, PlanQuantization(model, data, request, result.scheme));
  result.calibration_rows = planned.calibration_rows;
  result.layers = planned.layers;
  if (std::none_of(result.layers.begin(), result.layers.end(), [](const QuantizedLayer& row) { return row.planned; })) {
    const std::string reason = result.layers.empty() ? "it has no Conv, Gemm or MatMul with constant weights"
                                                     : "layer 0: " + result.layers.front().refused;
    return MakeError(ErrorKind::kInvalidInput, "{}: no layer can be quantized ({})", request.input, reason);
  }
  RLC_ASSIGN_OR_RETURN(planned.plan.model_hash, HashModelFile(request.input));
  StandardServices services(model);
  RLC_ASSIGN_OR_RETURN(const Model quantized, ApplyPlan(model, planned.plan, services.get()));
  RLC_RETURN_IF_ERROR(ReadBack(quantized, request, result));
  RLC_RETURN_IF_ERROR(WriteModel(quantized, request.output));
  RLC_RETURN_IF_ERROR(WritePlan(
      planned.plan, request.plan_path.empty() ? BesideOutput(request.output, ".plan.json") : request.plan_path));
  return result;
}

Json ToJson(const QuantizeResult& result) {
  Json layers = Json::array();
  for (const QuantizedLayer& row : result.layers) {
    Json json = {{"layer", row.number},
                 {"name", row.name},
                 {"planned", row.planned ? "int8" : "float"},
                 {"ran_as", row.ran_as},
                 {"as_planned", row.as_planned}};
    if (!row.refused.empty()) json["refused"] = row.refused;
    layers.push_back(std::move(json));
  }
  return {{"scheme", result.scheme.Name()},
          {"calibration_rows", result.calibration_rows},
          {"random_data", result.random_data},
          {"runtime", result.runtime},
          {"layers", std::move(layers)}};
}

std::string ToText(const QuantizeResult& result) {
  std::vector<std::vector<std::string>> rows = {{"layer", "planned", "runs as"}};
  std::string refusals;
  for (const QuantizedLayer& row : result.layers) {
    rows.push_back({fmt::format("{:>3} {}", row.number, row.name), row.planned ? "int8" : "float", row.ran_as});
    if (!row.refused.empty()) refusals += fmt::format("layer {} is not quantized: {}\n", row.number, row.refused);
  }
  return FormatTable(rows) + refusals +
         fmt::format("\nscheme {}, calibrated on {} {} samples; what runs was read back from ONNX Runtime {}\n",
                     result.scheme.Name(), result.calibration_rows, result.random_data ? "RANDOM" : "real",
                     result.runtime);
}

}  // namespace rlc
