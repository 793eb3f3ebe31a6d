#include "rlc/onnx/infer_types.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <memory>
#include <string>
#include <utility>

#include "rlc/onnx/import_graph.h"
#include "rlc/onnx/infer_context.h"
#include "rlc/onnx/infer_control.h"
#include "rlc/onnx/proto_type.h"

namespace rlc {
namespace {

bool HasElem(const Type& type) { return type.is_tensor() && type.elem != DType::kUndefined; }

// What is declared or recorded cannot be true, given what was inferred. A number where inference has a name is one,
// too: the name stands for every size that callers may choose.
bool Contradicts(const Type& declared, const Type& inferred) {
  if (!HasElem(declared) || !HasElem(inferred)) return false;
  if (declared.elem != inferred.elem) return true;
  if (!declared.shape || !inferred.shape) return false;
  if (declared.shape->size() != inferred.shape->size()) return true;
  for (size_t i = 0; i < declared.shape->size(); ++i) {
    const Dim& ours = (*inferred.shape)[i];
    const Dim& theirs = (*declared.shape)[i];
    if (!theirs.known()) continue;
    if (ours.known() ? ours.value != theirs.value : !ours.symbol.empty()) return true;
  }
  return false;
}

// The inferred type with its gaps filled from a declaration that does not contradict it.
Type Filled(Type inferred, const Type& declared) {
  if (inferred.kind == Type::Kind::kUnknown) return declared;
  if (!inferred.is_tensor() || !declared.is_tensor()) return inferred;
  if (inferred.elem == DType::kUndefined) inferred.elem = declared.elem;
  inferred.opaque = declared.opaque;
  if (!declared.shape) return inferred;
  if (!inferred.shape) {
    inferred.shape = declared.shape;
    return inferred;
  }
  for (size_t i = 0; i < inferred.shape->size() && i < declared.shape->size(); ++i) {
    Dim& ours = (*inferred.shape)[i];
    const Dim& theirs = (*declared.shape)[i];
    if (!ours.known() && ours.symbol.empty()) {
      ours.value = theirs.value;
      ours.symbol = theirs.symbol;
    }
    ours.denotation = theirs.denotation;
  }
  return inferred;
}

Type ElemOnly(const Type& type) { return type.is_tensor() ? Type::Tensor(type.elem) : type; }

// One run over a model. `trust`: records are believed where inference leaves a gap.
class Run {
 public:
  Run(const Model* model, bool trust) : model_(model), trust_(trust) {}

  // Types of the graph's outputs. `inputs`: of a body, what the node passes (may be shorter than the body's inputs).
  Expected<std::vector<Type>> Infer(Graph& graph, const InferenceScope* outer, const std::vector<Type>& inputs);

  bool found_stale() const { return found_stale_; }
  std::vector<OnnxTypeInference::WrongDeclaration> TakeWrong() { return std::move(wrong_); }

 private:
  Expected<void> InferNode(Graph& graph, NodeId id, InferenceScope& scope, bool main);
  Expected<std::vector<Type>> InferOutputs(Graph& graph, NodeId id, InferenceScope& scope, const std::string& where,
                                           bool& known_op);
  Expected<std::vector<Type>> InferBodies(Graph& graph, NodeId id, InferenceScope& scope, const std::string& where);
  Expected<Type> Settle(Graph& graph, ValueId id, Type inferred, bool known_op, bool main, const std::string& where);
  Expected<void> PassInputs(Graph& body, InferenceScope& scope, const std::vector<Type>& inputs);

