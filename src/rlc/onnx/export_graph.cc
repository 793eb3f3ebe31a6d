#include "rlc/onnx/export_graph.h"

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "rlc/onnx/proto_tensor.h"
#include "rlc/onnx/proto_type.h"

namespace rlc {
namespace {

using onnx::AttributeProto;

// What the importer kept for a value (import_graph.h).
onnx::GraphProto Leftovers(const Value& value) {
  onnx::GraphProto left;
  if (!value.extra.empty()) left.ParseFromString(value.extra);
  return left;
}

// Entry of a value in one of the graph's lists. `left` is what the importer kept of it.
void EntryToProto(const Value& value, const onnx::ValueInfoProto* left, bool declared_type,
                  onnx::ValueInfoProto& proto) {
  if (left) proto.CopyFrom(*left);
  proto.set_name(value.name);
  if (declared_type && proto.has_type()) {
    // The declaration differs from the type that rlc knows, and an interface never changes.
    if (proto.type().ByteSizeLong() == 0) proto.clear_type();
  } else if (value.type.kind != Type::Kind::kUnknown) {
    TypeToProto(value.type, *proto.mutable_type());
  }
}

class ValueWriter {
 public:
  explicit ValueWriter(const Value& value) : value_(value), left_(Leftovers(value)) {}
  void Input(onnx::GraphProto& graph) const {
    EntryToProto(value_, left_.input_size() > 0 ? &left_.input(0) : nullptr, false, *graph.add_input());
  }
  void Output(onnx::GraphProto& graph) const {
    EntryToProto(value_, left_.output_size() > 0 ? &left_.output(0) : nullptr, true, *graph.add_output());
  }
  void Record(onnx::GraphProto& graph) const {
    EntryToProto(value_, left_.value_info_size() > 0 ? &left_.value_info(0) : nullptr, false, *graph.add_value_info());
  }

 private:
  const Value& value_;
  const onnx::GraphProto left_;
};

void BodyToProto(const Graph& body, int64_t ir_version, Detail detail, onnx::GraphProto& proto) {
  if (detail == Detail::kFull) {
    GraphToProto(body, ir_version, true, Weights::kInside, proto);
    return;
  }
  for (const ValueId id : body.inputs()) proto.add_input()->set_name(body.value(id).name);
  for (const ValueId id : body.outputs()) proto.add_output()->set_name(body.value(id).name);
}

struct ValueToProto {
  AttributeProto& proto;
  int64_t ir_version;
  Detail detail;

