#include "rlc/rewrite/regions.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>
#include <utility>

#include "rlc/ir/layers.h"
#include "rlc/ir/region_ops.h"
#include "rlc/kernels/conv_form.h"
#include "rlc/region/program.h"
#include "rlc/rewrite/inferred_types.h"

namespace rlc {
namespace {

bool Compilable(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.HasBody()) return false;
  const ConstantOf constant = [&](ValueId value) { return value == ValueId::kNone ? nullptr : graph.constant(value); };
  return !WhyNotInRegion(graph, node, constant);
}

// Nodes of one kind (compilable or not) with the same stage have no way out of their set and back in: every edge
// between the kinds leads to a later stage.
std::map<NodeId, int> StagesOf(const Graph& graph, const std::map<NodeId, bool>& compilable) {
  std::map<NodeId, int> stages;
  for (const NodeId id : graph.nodes()) {
    int stage = 0;
    const auto look_at = [&](ValueId value) {
      const NodeId producer = value == ValueId::kNone ? NodeId::kNone : graph.value(value).producer;
      if (producer == NodeId::kNone || graph.constant(value) != nullptr) return;
      const bool same = compilable.at(producer) == compilable.at(id);
      stage = std::max(stage, stages.at(producer) + (same ? 0 : 1));
    };
    for (const ValueId value : graph.node(id).inputs) look_at(value);
    for (const ValueId value : graph.node(id).captures) look_at(value);
    stages[id] = stage;
  }
  return stages;
}

// One region on its way out of the graph.
struct Cut {
  std::vector<ValueId> inputs, outputs;  // what it reads from outside (constants last) and what is read outside
};

Cut CutOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  const std::set<NodeId> inside(nodes.begin(), nodes.end());
  Cut cut;
  std::vector<ValueId> constants;
  std::set<ValueId> seen;
  for (const NodeId id : nodes) {
    for (const ValueId value : graph.node(id).inputs) {
      if (value == ValueId::kNone || inside.contains(graph.value(value).producer) || !seen.insert(value).second)
        continue;
      (graph.constant(value) != nullptr ? constants : cut.inputs).push_back(value);
    }
    for (const ValueId value : graph.node(id).outputs) {
      if (value == ValueId::kNone) continue;
      const auto& uses = graph.value(value).uses;
      const bool outside =
          std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return !inside.contains(use.node); });
      if (outside || graph.is_output(value)) cut.outputs.push_back(value);
    }
  }
  cut.inputs.insert(cut.inputs.end(), constants.begin(), constants.end());
  return cut;
}

// The region as a graph of its own; `form_of` says what to note at a node (the program) or nothing (the function).
template <typename FormOf>
Graph BodyOf(const Graph& graph, const std::vector<NodeId>& nodes, const Cut& cut, const FormOf& form_of) {
  Graph body;
  body.SetName("region");
  body.SetOpset("", graph.opset());
  std::map<ValueId, ValueId> inside;
  for (const ValueId value : cut.inputs) inside[value] = body.AddInput(graph.value(value).name, graph.type(value));
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    Node copy;
    copy.op = node.op;
    copy.name = node.name;
    copy.layer = node.layer;
    copy.attributes = node.attributes;
    for (const ValueId value : node.inputs) copy.inputs.push_back(value == ValueId::kNone ? value : inside.at(value));
    for (const ValueId value : node.outputs) {
      if (value != ValueId::kNone) inside[value] = body.AddValue(graph.value(value).name, graph.type(value));
      copy.outputs.push_back(value == ValueId::kNone ? value : inside.at(value));
    }
    if (const std::string form = form_of(node); !form.empty()) {
      copy.attributes.push_back({std::string(kFormAttribute), form, ""});
    }
    body.AddNode(std::move(copy));
  }
  for (const ValueId value : cut.outputs) body.AddOutput(inside.at(value));
  return body;
}

// Puts the call in the place of the nodes.
void ReplaceByCall(Graph& graph, const std::vector<NodeId>& nodes, const Cut& cut, Node call) {
  call.inputs = cut.inputs;
  for (const ValueId value : cut.outputs) {
    call.outputs.push_back(graph.AddValue(graph.UniqueName(graph.value(value).name), graph.type(value)));
  }
  const NodeId id = graph.AddNode(std::move(call));
  for (size_t i = 0; i < cut.outputs.size(); ++i) graph.TakeOverOutput(id, i, cut.outputs[i]);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) graph.RemoveNode(*node);
  // The kernel learns its shapes from these records.
  for (const std::vector<ValueId>* values : {&cut.inputs, &cut.outputs}) {
    for (const ValueId value : *values) {
      if (graph.value(value).kind == Value::Kind::kNode) graph.SetRecorded(value, true);
    }
  }
  RLC_CHECK(graph.SortTopologically());
}