  const Model* model_;
  bool trust_;
  bool found_stale_ = false;
  std::vector<OnnxTypeInference::WrongDeclaration> wrong_;
};

Expected<std::vector<Type>> Run::InferBodies(Graph& graph, NodeId id, InferenceScope& scope, const std::string& where) {
  std::vector<Type> inputs;
  for (const ValueId input : graph.node(id).inputs) {
    const onnx::TypeProto* type = scope.type(input);
    inputs.push_back(type ? TypeFromProto(*type) : Type{});
  }
  const BodyInference infer_body = [&](const std::string& name,
                                       const std::vector<Type>& types) -> Expected<std::vector<Type>> {
    const Attribute* attribute = graph.node(id).FindAttribute(name);
    const Body* body = attribute ? std::get_if<Body>(&attribute->value) : nullptr;
    if (!body) return MakeError(ErrorKind::kInvalidInput, "{}: attribute {} is missing", where, name);
    Graph inferred(**body);
    RLC_ASSIGN_OR_RETURN(auto outputs, Infer(inferred, &scope, types));
    bool changed = false;
    for (const ValueId value : inferred.values()) changed = changed || inferred.type(value) != (*body)->type(value);
    for (const NodeId node : inferred.nodes()) changed = changed || inferred.node(node).HasBody();
    if (changed) {
      Attribute replaced{name, std::make_shared<const Graph>(std::move(inferred)), attribute->extra};
      graph.SetAttribute(id, std::move(replaced));
    }
    return outputs;
  };
  return InferControlFlow(Node(graph.node(id)), graph.opset(), inputs, infer_body, where);
}

Expected<std::vector<Type>> Run::InferOutputs(Graph& graph, NodeId id, InferenceScope& scope, const std::string& where,
                                              bool& known_op) {
  const Node& node = graph.node(id);
  known_op = false;
  if (node.HasBody()) {
    known_op = node.Is("If") || node.Is("Loop") || node.Is("Scan");
    return InferBodies(graph, id, scope, where);
  }
  const bool call = model_ && model_->IsFunctionCall(node);
  const onnx::OpSchema* schema =
      call ? nullptr : onnx::OpSchemaRegistry::Schema(node.op, graph.opset(node.domain), node.domain);
  if (!schema) return std::vector<Type>(node.outputs.size());
  known_op = true;
  RLC_ASSIGN_OR_RETURN(const auto protos, InferWithSchema(*schema, node, scope, where));
  std::vector<Type> types;
  types.reserve(protos.size());
  for (const auto& proto : protos) types.push_back(TypeFromProto(proto));
  return types;
}

Expected<Type> Run::Settle(Graph& graph, ValueId id, Type inferred, bool known_op, bool main,
                           const std::string& where) {
  const Value& value = graph.value(id);
  const bool interface = value.output_uses > 0;
  const bool contradicts = Contradicts(value.type, inferred);
  if (interface && contradicts && value.type.elem != inferred.elem) {
    return MakeError(ErrorKind::kInvalidInput, "{}: its output \"{}\" is declared as {} but is {}", where, value.name,
                     ToString(value.type), ToString(inferred));
  }
  if (interface) {
    const bool believed = !contradicts && (trust_ || main || !known_op);
    if (contradicts && main) wrong_.push_back({id, inferred});
    return believed ? Filled(std::move(inferred), value.type) : inferred;
  }
  if (!known_op) return trust_ || !value.recorded ? value.type : ElemOnly(value.type);
  if (!value.recorded) return inferred;
  found_stale_ = found_stale_ || contradicts;
  return contradicts || !trust_ ? inferred : Filled(std::move(inferred), value.type);
}

Expected<void> Run::InferNode(Graph& graph, NodeId id, InferenceScope& scope, bool main) {
  const std::string where = NodeLabel(graph, graph.node(id));
  bool known_op = false;
  RLC_ASSIGN_OR_RETURN(auto types, InferOutputs(graph, id, scope, where, known_op));
  const std::vector<ValueId> outputs = graph.node(id).outputs;
  for (size_t i = 0; i < outputs.size() && i < types.size(); ++i) {
    if (outputs[i] == ValueId::kNone) continue;
    RLC_ASSIGN_OR_RETURN(Type type, Settle(graph, outputs[i], std::move(types[i]), known_op, main, where));
    if (type.kind == Type::Kind::kUnknown) {
      if (!graph.is_output(outputs[i])) graph.SetType(outputs[i], Type{});
      continue;
    }
    onnx::TypeProto proto;
    TypeToProto(type, proto);
    scope.SetType(outputs[i], std::move(proto));
    if (!graph.is_output(outputs[i]) && type != graph.type(outputs[i])) graph.SetType(outputs[i], std::move(type));
  }
  return {};
}

Expected<void> Run::PassInputs(Graph& body, InferenceScope& scope, const std::vector<Type>& inputs) {
  for (size_t i = 0; i < inputs.size() && i < body.inputs().size(); ++i) {
    const ValueId id = body.inputs()[i];
    const Type& declared = body.type(id);
    if (HasElem(declared) && HasElem(inputs[i]) && declared.elem != inputs[i].elem) {
      return MakeError(ErrorKind::kInvalidInput, "body \"{}\": its input \"{}\" is declared as {} but gets {}",
                       body.name(), body.value(id).name, ToString(declared), ToString(inputs[i]));
    }
    const bool believed = trust_ && !Contradicts(declared, inputs[i]);
    found_stale_ = found_stale_ || Contradicts(declared, inputs[i]);
    const Type type = believed || inputs[i].kind == Type::Kind::kUnknown ? Filled(inputs[i], declared) : inputs[i];
    if (type.kind == Type::Kind::kUnknown) continue;
    onnx::TypeProto proto;
    TypeToProto(type, proto);
    scope.SetType(id, std::move(proto));
  }
  for (const ValueId id : body.values()) {
    if (body.value(id).kind != Value::Kind::kCaptured) continue;
    const onnx::TypeProto* known = scope.type(id);
    const Type type = known ? TypeFromProto(*known) : Type{};
    if (type != body.type(id)) body.SetType(id, type);
  }
  return {};
}

Expected<std::vector<Type>> Run::Infer(Graph& graph, const InferenceScope* outer, const std::vector<Type>& inputs) {
  InferenceScope scope(graph, outer);
  if (outer) RLC_RETURN_IF_ERROR(PassInputs(graph, scope, inputs));
  const std::vector<NodeId> nodes = graph.nodes();
  for (const NodeId id : nodes) RLC_RETURN_IF_ERROR(InferNode(graph, id, scope, outer == nullptr));
  std::vector<Type> outputs;
  for (const ValueId id : graph.outputs()) {
    const onnx::TypeProto* type = scope.type(id);
    outputs.push_back(type ? TypeFromProto(*type) : Type{});
  }
  return outputs;
}

}  // namespace

Expected<void> OnnxTypeInference::InferTypes(Graph& graph) {
  Run run(model_, true);
  // Stale records may be what a contradiction comes from, so the last word is had without them.
  const Graph before = graph;
  auto outputs = run.Infer(graph, nullptr, {});
  wrong_declarations_ = run.TakeWrong();
  if (outputs && !run.found_stale()) return {};
  graph = before;
  Run strict(model_, false);
  outputs = strict.Infer(graph, nullptr, {});
  wrong_declarations_ = strict.TakeWrong();
  if (outputs) return {};
  graph = before;
  return Unexpected(std::move(outputs).error());
}

}  // namespace rlc
