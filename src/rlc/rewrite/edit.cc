#include "rlc/rewrite/edit.h"

#include <algorithm>
#include <utility>

namespace rlc {

bool IsPure(const Node& node) { return node.domain.empty(); }

namespace {

bool IsUnread(const Graph& graph, const Node& node) {
  return std::none_of(node.outputs.begin(), node.outputs.end(),
                      [&](ValueId output) { return output != ValueId::kNone && graph.HasReaders(output); });
}

}  // namespace

void EraseIfUnread(Graph& graph, ValueId value) {
  if (value == ValueId::kNone || !graph.alive(value) || graph.HasReaders(value)) return;
  const Value& found = graph.value(value);
  if (found.kind == Value::Kind::kInitializer) {
    graph.RemoveInitializer(value);
  } else if (found.kind == Value::Kind::kNode && found.producer != NodeId::kNone) {
    const Node& producer = graph.node(found.producer);
    if (IsPure(producer) && IsUnread(graph, producer)) EraseNode(graph, found.producer);
  }
}

void EraseNode(Graph& graph, NodeId node) {
  // A list instead of recursion: chains can be as long as the graph.
  std::vector<NodeId> dead = {node};
  while (!dead.empty()) {
    const NodeId next = dead.back();
    dead.pop_back();
    if (!graph.alive(next)) continue;
    std::vector<ValueId> fed = graph.node(next).inputs;
    fed.insert(fed.end(), graph.node(next).captures.begin(), graph.node(next).captures.end());
    graph.RemoveNode(next);
    for (const ValueId value : fed) {
      if (value == ValueId::kNone || !graph.alive(value) || graph.HasReaders(value)) continue;
      const Value& found = graph.value(value);
      if (found.kind == Value::Kind::kInitializer) graph.RemoveInitializer(value);
      if (found.kind != Value::Kind::kNode || found.producer == NodeId::kNone) continue;
      const Node& producer = graph.node(found.producer);
      if (IsPure(producer) && IsUnread(graph, producer)) dead.push_back(found.producer);
    }
  }
}

void ReplaceInput(Graph& graph, NodeId node, size_t input, ValueId value) {
  const ValueId old = graph.node(node).input(input);
  graph.SetInput(node, input, value);
  EraseIfUnread(graph, old);
}

ValueId AddConstant(Graph& graph, std::string_view hint, Tensor tensor) {
  return graph.AddInitializer(graph.UniqueName(hint), std::move(tensor));
}

namespace {

// True when the producer of `value` can give its output the name of a graph output instead.
bool CanRename(const Graph& graph, ValueId value) {
  return graph.value(value).kind == Value::Kind::kNode && !graph.is_output(value);
}

}  // namespace

bool CanBypass(const Graph& graph, NodeId node, ValueId value) {
  const ValueId output = graph.node(node).output(0);
  return !graph.is_output(output) || CanRename(graph, value) || !graph.node(node).Is("Identity");
}

void Bypass(Graph& graph, NodeId node, ValueId value) {
  const ValueId output = graph.node(node).output(0);
  if (!graph.is_output(output)) {
    graph.ReplaceUses(output, value);
    EraseNode(graph, node);
    return;
  }
  if (!CanRename(graph, value)) {
    graph.ReplaceUses(output, value);
    Rebuild(graph, node, "Identity", {value}, {});
    return;
  }
  // The producer takes the output's name; whoever read the old value reads the new one. The node must let go first.
  const NodeId producer = graph.value(value).producer;
  const auto index = static_cast<size_t>(graph.value(value).output);
  std::vector<ValueId> fed = graph.node(node).inputs;
  graph.TruncateInputs(node, 0);
  graph.ReplaceUses(value, output);
  graph.TakeOverOutput(producer, index, output);
  graph.RemoveNode(node);
  for (const ValueId old : fed) EraseIfUnread(graph, old);
}

void TakeOver(Graph& graph, NodeId node, NodeId last) {
  const ValueId result = graph.node(last).output(0);
  std::vector<ValueId> fed = graph.node(last).inputs;
  graph.TruncateInputs(last, 0);
  graph.TakeOverOutput(node, 0, result);
  graph.RemoveNode(last);
  for (const ValueId old : fed) EraseIfUnread(graph, old);
}

void Rebuild(Graph& graph, NodeId node, std::string_view op, const std::vector<ValueId>& inputs,
             const std::vector<Attribute>& attributes) {
  const std::vector<ValueId> old_inputs = graph.node(node).inputs;
  std::vector<ValueId> old_captures = graph.node(node).captures;
  const std::vector<Attribute> old_attributes = graph.node(node).attributes;
  for (const Attribute& attribute : old_attributes) graph.RemoveAttribute(node, attribute.name);
  graph.SetOp(node, std::string(op));
  for (size_t i = 0; i < inputs.size(); ++i) graph.SetInput(node, i, inputs[i]);
  graph.TruncateInputs(node, inputs.size());
  for (const Attribute& attribute : attributes) graph.SetAttribute(node, attribute);
  for (size_t i = 1; i < graph.node(node).outputs.size(); ++i) {
    if (graph.node(node).outputs[i] != ValueId::kNone) graph.DropOutput(node, i);
  }
  for (const ValueId old : old_inputs) EraseIfUnread(graph, old);
  for (const ValueId old : old_captures) EraseIfUnread(graph, old);
}

ValueId Insert(Graph& graph, NodeId before, std::string_view op, const std::vector<ValueId>& inputs,
               const std::vector<Attribute>& attributes, std::string_view hint, Type type) {
  const ValueId output = graph.AddValue(graph.UniqueName(hint), std::move(type));
  Node node;
  node.op = std::string(op);
  node.inputs = inputs;
  node.outputs = {output};
  node.attributes = attributes;
  graph.AddNode(std::move(node), before);
  return output;
}

}  // namespace rlc
