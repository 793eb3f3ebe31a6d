#include "rlc/onnx/infer_context.h"

#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "rlc/onnx/export_graph.h"
#include "rlc/onnx/guard.h"
#include "rlc/onnx/infer_constraints.h"
#include "rlc/onnx/infer_guards.h"
#include "rlc/onnx/proto_tensor.h"
#include "rlc/onnx/proto_type.h"

namespace rlc {
namespace {

// Constants above this size are no shapes, axes, scales or the like: inference is told their type only.
constexpr int64_t kMaxConstantElements = 4096;
// Bound of shape arithmetic: longer lists are not followed. (Concat of a list with itself doubles it each time.)
constexpr int kMaxListLength = 256;

size_t Index(ValueId id) { return static_cast<size_t>(static_cast<int32_t>(id)); }

bool IsIndexType(const onnx::TypeProto* type) {
  if (!type || !type->has_tensor_type() || !type->tensor_type().has_shape()) return false;
  const int elem = type->tensor_type().elem_type();
  return (elem == onnx::TensorProto::INT64 || elem == onnx::TensorProto::INT32) &&
         type->tensor_type().shape().dim_size() <= 1;
}

// A list of elements as a constant, when all of them are known.
std::optional<Tensor> ConstantFromElements(const onnx::TensorShapeProto& elements, const onnx::TypeProto* type) {
  if (!IsIndexType(type)) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const auto& dim : elements.dim()) {
    if (!dim.has_dim_value()) return std::nullopt;
    numbers.push_back(dim.dim_value());
  }
  const bool list = type->tensor_type().shape().dim_size() == 1;
  if (!list && numbers.size() != 1) return std::nullopt;
  std::vector<int64_t> dims;
  if (list) dims.push_back(static_cast<int64_t>(numbers.size()));
  if (type->tensor_type().elem_type() == onnx::TensorProto::INT64) return Tensor::Of(std::move(dims), numbers);
  return Tensor::Of(std::move(dims), std::vector<int32_t>(numbers.begin(), numbers.end()));
}

// Attributes as messages, made when first asked for.
class AttributeTable {
 public:
  explicit AttributeTable(const Node& node) : node_(node), messages_(node.attributes.size()) {}

  const onnx::AttributeProto* Find(const std::string& name) {
    for (size_t i = 0; i < messages_.size(); ++i) {
      const Attribute& attribute = node_.attributes[i];
      if (attribute.name != name) continue;
      if (!messages_[i]) {
        const auto* tensor = std::get_if<Tensor>(&attribute.value);
        const bool small = !tensor || tensor->size() <= kMaxConstantElements;
        const bool body = std::holds_alternative<Body>(attribute.value);
        messages_[i] = std::make_unique<onnx::AttributeProto>();
        AttributeToProto(attribute, onnx::Version::IR_VERSION, small && !body ? Detail::kFull : Detail::kOutline,
                         *messages_[i]);
        // The library does not return from a space in an equation.
        if (node_.Is("Einsum") && name == "equation") std::erase(*messages_[i]->mutable_s(), ' ');
      }
      return messages_[i].get();
    }
    return nullptr;
  }

 private:
  const Node& node_;
  std::vector<std::unique_ptr<onnx::AttributeProto>> messages_;
};

class NodeContext : public onnx::InferenceContext {
 public:
  NodeContext(const Node& node, const InferenceScope& scope, AttributeTable& attributes)
      : node_(node), scope_(scope), attributes_(attributes), data_(node.inputs.size()), outputs_(node.outputs.size()) {}