  void operator()(int64_t value) const {
    proto.set_type(AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(float value) const {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(value);
  }
  void operator()(const std::string& value) const {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const Tensor& value) const {
    proto.set_type(AttributeProto::TENSOR);
    TensorToProto(value, detail == Detail::kFull, *proto.mutable_t());
  }
  void operator()(const Body& value) const {
    proto.set_type(AttributeProto::GRAPH);
    BodyToProto(*value, ir_version, detail, *proto.mutable_g());
  }
  void operator()(const std::vector<int64_t>& value) const {
    proto.set_type(AttributeProto::INTS);
    proto.mutable_ints()->Add(value.begin(), value.end());
  }
  void operator()(const std::vector<float>& value) const {
    proto.set_type(AttributeProto::FLOATS);
    proto.mutable_floats()->Add(value.begin(), value.end());
  }
  void operator()(const std::vector<std::string>& value) const {
    proto.set_type(AttributeProto::STRINGS);
    for (const std::string& text : value) proto.add_strings(text);
  }
  void operator()(const std::vector<Tensor>& value) const {
    proto.set_type(AttributeProto::TENSORS);
    // The leftovers of the importer (names, doc strings) are there already, one for each tensor, or none.
    for (size_t i = 0; i < value.size(); ++i) {
      const bool there = i < static_cast<size_t>(proto.tensors_size());
      TensorToProto(value[i], detail == Detail::kFull,
                    there ? *proto.mutable_tensors(static_cast<int>(i)) : *proto.add_tensors());
    }
  }
  void operator()(const std::vector<Body>& value) const {
    proto.set_type(AttributeProto::GRAPHS);
    for (const Body& body : value) BodyToProto(*body, ir_version, detail, *proto.add_graphs());
  }
  void operator()(const OpaqueAttribute& value) const { proto.ParseFromString(value.bytes); }
};

bool IsListedConstant(const Value& value) { return value.kind == Value::Kind::kInitializer && value.sparse.empty(); }

// IR 3 wants constants among the inputs; the file's order where the importer kept it.
void InputsToProto(const Graph& graph, bool constants_too, const onnx::GraphProto& kept, onnx::GraphProto& proto) {
  std::unordered_set<ValueId> done;
  const auto add = [&](ValueId id) {
    if (id != ValueId::kNone && done.insert(id).second) ValueWriter(graph.value(id)).Input(proto);
  };
  if (constants_too && kept.input_size() > 0) {
    // The real inputs keep their own order, whatever the kept list says.
    auto next = graph.inputs().begin();
    for (const auto& entry : kept.input()) {
      const ValueId id = graph.Find(entry.name());
      if (id == ValueId::kNone) continue;
      const Value& value = graph.value(id);
      if (IsListedConstant(value)) {
        add(id);
      } else if (value.kind == Value::Kind::kInput && next != graph.inputs().end()) {
        add(*next++);
      }
    }
  }
  for (const ValueId id : graph.inputs()) add(id);
  if (!constants_too) return;
  for (const ValueId id : graph.initializers()) {
    if (IsListedConstant(graph.value(id))) add(id);
  }
}

void SparseToProto(const Graph& graph, onnx::GraphProto& proto) {
  for (const ValueId id : graph.initializers()) {
    const Value& value = graph.value(id);
    if (!value.sparse.empty()) proto.add_sparse_initializer()->ParseFromString(value.sparse);
  }
}

}  // namespace

void AttributeToProto(const Attribute& attribute, int64_t ir_version, Detail detail, AttributeProto& proto) {
  if (!attribute.extra.empty() && detail == Detail::kFull) proto.ParseFromString(attribute.extra);
  std::visit(ValueToProto{proto, ir_version, detail}, attribute.value);
  proto.set_name(attribute.name);
}

void NodeToProto(const Graph& graph, const Node& node, int64_t ir_version, Detail detail, onnx::NodeProto& proto) {
  if (!node.extra.empty() && detail == Detail::kFull) proto.ParseFromString(node.extra);
  for (const ValueId id : node.inputs) proto.add_input(id == ValueId::kNone ? std::string() : graph.value(id).name);
  for (const ValueId id : node.outputs) proto.add_output(id == ValueId::kNone ? std::string() : graph.value(id).name);
  proto.set_op_type(node.op);
  if (!node.name.empty()) proto.set_name(node.name);
  if (!node.overload.empty()) proto.set_overload(node.overload);
  if (!node.domain.empty()) {
    proto.set_domain(node.domain);
  } else if (proto.has_domain() && proto.domain() != "ai.onnx") {
    proto.set_domain("");
  }
  for (const Attribute& attribute : node.attributes) {
    AttributeToProto(attribute, ir_version, detail, *proto.add_attribute());
  }
}

void InitializerToProto(const Value& value, bool with_elements, onnx::TensorProto& proto) {
  if (!value.extra.empty()) {
    onnx::GraphProto left = Leftovers(value);
    if (left.initializer_size() > 0) proto = std::move(*left.mutable_initializer(0));
  }
  TensorToProto(*value.tensor, with_elements, proto);
  proto.set_name(value.name);
}

void GraphToProto(const Graph& graph, int64_t ir_version, bool body, Weights weights, onnx::GraphProto& proto) {
  onnx::GraphProto kept;
  if (!graph.extra.empty()) {
    proto.ParseFromString(graph.extra);
    kept.mutable_input()->Swap(proto.mutable_input());
  }
  if (!graph.name().empty()) proto.set_name(graph.name());
  for (const NodeId id : graph.nodes()) {
    NodeToProto(graph, graph.node(id), ir_version, Detail::kFull, *proto.add_node());
  }
  if (weights == Weights::kInside) {
    for (const ValueId id : graph.initializers()) {
      if (graph.value(id).tensor) InitializerToProto(graph.value(id), true, *proto.add_initializer());
    }
  }
  SparseToProto(graph, proto);
  InputsToProto(graph, !body && ir_version < 4, kept, proto);
  for (const ValueId id : graph.outputs()) ValueWriter(graph.value(id)).Output(proto);
  for (const ValueId id : graph.values()) {
    if (graph.value(id).recorded) ValueWriter(graph.value(id)).Record(proto);
  }
}

}  // namespace rlc
