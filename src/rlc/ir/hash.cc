#include "rlc/ir/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "rlc/base/hash.h"

namespace rlc {
namespace {

// Names that captured values stand for: the hashes of the enclosing graphs' values.
using Outer = std::map<std::string, std::string>;

void AddTensor(Hasher& hasher, const Tensor& tensor) {
  hasher.AddInt(static_cast<uint64_t>(tensor.dtype())).AddInt(tensor.dims().size());
  for (const int64_t dim : tensor.dims()) hasher.AddInt(static_cast<uint64_t>(dim));
  hasher.AddInt(tensor.bytes().size()).Add(tensor.bytes());
  for (const std::string& text : tensor.strings()) hasher.AddText(text);
}

void AddType(Hasher& hasher, const Type& type) {
  hasher.AddInt(static_cast<uint64_t>(type.kind)).AddInt(static_cast<uint64_t>(type.elem)).AddText(type.opaque);
  hasher.AddInt(type.shape ? type.shape->size() + 1 : 0);
  if (!type.shape) return;
  for (const Dim& dim : *type.shape) hasher.AddInt(static_cast<uint64_t>(dim.value)).AddText(dim.symbol);
}

// Each value's hash is that of what computes it, down to the inputs: so names and order play no part.
class GraphHasher {
 public:
  // The names of a body's inputs and outputs mean nothing; those of the main graph (outer == nullptr) are its
  // interface.
  GraphHasher(const Graph& graph, const Outer* outer) : graph_(graph), outer_(outer), hashes_(graph.value_limit()) {}

  std::string Hash();

 private:
  void HashSources();
  std::string HashNode(const Node& node);
  void AddAttribute(Hasher& hasher, const Node& node, const Attribute& attribute);
  std::string HashBody(const Node& node, const Graph& body);
  std::string& At(ValueId id) { return hashes_[static_cast<size_t>(static_cast<int32_t>(id))]; }

  const Graph& graph_;
  const Outer* outer_;
  std::vector<std::string> hashes_;
};

void GraphHasher::HashSources() {
  for (const ValueId id : graph_.values()) {
    const Value& value = graph_.value(id);
    Hasher hasher;
    if (value.kind == Value::Kind::kInitializer) {
      hasher.AddText("constant").AddText(value.sparse);
      if (value.tensor) AddTensor(hasher, *value.tensor);
    } else if (value.kind == Value::Kind::kCaptured) {
      hasher.AddText("captured")
          .AddText(outer_ != nullptr && outer_->contains(value.name) ? outer_->at(value.name) : "");
    } else {
      continue;
    }
    At(id) = hasher.Hex();
  }
  // Inputs are told apart by their place; names of the interface come in Hash().
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    Hasher hasher;
    hasher.AddText("input").AddInt(i);
    const Value& value = graph_.value(graph_.inputs()[i]);
    AddType(hasher, value.type);
    if (value.tensor) AddTensor(hasher, *value.tensor);
    At(graph_.inputs()[i]) = hasher.Hex();
  }
}

std::string GraphHasher::HashBody(const Node& node, const Graph& body) {
  Outer outer;
  for (const ValueId captured : node.captures) outer[graph_.value(captured).name] = At(captured);
  return GraphHasher(body, &outer).Hash();
}

void GraphHasher::AddAttribute(Hasher& hasher, const Node& node, const Attribute& attribute) {
  const AttributeValue& value = attribute.value;
  hasher.AddText(attribute.name).AddInt(value.index());
  const auto add_float = [&](float number) { hasher.AddInt(std::bit_cast<uint32_t>(number)); };
  if (const auto* number = std::get_if<int64_t>(&value)) hasher.AddInt(static_cast<uint64_t>(*number));
  if (const auto* number = std::get_if<float>(&value)) add_float(*number);
  if (const auto* text = std::get_if<std::string>(&value)) hasher.AddText(*text);
  if (const auto* tensor = std::get_if<Tensor>(&value)) AddTensor(hasher, *tensor);
  if (const auto* opaque = std::get_if<OpaqueAttribute>(&value)) hasher.AddText(opaque->bytes);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    hasher.AddInt(list->size());
    for (const int64_t number : *list) hasher.AddInt(static_cast<uint64_t>(number));
  }
  if (const auto* list = std::get_if<std::vector<float>>(&value)) {
    hasher.AddInt(list->size());
    for (const float number : *list) add_float(number);
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    hasher.AddInt(list->size());
    for (const std::string& text : *list) hasher.AddText(text);
  }
  if (const auto* list = std::get_if<std::vector<Tensor>>(&value)) {
    hasher.AddInt(list->size());
    for (const Tensor& tensor : *list) AddTensor(hasher, tensor);
  }
  const std::vector<Body> bodies = BodiesOf(value);
  hasher.AddInt(bodies.size());
  for (const Body& body : bodies) hasher.AddText(HashBody(node, *body));
}

std::string GraphHasher::HashNode(const Node& node) {
  Hasher hasher;
  hasher.AddText("node").AddText(node.domain).AddText(node.op).AddText(node.overload);
  hasher.AddInt(node.inputs.size());
  for (const ValueId input : node.inputs) hasher.AddText(input == ValueId::kNone ? "" : At(input));
  std::vector<const Attribute*> attributes;
  for (const Attribute& attribute : node.attributes) attributes.push_back(&attribute);
  std::sort(attributes.begin(), attributes.end(),
            [](const Attribute* a, const Attribute* b) { return a->name < b->name; });
  hasher.AddInt(attributes.size());
  for (const Attribute* attribute : attributes) AddAttribute(hasher, node, *attribute);
  // Which optional outputs are asked for can change what the operator computes.
  hasher.AddInt(node.outputs.size());
  for (const ValueId output : node.outputs) hasher.AddInt(output == ValueId::kNone ? 0 : 1);
  return hasher.Hex();
}

std::string GraphHasher::Hash() {
  HashSources();
  for (const NodeId id : graph_.nodes()) {
    const Node& node = graph_.node(id);
    const std::string hash = HashNode(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == ValueId::kNone) continue;
      Hasher hasher;
      hasher.AddText(hash).AddInt(i);
      At(node.outputs[i]) = hasher.Hex();
    }
  }
  Hasher hasher;
  hasher.AddInt(graph_.opsets().size());
  for (const auto& [domain, version] : graph_.opsets()) hasher.AddText(domain).AddInt(static_cast<uint64_t>(version));
  hasher.AddInt(graph_.inputs().size());
  for (const ValueId id : graph_.inputs()) {
    hasher.AddText(outer_ == nullptr ? graph_.value(id).name : "").AddText(At(id));
  }
  hasher.AddInt(graph_.outputs().size());
  for (const ValueId id : graph_.outputs()) {
    hasher.AddText(outer_ == nullptr ? graph_.value(id).name : "").AddText(At(id));
    AddType(hasher, graph_.type(id));
  }
  return hasher.Hex();
}

}  // namespace

std::string StructuralHash(const Graph& graph) { return GraphHasher(graph, nullptr).Hash(); }

std::string StructuralHash(const Model& model) {
  Hasher hasher;
  hasher.AddInt(static_cast<uint64_t>(model.ir_version)).AddText(StructuralHash(model.graph));
  for (const Function& function : model.functions) {
    hasher.AddText(function.domain).AddText(function.name).AddText(function.overload).AddText(function.bytes);
  }
  return hasher.Hex();
}

}  // namespace rlc
