// Changes of a graph that exists: nodes, readers, bodies, names.
#include <algorithm>
#include <charconv>
#include <utility>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"

namespace rlc {
namespace {

// "conv_rlc12" -> "conv": names made from made names do not grow.
std::string_view WithoutUniqueSuffix(std::string_view name) {
  constexpr std::string_view kMark = "_rlc";
  const size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos || mark == 0) return name;
  const std::string_view number = name.substr(mark + kMark.size());
  const bool made = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  return made ? name.substr(0, mark) : name;
}

}  // namespace

// --- nodes ---------------------------------------------------------------------------------------------------------

void Graph::RemoveNode(NodeId id) {
  const size_t place = Place(id);
  const Node& removed = node(id);
  for (const ValueId output : removed.outputs) RLC_CHECK(output == ValueId::kNone || !HasReaders(output));
  for (size_t i = 0; i < removed.inputs.size(); ++i) RemoveUse(removed.inputs[i], Use{id, static_cast<int>(i)});
  for (const ValueId captured : removed.captures) RemoveUse(captured, Use{id, Use::kCapture});
  for (const ValueId output : removed.outputs) {
    if (output != ValueId::kNone) EraseValue(output);
  }
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(place));
  nodes_[static_cast<size_t>(static_cast<int32_t>(id))].reset();
}

void Graph::SetInput(NodeId node, size_t input, ValueId value) {
  Node& changed = MutableNode(node);
  if (input >= changed.inputs.size()) changed.inputs.resize(input + 1, ValueId::kNone);
  const Use use{node, static_cast<int>(input)};
  RemoveUse(changed.inputs[input], use);
  changed.inputs[input] = value;
  AddUse(value, use);
}

void Graph::TruncateInputs(NodeId node, size_t count) {
  Node& changed = MutableNode(node);
  for (size_t i = count; i < changed.inputs.size(); ++i) RemoveUse(changed.inputs[i], Use{node, static_cast<int>(i)});
  if (count < changed.inputs.size()) changed.inputs.resize(count);
}

void Graph::SetAttribute(NodeId node, Attribute attribute) {
  Node& changed = MutableNode(node);
  const auto place = std::find_if(changed.attributes.begin(), changed.attributes.end(),
                                  [&](const Attribute& candidate) { return candidate.name == attribute.name; });
  bool bodies = !BodiesOf(attribute.value).empty();
  if (place == changed.attributes.end()) {
    changed.attributes.push_back(std::move(attribute));
  } else {
    bodies = bodies || !BodiesOf(place->value).empty();
    *place = std::move(attribute);
  }
  if (bodies) UpdateCaptures(node);
  UpdateConstants(node);
}

void Graph::RemoveAttribute(NodeId node, std::string_view attribute) {
  std::erase_if(MutableNode(node).attributes, [&](const Attribute& candidate) { return candidate.name == attribute; });
  UpdateCaptures(node);
  UpdateConstants(node);
}

void Graph::SetOp(NodeId node, std::string op, std::string domain) {
  Node& changed = MutableNode(node);
  changed.op = std::move(op);
  changed.domain = std::move(domain);
  UpdateConstants(node);
}

void Graph::SetNodeName(NodeId node, std::string name) { MutableNode(node).name = std::move(name); }
void Graph::SetLayer(NodeId node, int layer) { MutableNode(node).layer = layer; }

// --- readers -------------------------------------------------------------------------------------------------------

void Graph::ReplaceUses(ValueId from, ValueId to) {
  RLC_CHECK(alive(to));
  if (from == to) return;
  const std::vector<Use> uses = std::exchange(MutableValue(from).uses, {});
  std::vector<NodeId> capturing;
  std::vector<Use>& target = MutableValue(to).uses;
  for (const Use& use : uses) {
    if (use.input == Use::kCapture) {
      capturing.push_back(use.node);
      continue;
    }
    MutableNode(use.node).inputs[static_cast<size_t>(use.input)] = to;
    target.push_back(use);
  }
  for (const NodeId id : capturing) {
    AddUse(from, Use{id, Use::kCapture});  // taken away again by UpdateCaptures
    RenameInBodies(id, value(from).name, value(to).name);
    UpdateCaptures(id);
  }
}

