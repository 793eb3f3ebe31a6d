//   w in the outer graph, If<then_branch = (.. w ..)>   ->   If<then_branch = (w' .. w' ..)>
//
// A constant that a body captures becomes one of the body, where rules see that it is constant. It moves when one body
// is all that reads it, and is copied when it has few elements.
//
// Refuses: larger constants with other readers (they would be stored twice); bodies that hand the constant on as their
// output keep reading it outside.
#include <memory>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

constexpr int64_t kFewElements = 64;

// The value inside the body that stands for the outer one of this name, if the body's nodes read it.
ValueId CapturedAs(const Graph& body, const std::string& name) {
  const ValueId inside = body.Find(name);
  if (inside == ValueId::kNone || body.value(inside).kind != Value::Kind::kCaptured) return ValueId::kNone;
  return body.value(inside).uses.empty() ? ValueId::kNone : inside;
}

std::vector<const Body*> BodiesReading(const Node& node, const std::string& name) {
  std::vector<const Body*> readers;
  for (const Attribute& attribute : node.attributes) {
    const Body* body = std::get_if<Body>(&attribute.value);
    if (body != nullptr && CapturedAs(**body, name) != ValueId::kNone) readers.push_back(body);
  }
  return readers;
}

// Nothing reads the value but bodies of the node.
bool OnlyReadIn(const Graph& graph, ValueId value, NodeId node) {
  const std::vector<Use>& uses = graph.value(value).uses;
  return !graph.is_output(value) && uses.size() == 1 && uses[0].node == node && uses[0].input == Use::kCapture;
}

void MoveIn(Graph& graph, NodeId anchor, ValueId outer) {
  const std::string name = graph.value(outer).name;
  const Tensor tensor = *graph.constant(outer);
  const std::vector<Attribute> attributes = graph.node(anchor).attributes;
  for (Attribute attribute : attributes) {
    Body* body = std::get_if<Body>(&attribute.value);
    const ValueId inside = body == nullptr ? ValueId::kNone : CapturedAs(**body, name);
    if (inside == ValueId::kNone) continue;
    auto changed = std::make_shared<Graph>(**body);
    const ValueId copy = changed->AddInitializer(changed->UniqueName(name), tensor);
    changed->ReplaceUses(inside, copy);
    *body = std::move(changed);
    graph.SetAttribute(anchor, std::move(attribute));
  }
  EraseIfUnread(graph, outer);
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.domain.empty() || !node.HasBody()) return NoMatch{};
  bool refused = false;
  for (const ValueId value : node.captures) {
    const Tensor* tensor = graph.constant(value);
    const size_t readers = tensor == nullptr ? 0 : BodiesReading(node, graph.value(value).name).size();
    if (readers == 0) continue;
    const bool alone = readers == 1 && OnlyReadIn(graph, value, anchor);
    if (!alone && tensor->size() > kFewElements) {
      refused = true;
      continue;
    }
    return Edit([=](Graph& changed) { MoveIn(changed, anchor, value); });
  }
  if (refused) return Refuse("a large constant has other readers");
  return NoMatch{};
}

}  // namespace

std::unique_ptr<Rewrite> MoveConstantsIntoBodies() {
  return MakeExactRule("move-constants-into-bodies",
                       "a constant that only a body reads, or a small one -> one of the body", &At);
}

}  // namespace rlc