  std::vector<onnx::TypeProto> TakeOutputs() { return std::move(outputs_); }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override { return attributes_.Find(name); }
  size_t getNumInputs() const override { return node_.inputs.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override { return scope_.type(Input(index)); }
  bool hasInput(size_t index) const override { return node_.input(index) != ValueId::kNone; }
  const onnx::TensorProto* getInputData(size_t index) const override {
    const ValueId id = Input(index);
    if (id == ValueId::kNone) return nullptr;
    if (!data_[index]) {
      std::optional<Tensor> made;
      const Tensor* tensor = scope_.constant(id);
      if (!tensor && scope_.elements(id)) {
        made = ConstantFromElements(*scope_.elements(id), scope_.type(id));
        if (made) tensor = &*made;
      }
      if (!tensor || tensor->size() > kMaxConstantElements) return nullptr;
      data_[index] = std::make_unique<onnx::TensorProto>();
      TensorToProto(*tensor, true, *data_[index]);
    }
    return data_[index].get();
  }
  size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(size_t index) override {
    if (index >= outputs_.size()) throw std::runtime_error("has no output " + std::to_string(index));
    return &outputs_[index];
  }
  bool hasOutput(size_t index) override { return node_.output(index) != ValueId::kNone; }
  // Bodies are inferred by rlc itself (infer_control.h), never through this.
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string&) override { return nullptr; }
  const onnx::SparseTensorProto* getInputSparseData(size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(size_t index) const override { return scope_.elements(Input(index)); }

 private:
  ValueId Input(size_t index) const {
    if (index >= node_.inputs.size()) throw std::runtime_error("has no input " + std::to_string(index));
    return node_.inputs[index];
  }

  const Node& node_;
  const InferenceScope& scope_;
  AttributeTable& attributes_;
  mutable std::vector<std::unique_ptr<onnx::TensorProto>> data_;
  std::vector<onnx::TypeProto> outputs_;
};

class PropagationContext : public onnx::DataPropagationContext {
 public:
  PropagationContext(const Node& node, const std::vector<onnx::TypeProto>& outputs, InferenceScope& scope,
                     AttributeTable& attributes)
      : node_(node), outputs_(outputs), scope_(scope), attributes_(attributes) {}

