#include "rlc/onnx/infer_control.h"

#include <algorithm>
#include <utility>

namespace rlc {
namespace {

constexpr auto kInvalid = ErrorKind::kInvalidInput;

// What holds for both types: a size stays where both agree. Opaque types: only if equal.
Type Union(const Type& a, const Type& b) {
  if (a == b) return a;
  if (!a.is_tensor() || !b.is_tensor() || a.elem != b.elem) return Type{};
  Type both = Type::Tensor(a.elem);
  if (a.rank() < 0 || a.rank() != b.rank()) return both;
  Shape shape;
  for (size_t i = 0; i < a.shape->size(); ++i) {
    shape.push_back((*a.shape)[i].SameAs((*b.shape)[i]) ? (*a.shape)[i] : Dim{});
  }
  both.shape = std::move(shape);
  return both;
}

Type WithoutShape(Type type) {
  if (type.is_tensor()) type.shape.reset();
  return type.is_tensor() ? type : Type{};
}

bool ElemsDiffer(const Type& a, const Type& b) {
  return a.is_tensor() && b.is_tensor() && a.elem != b.elem && a.elem != DType::kUndefined &&
         b.elem != DType::kUndefined;
}

// A single value of that type, where anything is known of it.
Expected<void> CheckSingle(const Node& node, const std::vector<Type>& inputs, size_t index, DType elem,
                           const char* what, const std::string& where) {
  if (index >= node.inputs.size() || node.input(index) == ValueId::kNone) return {};
  const Type& type = inputs[index];
  if (!type.is_tensor() || type.elem == DType::kUndefined) return {};
  const auto dims = type.shape ? StaticDims(*type.shape) : std::nullopt;
  const bool single = !dims || ElementCount(*dims) == 1;
  if (type.elem == elem && single) return {};
  return MakeError(kInvalid, "{}: its {} is {}, a single {} is needed", where, what, ToString(type), DTypeName(elem));
}

// As many inputs as the node passes; those with a value of their own may be left out.
Expected<void> CheckBodyInputs(const Node& node, const char* name, size_t passed, const std::string& where) {
  const Attribute* attribute = node.FindAttribute(name);
  const Body* body = attribute ? std::get_if<Body>(&attribute->value) : nullptr;
  if (!body) return {};  // said elsewhere
  const auto& inputs = (*body)->inputs();
  const auto needed = static_cast<size_t>(std::count_if(
      inputs.begin(), inputs.end(), [&](ValueId id) { return (*body)->value(id).kind == Value::Kind::kInput; }));
  if (needed <= passed && passed <= inputs.size()) return {};
  return MakeError(kInvalid, "{}: {} takes {} inputs, but gets {}", where, name, inputs.size(), passed);
}

Expected<std::vector<Type>> InferIf(const Node& node, const std::vector<Type>& inputs, const BodyInference& infer_body,
                                    const std::string& where) {
  RLC_RETURN_IF_ERROR(CheckSingle(node, inputs, 0, DType::kBool, "condition", where));
  for (const char* branch : {"then_branch", "else_branch"}) {
    RLC_RETURN_IF_ERROR(CheckBodyInputs(node, branch, 0, where));
  }
  RLC_ASSIGN_OR_RETURN(auto then_types, infer_body("then_branch", {}));
  RLC_ASSIGN_OR_RETURN(auto else_types, infer_body("else_branch", {}));
  const size_t count = node.outputs.size();
  if (then_types.size() != count || else_types.size() != count) {
    return MakeError(kInvalid, "{}: has {} outputs, but its branches return {} and {}", where, count, then_types.size(),
                     else_types.size());
  }
  std::vector<Type> outputs;
  for (size_t i = 0; i < count; ++i) {
    if (ElemsDiffer(then_types[i], else_types[i])) {
      return MakeError(kInvalid, "{}: its branches return {} and {} for output {}", where, ToString(then_types[i]),
                       ToString(else_types[i]), i);
    }
    outputs.push_back(Union(then_types[i], else_types[i]));
  }
  return outputs;
}

// A dimension that every element of a scan output gets in front, at `axis`.
Type Stacked(const Type& element, size_t axis, Dim length) {
  if (!element.is_tensor()) return Type{};
  Type stacked = Type::Tensor(element.elem);
  if (element.shape && axis <= element.shape->size()) {
    stacked.shape = element.shape;
    stacked.shape->insert(stacked.shape->begin() + static_cast<std::ptrdiff_t>(axis), std::move(length));
  }
  return stacked;
}

Expected<std::vector<Type>> InferLoop(const Node& node, const std::vector<Type>& inputs,
                                      const BodyInference& infer_body, const std::string& where) {
  if (inputs.size() < 2) return MakeError(kInvalid, "{}: Loop needs two inputs or more", where);
  const size_t states = inputs.size() - 2;
  RLC_RETURN_IF_ERROR(CheckSingle(node, inputs, 0, DType::kInt64, "number of turns", where));
  RLC_RETURN_IF_ERROR(CheckSingle(node, inputs, 1, DType::kBool, "condition", where));
  RLC_RETURN_IF_ERROR(CheckBodyInputs(node, "body", states + 2, where));
  std::vector<Type> body_inputs = {Type::Tensor(DType::kInt64), Type::Tensor(DType::kBool)};
  // The shape of a state may change from one iteration to the next.
  for (size_t i = 0; i < states; ++i) body_inputs.push_back(WithoutShape(inputs[i + 2]));
  RLC_ASSIGN_OR_RETURN(auto types, infer_body("body", body_inputs));
  if (types.size() != node.outputs.size() + 1 || node.outputs.size() < states) {
    return MakeError(kInvalid, "{}: has {} outputs and {} states, but its body returns {} values (condition included)",
                     where, node.outputs.size(), states, types.size());
  }
  std::vector<Type> outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Type& type = types[i + 1];
    if (i >= states) {
      outputs.push_back(Stacked(type, 0, Dim{}));
      continue;
    }
    if (ElemsDiffer(type, inputs[i + 2])) {
      return MakeError(kInvalid, "{}: state {} starts as {} and becomes {}", where, i, ToString(inputs[i + 2]),
                       ToString(type));
    }
    // No iteration at all: the initial value comes out.
    outputs.push_back(Union(inputs[i + 2], type));
  }
  return outputs;
}

// Axis of scan input or output `index`, counted from the front. Error: not within `rank`.
Expected<size_t> ScanAxis(const Node& node, const char* attribute, size_t index, int rank, const std::string& where) {
  const auto axes = node.GetInts(attribute);
  int64_t axis = axes && index < axes->size() ? (*axes)[index] : 0;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return MakeError(kInvalid, "{}: {} lie outside rank {}", where, attribute, rank);
  return static_cast<size_t>(axis);
}

Expected<std::vector<Type>> InferScan(const Node& node, const std::vector<Type>& inputs,
                                      const BodyInference& infer_body, const std::string& where) {
  const int64_t scanned = node.GetInt("num_scan_inputs", 0).value_or(0);
  if (scanned < 1 || static_cast<size_t>(scanned) > inputs.size()) {
    return MakeError(kInvalid, "{}: num_scan_inputs is {}, with {} inputs", where, scanned, inputs.size());
  }
  const size_t states = inputs.size() - static_cast<size_t>(scanned);
  RLC_RETURN_IF_ERROR(CheckBodyInputs(node, "body", inputs.size(), where));
  std::vector<Type> body_inputs(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(states));
  Dim length;
  for (size_t i = states; i < inputs.size(); ++i) {
    Type slice = inputs[i].is_tensor() ? inputs[i] : Type{};
    if (slice.rank() >= 0) {
      RLC_ASSIGN_OR_RETURN(const size_t axis, ScanAxis(node, "scan_input_axes", i - states, slice.rank(), where));
      const auto place = slice.shape->begin() + static_cast<std::ptrdiff_t>(axis);
      if (length.known() && place->known() && length.value != place->value) {
        return MakeError(kInvalid, "{}: scan inputs have lengths {} and {}", where, length.value, place->value);
      }
      if (!length.known()) length = *place;
      length.denotation.clear();
      slice.shape->erase(place);
    }
    body_inputs.push_back(std::move(slice));
  }
  RLC_ASSIGN_OR_RETURN(auto types, infer_body("body", body_inputs));
  if (types.size() != node.outputs.size() || types.size() < states) {
    return MakeError(kInvalid, "{}: has {} outputs and {} states, but its body returns {} values", where,
                     node.outputs.size(), states, types.size());
  }
  std::vector<Type> outputs;
  for (size_t i = 0; i < types.size(); ++i) {
    if (i < states) {
      outputs.push_back(Union(inputs[i], types[i]));
    } else if (types[i].rank() < 0) {
      outputs.push_back(WithoutShape(types[i]));
    } else {
      RLC_ASSIGN_OR_RETURN(const size_t axis,
                           ScanAxis(node, "scan_output_axes", i - states, types[i].rank() + 1, where));
      outputs.push_back(Stacked(types[i], axis, length));
    }
  }
  return outputs;
}

}  // namespace

Expected<std::vector<Type>> InferControlFlow(const Node& node, int opset, const std::vector<Type>& inputs,
                                             const BodyInference& infer_body, const std::string& where) {
  if (node.Is("If")) return InferIf(node, inputs, infer_body, where);
  if (node.Is("Loop")) return InferLoop(node, inputs, infer_body, where);
  // Opset 8 had a batch axis in front of everything; nobody uses it.
  if (node.Is("Scan") && opset >= 9) return InferScan(node, inputs, infer_body, where);
  for (const Attribute& attribute : node.attributes) {
    if (!std::holds_alternative<Body>(attribute.value)) continue;
    RLC_RETURN_IF_ERROR(infer_body(attribute.name, {}));
  }
  return std::vector<Type>(node.outputs.size());
}

}  // namespace rlc
