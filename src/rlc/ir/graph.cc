// Reading, building, and the bookkeeping below both. Changes of nodes that exist are in graph_edit.cc.
#include "rlc/ir/graph.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "rlc/base/error.h"

namespace rlc {
namespace {

size_t Index(NodeId id) { return static_cast<size_t>(static_cast<int32_t>(id)); }
size_t Index(ValueId id) { return static_cast<size_t>(static_cast<int32_t>(id)); }

// Distance of neighbours in label_ after RelabelAll: 30 insertions at the same place until the next one, and room for
// 2^33 nodes.
constexpr int64_t kLabelGap = int64_t{1} << 30;

// What a Constant node holds, as a tensor; nothing for forms without one (sparse, of a function's attribute).
std::optional<Tensor> ConstantOf(const Node& node) {
  for (const Attribute& attribute : node.attributes) {
    const AttributeValue& value = attribute.value;
    if (attribute.name == "value") {
      if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
    } else if (attribute.name == "value_int") {
      if (const auto* number = std::get_if<int64_t>(&value)) return Tensor::Scalar(*number);
    } else if (attribute.name == "value_float") {
      if (const auto* number = std::get_if<float>(&value)) return Tensor::Scalar(*number);
    } else if (attribute.name == "value_string") {
      if (const auto* text = std::get_if<std::string>(&value)) return Tensor::FromStrings({}, {*text});
    } else if (attribute.name == "value_ints") {
      if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
        return Tensor::Of({static_cast<int64_t>(list->size())}, *list);
      }
    } else if (attribute.name == "value_floats") {
      if (const auto* list = std::get_if<std::vector<float>>(&value)) {
        return Tensor::Of({static_cast<int64_t>(list->size())}, *list);
      }
    } else if (attribute.name == "value_strings") {
      if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        return Tensor::FromStrings({static_cast<int64_t>(list->size())}, *list);
      }
    }
  }
  return std::nullopt;
}

Type TypeOf(const Tensor& tensor) {
  Shape shape;
  shape.reserve(tensor.dims().size());
  for (const int64_t dim : tensor.dims()) shape.push_back(Dim::Of(dim));
  return Type::Tensor(tensor.dtype(), std::move(shape));
}

}  // namespace

// --- reading -------------------------------------------------------------------------------------------------------

int Graph::opset(std::string_view domain) const {
  const auto found = opsets_.find(std::string(domain));
  return found == opsets_.end() ? 0 : found->second;
}

bool Graph::alive(NodeId id) const { return Index(id) < nodes_.size() && nodes_[Index(id)].has_value(); }
bool Graph::alive(ValueId id) const { return Index(id) < values_.size() && values_[Index(id)].has_value(); }

const Node& Graph::node(NodeId id) const {
  RLC_CHECK(alive(id));
  return *nodes_[Index(id)];
}

const Value& Graph::value(ValueId id) const {
  RLC_CHECK(alive(id));
  return *values_[Index(id)];
}

Node& Graph::MutableNode(NodeId id) {
  RLC_CHECK(alive(id));
  return *nodes_[Index(id)];
}

Value& Graph::MutableValue(ValueId id) {
  RLC_CHECK(alive(id));
  return *values_[Index(id)];
}

std::vector<ValueId> Graph::values() const {
  std::vector<ValueId> ids;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i]) ids.push_back(static_cast<ValueId>(i));
  }
  return ids;
}

ValueId Graph::Find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? ValueId::kNone : found->second;
}

const Tensor* Graph::constant(ValueId id) const {
  if (id == ValueId::kNone) return nullptr;
  const Value& found = value(id);
  if (found.kind != Value::Kind::kInitializer && found.kind != Value::Kind::kNode) return nullptr;
  return found.tensor ? &*found.tensor : nullptr;
}

const Node* Graph::producer(ValueId id) const {
  if (id == ValueId::kNone) return nullptr;
  const NodeId node_id = value(id).producer;
  return node_id == NodeId::kNone ? nullptr : &node(node_id);
}

NodeId Graph::SingleReader(ValueId id) const {
  const Value& read = value(id);
  if (read.uses.size() != 1 || read.output_uses > 0 || read.uses[0].input == Use::kCapture) return NodeId::kNone;
  return read.uses[0].node;
}

std::vector<std::string> Graph::CapturedNames() const {
  std::vector<std::string> names;
  for (const std::optional<Value>& candidate : values_) {
    if (!candidate || candidate->kind != Value::Kind::kCaptured) continue;
    if (!candidate->uses.empty() || candidate->output_uses > 0) names.push_back(candidate->name);
  }
  return names;
}