  const onnx::AttributeProto* getAttribute(const std::string& name) const override { return attributes_.Find(name); }
  size_t getNumInputs() const override { return node_.inputs.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override { return scope_.type(node_.input(index)); }
  size_t getNumOutputs() const override { return outputs_.size(); }
  const onnx::TypeProto* getOutputType(size_t index) const override {
    return index < outputs_.size() ? &outputs_[index] : nullptr;
  }
  const onnx::TensorShapeProto* getInputData(size_t index) override {
    const ValueId id = node_.input(index);
    if (id == ValueId::kNone) return nullptr;
    if (const auto* known = scope_.elements(id)) return known;
    onnx::TensorShapeProto list;
    if (const Tensor* tensor = scope_.constant(id)) {
      if (tensor->rank() > 1 || tensor->size() > kMaxListLength) return nullptr;
      if (tensor->dtype() != DType::kInt64 && tensor->dtype() != DType::kInt32) return nullptr;
      const auto numbers = tensor->ToInt64s();
      if (!numbers) return nullptr;
      for (const int64_t number : *numbers) list.add_dim()->set_dim_value(number);
    } else if (IsIndexType(scope_.type(id)) && scope_.type(id)->tensor_type().shape().dim_size() == 1) {
      // A list of known length, all elements unknown.
      const auto& length = scope_.type(id)->tensor_type().shape().dim(0);
      if (!length.has_dim_value() || length.dim_value() > kMaxListLength) return nullptr;
      for (int64_t i = 0; i < length.dim_value(); ++i) list.add_dim();
    } else {
      return nullptr;
    }
    scope_.SetElements(id, std::move(list));
    return scope_.elements(id);
  }
  void addOutputData(size_t index, onnx::TensorShapeProto&& elements) override {
    const ValueId id = node_.output(index);
    if (id != ValueId::kNone && elements.dim_size() <= kMaxListLength) scope_.SetElements(id, std::move(elements));
  }

 private:
  const Node& node_;
  const std::vector<onnx::TypeProto>& outputs_;
  InferenceScope& scope_;
  AttributeTable& attributes_;
};

// Lists are propagated for integer results only: a list that went through floats is no shape any more.
bool MayBeList(const std::vector<onnx::TypeProto>& outputs, const Node& node) {
  return !outputs.empty() && node.inputs.size() <= static_cast<size_t>(kMaxListLength) && IsIndexType(&outputs[0]);
}

}  // namespace

InferenceScope::InferenceScope(const Graph& graph, const InferenceScope* outer)
    : graph_(graph), facts_(graph.value_limit()) {
  for (const ValueId id : graph.values()) {
    const Value& value = graph.value(id);
    Facts& facts = At(id);
    facts.constant = graph.constant(id);
    if (value.kind == Value::Kind::kCaptured && outer) {
      if (const Facts* known = outer->Find(outer->graph().Find(value.name))) facts = *known;
    } else if (value.kind != Value::Kind::kNode && value.type.kind != Type::Kind::kUnknown) {
      onnx::TypeProto type;
      TypeToProto(value.type, type);
      SetType(id, std::move(type));
    }
  }
}

InferenceScope::~InferenceScope() = default;

const InferenceScope::Facts* InferenceScope::Find(ValueId id) const {
  return id == ValueId::kNone || Index(id) >= facts_.size() ? nullptr : &facts_[Index(id)];
}

InferenceScope::Facts& InferenceScope::At(ValueId id) {
  RLC_CHECK(id != ValueId::kNone);
  if (Index(id) >= facts_.size()) facts_.resize(graph_.value_limit());
  return facts_[Index(id)];
}

const onnx::TypeProto* InferenceScope::type(ValueId id) const {
  const Facts* facts = Find(id);
  return facts ? facts->type : nullptr;
}

const Tensor* InferenceScope::constant(ValueId id) const {
  const Facts* facts = Find(id);
  return facts ? facts->constant : nullptr;
}

const onnx::TensorShapeProto* InferenceScope::elements(ValueId id) const {
  const Facts* facts = Find(id);
  return facts ? facts->elements : nullptr;
}

void InferenceScope::SetType(ValueId id, onnx::TypeProto type) {
  types_.push_back(std::move(type));
  At(id).type = &types_.back();
}

void InferenceScope::SetElements(ValueId id, onnx::TensorShapeProto elements) {
  elements_.push_back(std::move(elements));
  At(id).elements = &elements_.back();
}

namespace {

// Runtimes take a list of one number for a scalar here, and even ONNX's own models use that; its inference function
// refuses it.
bool HasListsForScalars(const Node& node, const InferenceScope& scope) {
  if (!node.Is("Range")) return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    const onnx::TypeProto* type = id == ValueId::kNone ? nullptr : scope.type(id);
    if (!type || !type->tensor_type().has_shape()) return false;
    const onnx::TensorShapeProto& shape = type->tensor_type().shape();
    return shape.dim_size() == 1 && (!shape.dim(0).has_dim_value() || shape.dim(0).dim_value() == 1);
  });
}

}  // namespace

Expected<std::vector<onnx::TypeProto>> InferWithSchema(const onnx::OpSchema& schema, const Node& node,
                                                       InferenceScope& scope, const std::string& where) {
  AttributeTable attributes(node);
  NodeContext context(node, scope, attributes);
  RLC_RETURN_IF_ERROR(CheckOperands(node, context, where));
  // Inference functions take for granted that inputs have types. The constraints below may still tell element types.
  bool complete = true;
  for (const ValueId id : node.inputs) complete = complete && (id == ValueId::kNone || scope.type(id));
  complete = complete && !HasListsForScalars(node, scope);
  Expected<void> constraints;
  RLC_RETURN_IF_ERROR(Guarded(ErrorKind::kInvalidInput, where, [&] {
    if (complete && schema.has_type_and_shape_inference_function()) schema.GetTypeAndShapeInferenceFunction()(context);
    constraints = CheckConstraints(schema, context, where);
  }));
  RLC_RETURN_IF_ERROR(std::move(constraints));
  std::vector<onnx::TypeProto> outputs = context.TakeOutputs();
  if (complete && schema.has_data_propagation_function() && MayBeList(outputs, node)) {
    PropagationContext propagation(node, outputs, scope, attributes);
    RLC_RETURN_IF_ERROR(
        Guarded(ErrorKind::kInvalidInput, where, [&] { schema.GetDataPropagationFunction()(propagation); }));
  }
  return outputs;
}

}  // namespace rlc