void Graph::TakeOverOutput(NodeId node, size_t index, ValueId taken) {
  Node& taker = MutableNode(node);
  const NodeId old_producer = value(taken).producer;
  RLC_CHECK(value(taken).kind == Value::Kind::kNode);
  if (taker.output(index) == taken) return;
  if (index >= taker.outputs.size()) taker.outputs.resize(index + 1, ValueId::kNone);
  if (const ValueId old = taker.outputs[index]; old != ValueId::kNone) EraseValue(old);
  if (old_producer != NodeId::kNone) {
    const auto place = static_cast<size_t>(value(taken).output);
    const ValueId fresh = AddValue(UniqueName(value(taken).name), value(taken).type);
    MutableNode(old_producer).outputs[place] = fresh;
    Value& replacement = MutableValue(fresh);
    replacement.producer = old_producer;
    replacement.output = static_cast<int>(place);
    UpdateConstants(old_producer);
  }
  taker.outputs[index] = taken;
  Value& moved = MutableValue(taken);
  moved.producer = node;
  moved.output = static_cast<int>(index);
  moved.tensor.reset();
  UpdateConstants(node);
}

void Graph::DropOutput(NodeId node, size_t index) {
  Node& changed = MutableNode(node);
  const ValueId dropped = changed.output(index);
  if (dropped == ValueId::kNone) return;
  EraseValue(dropped);
  changed.outputs[index] = ValueId::kNone;
  while (!changed.outputs.empty() && changed.outputs.back() == ValueId::kNone) changed.outputs.pop_back();
}

// --- names ---------------------------------------------------------------------------------------------------------

void Graph::SetScope(std::shared_ptr<const std::unordered_set<std::string>> names, std::string tag) {
  scope_names_ = std::move(names);
  scope_tag_ = std::move(tag);
}

std::string Graph::UniqueName(std::string_view hint) {
  const auto taken = [&](const std::string& name) {
    return by_name_.contains(name) || (scope_names_ && scope_names_->contains(name));
  };
  // Only the main graph may take a name as it is: two bodies, or a body and the main graph, would not see each other.
  if (std::string plain(hint); scope_tag_.empty() && !plain.empty() && !taken(plain)) return plain;
  const std::string_view stem = WithoutUniqueSuffix(hint);
  const std::string scope = scope_tag_.empty() ? "" : "_" + scope_tag_ + "_";
  std::string name;
  do {
    name = fmt::format("{}_rlc{}{}", stem, scope, next_unique_++);
  } while (taken(name));
  return name;
}

void Graph::Rename(ValueId id, std::string name) {
  const std::string old = value(id).name;
  by_name_.erase(old);
  const bool free = by_name_.emplace(name, id).second;
  RLC_CHECK(free);
  MutableValue(id).name = std::move(name);
  std::vector<NodeId> capturing;
  for (const Use& use : value(id).uses) {
    if (use.input == Use::kCapture) capturing.push_back(use.node);
  }
  for (const NodeId reader : capturing) RenameInBodies(reader, old, value(id).name);
}

void Graph::RenameInBodies(NodeId id, const std::string& from, const std::string& to) {
  const auto renamed = [&](const Body& body) -> Body {
    const ValueId captured = body->Find(from);
    if (captured == ValueId::kNone || body->value(captured).kind != Value::Kind::kCaptured) return body;
    auto copy = std::make_shared<Graph>(*body);
    copy->RenameCaptured(from, to);
    return copy;
  };
  for (Attribute& attribute : MutableNode(id).attributes) {
    if (auto* body = std::get_if<Body>(&attribute.value)) {
      *body = renamed(*body);
    } else if (auto* bodies = std::get_if<std::vector<Body>>(&attribute.value)) {
      for (Body& element : *bodies) element = renamed(element);
    }
  }
}

void Graph::RenameCaptured(const std::string& from, const std::string& to) {
  const ValueId captured = Find(from);
  const ValueId present = Find(to);
  if (present == ValueId::kNone) {
    Rename(captured, to);
    return;
  }
  if (value(present).kind != Value::Kind::kCaptured) {
    // The body has a value of its own by that name, which would hide the outer one.
    Rename(present, UniqueName(to));
    Rename(captured, to);
    return;
  }
  ReplaceUses(captured, present);
  for (ValueId& output : outputs_) {
    if (output != captured) continue;
    output = present;
    --MutableValue(captured).output_uses;
    ++MutableValue(present).output_uses;
  }
  EraseValue(captured);
}

}  // namespace rlc
