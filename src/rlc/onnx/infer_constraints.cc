#include "rlc/onnx/infer_constraints.h"

#include <onnx/defs/data_type_utils.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace rlc {
namespace {

using onnx::DataType;
using onnx::Utils::DataTypeUtils;

// The library's name of a tensor type; names are made once and compared by address. Null: an unknown element type.
DataType TensorTypeName(int elem) {
  static const auto names = [] {
    std::array<DataType, 64> made{};
    for (int i = 1; i < static_cast<int>(made.size()); ++i) {
      if (!onnx::TensorProto_DataType_IsValid(i)) continue;
      onnx::TypeProto type;
      type.mutable_tensor_type()->set_elem_type(i);
      made[static_cast<size_t>(i)] = DataTypeUtils::ToType(type);
    }
    return made;
  }();
  return elem > 0 && static_cast<size_t>(elem) < names.size() ? names[static_cast<size_t>(elem)] : nullptr;
}

DataType TypeName(const onnx::TypeProto& type) {
  if (type.has_tensor_type()) return TensorTypeName(type.tensor_type().elem_type());
  return DataTypeUtils::ToType(type);
}

class Constraints {
 public:
  explicit Constraints(const std::string& where) : where_(where) {}

  using Parameter = onnx::OpSchema::FormalParameter;

  Expected<void> Check(const Parameter& parameter, DataType type, const char* kind) {
    const auto& allowed = parameter.GetTypes();
    if (!allowed.empty() && allowed.count(type) == 0) {
      return MakeError(ErrorKind::kInvalidInput, "{}: {} {} is {}, which this operator does not take", where_, kind,
                       parameter.GetName(), *type);
    }
    if (!parameter.GetIsHomogeneous()) return {};
    const DataType bound = Bound(parameter);
    if (!bound) bound_.emplace_back(parameter.GetTypeStr(), type);
    if (bound && bound != type) {
      return MakeError(ErrorKind::kInvalidInput, "{}: {} {} is {} where {} is needed", where_, kind,
                       parameter.GetName(), *type, *bound);
    }
    return {};
  }
  // The type that is left for a parameter, null when there are several.
  DataType Only(const Parameter& parameter) const {
    const auto& allowed = parameter.GetTypes();
    return allowed.size() == 1 ? *allowed.begin() : Bound(parameter);
  }

 private:
  DataType Bound(const Parameter& parameter) const {
    for (const auto& [variable, type] : bound_) {
      if (variable == parameter.GetTypeStr()) return type;
    }
    return nullptr;
  }

  const std::string& where_;
  std::vector<std::pair<std::string_view, DataType>> bound_;
};

// The last parameter of a variadic list stands for all that follow.
const onnx::OpSchema::FormalParameter& At(const std::vector<onnx::OpSchema::FormalParameter>& list, size_t index) {
  return index < list.size() ? list[index] : list.back();
}

}  // namespace

Expected<void> CheckConstraints(const onnx::OpSchema& schema, onnx::InferenceContext& context,
                                const std::string& where) {
  Constraints constraints(where);
  for (size_t i = 0; i < context.getNumInputs() && !schema.inputs().empty(); ++i) {
    const onnx::TypeProto* type = context.getInputType(i);
    const DataType name = type && type->value_case() != onnx::TypeProto::VALUE_NOT_SET ? TypeName(*type) : nullptr;
    if (name) RLC_RETURN_IF_ERROR(constraints.Check(At(schema.inputs(), i), name, "input"));
  }
  for (size_t i = 0; i < context.getNumOutputs() && !schema.outputs().empty(); ++i) {
    const auto& parameter = At(schema.outputs(), i);
    onnx::TypeProto* type = context.getOutputType(i);
    if (type->value_case() == onnx::TypeProto::VALUE_NOT_SET) {
      if (const DataType only = constraints.Only(parameter)) *type = DataTypeUtils::ToTypeProto(only);
    }
    const DataType name = type->value_case() == onnx::TypeProto::VALUE_NOT_SET ? nullptr : TypeName(*type);
    if (name) RLC_RETURN_IF_ERROR(constraints.Check(parameter, name, "output"));
  }
  return {};
}

}  // namespace rlc
