//   y = If(true, then, else)   ->   the nodes of `then`          also false: those of `else`
//
// Names are unique over all scopes, so the body's values move out with theirs; what the body captured is read directly.
// Refuses: a name that the outer graph has already. Results are handed on by an Identity each, which remove-identity
// takes.
#include <map>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

const Body* ChosenBody(const Graph& graph, const Node& node) {
  const Tensor* condition = graph.constant(node.input(0));
  if (condition == nullptr || condition->dtype() != DType::kBool || condition->size() != 1) return nullptr;
  const bool taken = condition->bytes()[0] != std::byte{0};
  const Attribute* attribute = node.FindAttribute(taken ? "then_branch" : "else_branch");
  return attribute == nullptr ? nullptr : std::get_if<Body>(&attribute->value);
}

void MoveOut(Graph& graph, NodeId anchor, const Graph& body) {
  std::map<ValueId, ValueId> outer = {{ValueId::kNone, ValueId::kNone}};
  for (const ValueId id : body.values()) {
    const Value& value = body.value(id);
    if (value.kind == Value::Kind::kCaptured) {
      if (const ValueId known = graph.Find(value.name); known != ValueId::kNone) outer[id] = known;
    } else if (value.kind == Value::Kind::kInitializer && value.tensor) {
      outer[id] = graph.AddInitializer(value.name, *value.tensor);
    } else if (value.kind == Value::Kind::kInitializer) {
      outer[id] = graph.AddSparseInitializer(value.name, value.sparse);
    } else {
      outer[id] = graph.AddValue(value.name, value.type);
    }
  }
  for (const NodeId id : body.nodes()) {
    Node copy = body.node(id);
    for (ValueId& input : copy.inputs) input = outer.at(input);
    for (ValueId& output : copy.outputs) output = outer.at(output);
    graph.AddNode(std::move(copy), anchor);
  }
  const std::vector<ValueId> results = graph.node(anchor).outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == ValueId::kNone) continue;
    const ValueId source = outer.at(body.outputs()[i]);
    const ValueId copy = graph.AddValue(graph.UniqueName(graph.value(results[i]).name), graph.type(results[i]));
    Node identity;
    identity.op = "Identity";
    identity.inputs = {source};
    identity.outputs = {copy};
    const NodeId holder = graph.AddNode(std::move(identity), anchor);
    graph.TakeOverOutput(holder, 0, results[i]);
  }
  EraseNode(graph, anchor);
  for (const ValueId id : body.initializers()) EraseIfUnread(graph, outer.at(id));
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.Is("If")) return NoMatch{};
  const Body* chosen = ChosenBody(graph, node);
  if (chosen == nullptr) return NoMatch{};
  const Graph& body = **chosen;
  if (body.outputs().size() < node.outputs.size()) return Refuse("the branch has fewer results");
  for (const ValueId id : body.values()) {
    const Value& value = body.value(id);
    const bool captured = value.kind == Value::Kind::kCaptured;
    const bool known = graph.Find(value.name) != ValueId::kNone;
    if (captured && !known && body.HasReaders(id)) return Refuse("{} is not known outside", value.name);
    if (!captured && known) return Refuse("there is another {} outside", value.name);
    if (value.kind == Value::Kind::kInput || value.kind == Value::Kind::kOverridable) {
      return Refuse("the branch has inputs");
    }
  }
  return Edit([=, body = *chosen](Graph& changed) { MoveOut(changed, anchor, *body); });
}

}  // namespace

std::unique_ptr<Rewrite> InlineConstantIf() {
  return MakeExactRule("inline-constant-if", "If with a constant condition -> the branch that is taken", &At);
}

}  // namespace rlc