bool Graph::Before(NodeId a, NodeId b) const {
  RLC_CHECK(alive(a) && alive(b));
  return label_[Index(a)] < label_[Index(b)];
}

// --- values --------------------------------------------------------------------------------------------------------

ValueId Graph::NewValue(Value value) {
  RLC_CHECK(!value.name.empty());
  const auto id = static_cast<ValueId>(values_.size());
  const bool free = by_name_.emplace(value.name, id).second;
  if (!free) internal::CheckFailed(__FILE__, __LINE__, "the name is free", value.name);
  values_.emplace_back(std::move(value));
  return id;
}

void Graph::EraseValue(ValueId id) {
  RLC_CHECK(!HasReaders(id));
  by_name_.erase(value(id).name);
  values_[Index(id)].reset();
}

ValueId Graph::AddInput(std::string name, Type type) {
  Value value;
  value.kind = Value::Kind::kInput;
  value.name = std::move(name);
  value.type = std::move(type);
  inputs_.push_back(NewValue(std::move(value)));
  return inputs_.back();
}

ValueId Graph::AddInitializer(std::string name, Tensor tensor) {
  Value value;
  value.kind = Value::Kind::kInitializer;
  value.name = std::move(name);
  value.type = TypeOf(tensor);
  value.tensor = std::move(tensor);
  initializers_.push_back(NewValue(std::move(value)));
  return initializers_.back();
}

ValueId Graph::AddOverridable(std::string name, Type type, Tensor tensor) {
  Value value;
  value.kind = Value::Kind::kOverridable;
  value.name = std::move(name);
  value.type = std::move(type);
  value.tensor = std::move(tensor);
  const ValueId id = NewValue(std::move(value));
  inputs_.push_back(id);
  initializers_.push_back(id);
  return id;
}

ValueId Graph::AddSparseInitializer(std::string name, std::string serialized) {
  Value value;
  value.kind = Value::Kind::kInitializer;
  value.name = std::move(name);
  value.sparse = std::move(serialized);
  initializers_.push_back(NewValue(std::move(value)));
  return initializers_.back();
}

ValueId Graph::AddCaptured(std::string name, Type type) {
  Value value;
  value.kind = Value::Kind::kCaptured;
  value.name = std::move(name);
  value.type = std::move(type);
  return NewValue(std::move(value));
}

ValueId Graph::AddValue(std::string name, Type type) {
  Value value;
  value.name = std::move(name);
  value.type = std::move(type);
  return NewValue(std::move(value));
}

void Graph::AddOutput(ValueId id) {
  ++MutableValue(id).output_uses;
  outputs_.push_back(id);
}

void Graph::RemoveInitializer(ValueId id) {
  RLC_CHECK(value(id).kind == Value::Kind::kInitializer);
  RLC_CHECK(!HasReaders(id));
  // Ids grow, so the list is sorted.
  const auto place = std::lower_bound(initializers_.begin(), initializers_.end(), id);
  RLC_CHECK(place != initializers_.end() && *place == id);
  initializers_.erase(place);
  EraseValue(id);
}

void Graph::SetType(ValueId value, Type type) { MutableValue(value).type = std::move(type); }
void Graph::SetRecorded(ValueId value, bool recorded) { MutableValue(value).recorded = recorded; }
void Graph::SetExtra(ValueId value, std::string extra_bytes) { MutableValue(value).extra = std::move(extra_bytes); }

void Graph::SetTensor(ValueId initializer, Tensor tensor) {
  Value& changed = MutableValue(initializer);
  RLC_CHECK(changed.kind == Value::Kind::kInitializer);
  changed.type = TypeOf(tensor);
  changed.tensor = std::move(tensor);
  changed.sparse.clear();
}

// --- uses, captures, constants -------------------------------------------------------------------------------------

void Graph::AddUse(ValueId value, Use use) {
  if (value != ValueId::kNone) MutableValue(value).uses.push_back(use);
}

void Graph::RemoveUse(ValueId value, Use use) {
  if (value == ValueId::kNone) return;
  std::vector<Use>& uses = MutableValue(value).uses;
  const auto place = std::find(uses.begin(), uses.end(), use);
  RLC_CHECK(place != uses.end());
  *place = uses.back();
  uses.pop_back();
}