Expected<void> CheckForms(const Graph& graph, const RegionOptions& options) {
  for (const auto& [layer, form] : options.forms) {
    if (!ParseConvForm(form)) return MakeError(ErrorKind::kInvalidInput, "there is no form '{}'", form);
    if (FindLayer(graph, layer) == NodeId::kNone) {
      return MakeError(ErrorKind::kInvalidInput, "the graph has no layer {}", layer);
    }
  }
  return {};
}

}  // namespace

Expected<std::map<int, std::string>> FormsFromJson(const Json& json) {
  if (!json.is_object()) return MakeError(ErrorKind::kInvalidInput, "'forms' is no object");
  std::map<int, std::string> forms;
  for (const auto& [key, value] : json.items()) {
    int layer = -1;
    const auto [rest, error] = std::from_chars(key.data(), key.data() + key.size(), layer);
    if (error != std::errc() || rest != key.data() + key.size() || layer < 0 || !value.is_string()) {
      return MakeError(ErrorKind::kInvalidInput, "'forms' has '{}', which is no layer number with a form's name", key);
    }
    forms[layer] = value.get<std::string>();
  }
  return forms;
}

std::vector<std::vector<NodeId>> FindRegions(const Graph& graph) {
  std::map<NodeId, bool> compilable;
  for (const NodeId id : graph.nodes()) compilable[id] = Compilable(graph, id);
  const std::map<NodeId, int> stages = StagesOf(graph, compilable);
  // Connected parts of each stage, by union of producers and readers.
  std::map<NodeId, NodeId> parent;
  const auto root = [&](NodeId id) {
    while (parent.at(id) != id) id = parent[id] = parent.at(parent.at(id));
    return id;
  };
  for (const NodeId id : graph.nodes()) {
    if (!compilable.at(id)) continue;
    parent[id] = id;
    for (const ValueId value : graph.node(id).inputs) {
      const NodeId producer = value == ValueId::kNone ? NodeId::kNone : graph.value(value).producer;
      if (producer == NodeId::kNone || !compilable.at(producer) || stages.at(producer) != stages.at(id)) continue;
      parent[root(producer)] = root(id);
    }
  }
  std::map<NodeId, std::vector<NodeId>> parts;
  std::vector<NodeId> order;
  for (const NodeId id : graph.nodes()) {
    if (!compilable.at(id)) continue;
    std::vector<NodeId>& part = parts[root(id)];
    if (part.empty()) order.push_back(root(id));
    part.push_back(id);
  }
  std::vector<std::vector<NodeId>> regions;
  for (const NodeId id : order) {
    std::vector<NodeId>& part = parts.at(id);
    const bool layer =
        std::any_of(part.begin(), part.end(), [&](NodeId node) { return graph.node(node).op == "Conv"; });
    if (layer) regions.push_back(std::move(part));
  }
  return regions;
}

Expected<Model> CompileRegions(const Model& model, const RegionOptions& options, const Services& services) {
  if (HasRegions(model)) return MakeError(ErrorKind::kInvalidInput, "the model has compiled regions already");
  if (!services.add_function) return MakeError(ErrorKind::kUnavailable, "nothing here can add functions to a model");
  Model result = model;
  RLC_RETURN_IF_ERROR(CheckForms(result.graph, options));
  InferredTypes types(result.graph, /*body=*/false);
  RLC_RETURN_IF_ERROR(types.Refresh(result.graph, services.types));
  std::vector<std::vector<NodeId>> regions = FindRegions(result.graph);
  if (regions.size() > kMostRegions) regions.resize(kMostRegions);
  size_t count = 0;
  for (const std::vector<NodeId>& nodes : regions) {
    const Cut cut = CutOf(result.graph, nodes);
    if (cut.outputs.empty()) continue;  // dead code; a call without outputs does not load
    const Graph body = BodyOf(result.graph, nodes, cut, [](const Node&) { return std::string(); });
    const Graph program = BodyOf(result.graph, nodes, cut, [&](const Node& node) {
      const auto form = options.forms.find(node.layer);
      return node.layer < 0 || form == options.forms.end() ? std::string() : form->second;
    });
    Node call;
    call.op = "Region" + std::to_string(count++);
    call.domain = kRegionDomain;
    call.name = call.op;
    call.attributes.push_back({"program", WriteProgram(program), ""});
    RLC_RETURN_IF_ERROR(services.add_function(result, std::string(kRegionDomain), call.op, body, {"program"}));
    ReplaceByCall(result.graph, nodes, cut, std::move(call));
  }
  if (count > 0) result.graph.SetOpset(std::string(kRegionDomain), 1);
  types.Restore(result.graph);
  return result;
}

bool HasRegions(const Model& model) {
  return std::any_of(model.functions.begin(), model.functions.end(),
                     [](const Function& function) { return function.domain == kRegionDomain; });
}

}  // namespace rlc
