#include "rlc/optimize/inspect_job.h"

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/ir/layers.h"
#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"
#include "rlc/optimize/services.h"

namespace rlc {
namespace {

std::vector<std::string> InterfaceText(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> lines;
  for (ValueId id : ids) lines.push_back(fmt::format("{} {}", graph.value(id).name, ToString(graph.type(id))));
  return lines;
}

std::vector<LayerRow> LayerRows(const Graph& graph) {
  std::vector<LayerRow> rows;
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.layer < 0) continue;
    LayerRow row;
    row.number = node.layer;
    row.name = node.name.empty() ? graph.value(node.output(0)).name : node.name;
    if (const auto shape = DescribeLayer(graph, id)) {
      row.signature = LayerSignature(*shape);
      row.macs = shape->macs;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Expected<void> AddRuntimeGraph(const Model& model, const InspectRequest& request, InspectResult& result) {
  RLC_ASSIGN_OR_RETURN(const std::string bytes, SerializeModel(model));
  RLC_ASSIGN_OR_RETURN(const RuntimeGraph ran, ReadRuntimeGraph(bytes, request.input, *request.runtime_level));
  result.runtime = Summarize(ran.model);
  result.runtime_version = ran.runtime_version;
  RLC_ASSIGN_OR_RETURN(const std::vector<RanAs> layers, WhatRan(model, request.input, *request.runtime_level));
  for (const RanAs& layer : layers) {
    for (LayerRow& row : result.layers) {
      if (row.number == layer.layer) {
        row.ran_as = layer.found() ? fmt::format("{}{}", layer.op, layer.integer ? " (int8)" : "") : "not found";
      }
    }
  }
  if (!request.save_runtime_graph.empty()) {
    RLC_RETURN_IF_ERROR(WriteFileAtomically(request.save_runtime_graph, ran.bytes));
  }
  return {};
}

}  // namespace

Expected<InspectResult> InspectFile(const InspectRequest& request) {
  RLC_ASSIGN_OR_RETURN(const Model model, ReadModel(request.input));
  InspectResult result;
  result.summary = Summarize(model);
  result.inputs = InterfaceText(model.graph, model.graph.inputs());
  result.outputs = InterfaceText(model.graph, model.graph.outputs());
  result.layers = LayerRows(model.graph);
  if (request.graph) result.graph_text = PrintModel(model);
  Model simplified = model;
  StandardServices services(simplified);
  RLC_ASSIGN_OR_RETURN(const PipelineReport report, Simplify(simplified, services.get()));
  for (const RewriteEvent& event : report.applied) ++result.could_apply[event.rule];
  result.simplified = Summarize(simplified);
  if (request.runtime_level) RLC_RETURN_IF_ERROR(AddRuntimeGraph(model, request, result));
  return result;
}

Json ToJson(const InspectResult& result) {
  Json layers = Json::array();
  for (const LayerRow& row : result.layers) {
    Json json = {{"layer", row.number}, {"name", row.name}, {"signature", row.signature}};
    json["macs"] = row.macs < 0 ? Json() : Json(row.macs);
    if (result.runtime) json["ran_as"] = row.ran_as;
    layers.push_back(std::move(json));
  }
  Json json = {{"model", ToJson(result.summary)},
               {"inputs", result.inputs},
               {"outputs", result.outputs},
               {"layers", std::move(layers)},
               {"exact_rewrites", result.could_apply},
               {"simplified", ToJson(result.simplified)}};
  if (result.runtime) {
    json["runtime_graph"] = ToJson(*result.runtime);
    json["runtime"] = result.runtime_version;
  }
  if (!result.graph_text.empty()) json["graph"] = result.graph_text;
  return json;
}

std::string ToText(const InspectResult& result) {
  if (!result.graph_text.empty()) return result.graph_text;
  std::string text =
      fmt::format("opset {}, IR {}\ninputs:  {}\noutputs: {}\n\n", result.summary.opset, result.summary.ir_version,
                  fmt::join(result.inputs, "; "), fmt::join(result.outputs, "; "));
  if (!result.layers.empty()) {
    std::vector<std::vector<std::string>> rows = {{"layer", "multiply-accumulates", result.runtime ? "runs as" : ""}};
    for (const LayerRow& row : result.layers) {
      rows.push_back({fmt::format("{:>3} {}  {}", row.number, row.name, row.signature),
                      row.macs < 0 ? "?" : FormatCount(static_cast<double>(row.macs)), row.ran_as});
    }
    text += FormatTable(rows) + "\n";
  }
  if (result.runtime) {
    text += fmt::format("What ONNX Runtime {} makes of it:\n{}\n", result.runtime_version,
                        CompareTable(result.summary, *result.runtime));
  }
  text += "What 'rlc simplify' would make of it:\n" + CompareTable(result.summary, result.simplified);
  for (const auto& [rule, times] : result.could_apply) text += fmt::format("  {:<36} {} x\n", rule, times);
  return text;
}

}  // namespace rlc