void Graph::UpdateCaptures(NodeId id) {
  std::vector<ValueId> captures;
  std::unordered_set<std::string> seen;
  // Copied handles: creating captured values below must not disturb what is being walked.
  std::vector<Body> bodies;
  for (const Attribute& attribute : node(id).attributes) {
    for (Body& body : BodiesOf(attribute.value)) bodies.push_back(std::move(body));
  }
  for (const Body& body : bodies) {
    RLC_CHECK(body != nullptr);
    for (const std::string& name : body->CapturedNames()) {
      if (!seen.insert(name).second) continue;
      ValueId captured = Find(name);
      if (captured == ValueId::kNone) captured = AddCaptured(name);
      captures.push_back(captured);
    }
  }
  for (const ValueId old : node(id).captures) RemoveUse(old, Use{id, Use::kCapture});
  for (const ValueId captured : captures) AddUse(captured, Use{id, Use::kCapture});
  MutableNode(id).captures = std::move(captures);
}

void Graph::UpdateConstants(NodeId id) {
  const Node& changed = node(id);
  const ValueId output = changed.output(0);
  if (output == ValueId::kNone) return;
  Value& result = MutableValue(output);
  result.tensor = changed.Is("Constant") ? ConstantOf(changed) : std::nullopt;
  if (result.tensor && result.type.kind == Type::Kind::kUnknown) result.type = TypeOf(*result.tensor);
}

// --- order ---------------------------------------------------------------------------------------------------------

size_t Graph::Place(NodeId id) const {
  const auto place = std::lower_bound(order_.begin(), order_.end(), label_[Index(id)],
                                      [&](NodeId a, int64_t label) { return label_[Index(a)] < label; });
  RLC_CHECK(place != order_.end() && *place == id);
  return static_cast<size_t>(place - order_.begin());
}

void Graph::RelabelAll() {
  for (size_t i = 0; i < order_.size(); ++i) label_[Index(order_[i])] = static_cast<int64_t>(i + 1) * kLabelGap;
}

NodeId Graph::AddNode(Node node, NodeId before) {
  const auto id = static_cast<NodeId>(nodes_.size());
  RLC_CHECK(before == NodeId::kNone || alive(before));
  node.captures.clear();
  for (size_t i = 0; i < node.inputs.size(); ++i) AddUse(node.inputs[i], Use{id, static_cast<int>(i)});
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ValueId::kNone) continue;
    Value& result = MutableValue(node.outputs[i]);
    RLC_CHECK(result.kind == Value::Kind::kNode && result.producer == NodeId::kNone);
    result.producer = id;
    result.output = static_cast<int>(i);
  }
  nodes_.emplace_back(std::move(node));
  label_.push_back(0);
  if (before == NodeId::kNone) {
    label_.back() = (order_.empty() ? 0 : label_[Index(order_.back())]) + kLabelGap;
    order_.push_back(id);
  } else {
    const size_t place = Place(before);
    const int64_t after = place == 0 ? 0 : label_[Index(order_[place - 1])];
    const int64_t next = label_[Index(before)];
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(place), id);
    if (next - after < 2) {
      RelabelAll();
    } else {
      label_.back() = after + (next - after) / 2;
    }
  }
  UpdateCaptures(id);
  UpdateConstants(id);
  return id;
}

bool Graph::SortTopologically() {
  // Kahn's algorithm; of the nodes that are ready the one that came first goes first, so a sorted graph stays as it is.
  std::vector<int> missing(nodes_.size(), 0);
  std::priority_queue<std::pair<int64_t, NodeId>, std::vector<std::pair<int64_t, NodeId>>, std::greater<>> ready;
  for (const NodeId id : order_) {
    const Node& current = node(id);
    int& count = missing[Index(id)];
    for (const std::vector<ValueId>* list : {&current.inputs, &current.captures}) {
      for (const ValueId read : *list) {
        if (read != ValueId::kNone && value(read).producer != NodeId::kNone) ++count;
      }
    }
    if (count == 0) ready.emplace(label_[Index(id)], id);
  }
  std::vector<NodeId> sorted;
  sorted.reserve(order_.size());
  while (!ready.empty()) {
    const NodeId id = ready.top().second;
    ready.pop();
    sorted.push_back(id);
    for (const ValueId output : node(id).outputs) {
      if (output == ValueId::kNone) continue;
      for (const Use& use : value(output).uses) {
        if (--missing[Index(use.node)] == 0) ready.emplace(label_[Index(use.node)], use.node);
      }
    }
  }
  if (sorted.size() != order_.size()) return false;
  if (sorted != order_) {
    order_ = std::move(sorted);
    RelabelAll();
  }
  return true;
}

}  // namespace rlc
