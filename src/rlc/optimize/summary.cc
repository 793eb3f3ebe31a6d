#include "rlc/optimize/summary.h"

#include <algorithm>
#include <set>

#include "rlc/base/format.h"
#include "rlc/ir/layers.h"

namespace rlc {
namespace {

// Calls visit(graph) for the graph and every body in it. Depth is bounded by the importer.
template <typename Visit>
void VisitGraphs(const Graph& graph, const Visit& visit) {
  visit(graph);
  for (NodeId id : graph.nodes()) {
    for (const Attribute& attribute : graph.node(id).attributes) {
      if (const auto* body = std::get_if<Body>(&attribute.value)) VisitGraphs(**body, visit);
      if (const auto* bodies = std::get_if<std::vector<Body>>(&attribute.value)) {
        for (const Body& one : *bodies) VisitGraphs(*one, visit);
      }
    }
  }
}

bool CountsAsParameter(DType type) { return IsFloat(type) || type == DType::kInt8 || type == DType::kUint8; }

void AddConstants(const Graph& graph, std::set<const std::byte*>& seen, ModelSummary& summary) {
  for (ValueId id : graph.values()) {
    const Value& value = graph.value(id);
    if (!value.tensor || value.tensor->bytes().empty()) continue;
    if (!seen.insert(value.tensor->bytes().data()).second) continue;
    summary.constant_bytes += static_cast<int64_t>(value.tensor->bytes().size());
    if (CountsAsParameter(value.tensor->dtype())) summary.parameters += value.tensor->size();
  }
}

void AddLayers(const Graph& graph, ModelSummary& summary) {
  summary.macs = 0;
  for (NodeId id : graph.nodes()) {
    if (!IsLayer(graph, graph.node(id))) continue;
    ++summary.layers;
    const auto shape = DescribeLayer(graph, id);
    if (!shape || shape->macs < 0) {
      summary.macs = -1;
    } else if (summary.macs >= 0) {
      summary.macs += shape->macs;
    }
  }
}

std::string MacsText(int64_t macs) { return macs < 0 ? "depends on input" : FormatCount(static_cast<double>(macs)); }

}  // namespace

ModelSummary Summarize(const Model& model) {
  ModelSummary summary;
  std::set<const std::byte*> seen;
  VisitGraphs(model.graph, [&](const Graph& graph) {
    for (NodeId id : graph.nodes()) {
      const Node& node = graph.node(id);
      ++summary.ops[node.domain.empty() ? node.op : node.domain + "::" + node.op];
      ++summary.nodes;
    }
    AddConstants(graph, seen, summary);
  });
  AddLayers(model.graph, summary);
  summary.ir_version = model.ir_version;
  summary.opset = model.graph.opset();
  return summary;
}

Json ToJson(const ModelSummary& summary) {
  Json json = {{"nodes", summary.nodes},
               {"ops", summary.ops},
               {"parameters", summary.parameters},
               {"constant_bytes", summary.constant_bytes},
               {"layers", summary.layers},
               {"ir_version", summary.ir_version},
               {"opset", summary.opset}};
  json["macs"] = summary.macs < 0 ? Json() : Json(summary.macs);
  return json;
}

std::string FormatTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  std::string text;
  for (size_t number = 0; number < rows.size(); ++number) {
    std::string line;
    for (size_t column = 0; column < rows[number].size(); ++column) {
      const std::string& cell = rows[number][column];
      line += column == 0 ? fmt::format("{:<{}}", cell, widths[0]) : fmt::format("  {:>{}}", cell, widths[column]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (number == 0) {
      size_t total = 0;
      for (size_t column = 0; column < widths.size(); ++column) total += widths[column] + (column == 0 ? 0 : 2);
      text += std::string(total, '-') + "\n";
    }
  }
  return text;
}

std::string CompareTable(const ModelSummary& before, const ModelSummary& after) {
  std::vector<std::vector<std::string>> rows = {{"", "before", "after"}};
  std::set<std::string> ops;
  for (const auto& [op, count] : before.ops) ops.insert(op);
  for (const auto& [op, count] : after.ops) ops.insert(op);
  const auto count = [](const ModelSummary& summary, const std::string& op) {
    const auto found = summary.ops.find(op);
    return found == summary.ops.end() ? std::string("-") : std::to_string(found->second);
  };
  for (const std::string& op : ops) rows.push_back({op, count(before, op), count(after, op)});
  rows.push_back({"nodes", std::to_string(before.nodes), std::to_string(after.nodes)});
  rows.push_back({"parameters", FormatCount(static_cast<double>(before.parameters)),
                  FormatCount(static_cast<double>(after.parameters))});
  rows.push_back({"constants", FormatBytes(static_cast<double>(before.constant_bytes)),
                  FormatBytes(static_cast<double>(after.constant_bytes))});
  rows.push_back({"multiply-accumulates", MacsText(before.macs), MacsText(after.macs)});
  return FormatTable(rows);
}

}  // namespace rlc
