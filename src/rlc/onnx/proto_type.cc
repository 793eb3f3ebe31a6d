#include "rlc/onnx/proto_type.h"

#include <onnx/onnx_pb.h>

#include <utility>

namespace rlc {

Shape ShapeFromProto(const onnx::TensorShapeProto& proto) {
  Shape shape;
  shape.reserve(proto.dim_size());
  for (const auto& dim : proto.dim()) {
    Dim result;
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      result.value = dim.dim_value();
    } else if (dim.has_dim_param()) {
      result.symbol = dim.dim_param();
    }
    result.denotation = dim.denotation();
    shape.push_back(std::move(result));
  }
  return shape;
}

void ShapeToProto(const Shape& shape, onnx::TensorShapeProto& proto) {
  proto.Clear();
  for (const Dim& dim : shape) {
    auto* out = proto.add_dim();
    if (dim.known()) {
      out->set_dim_value(dim.value);
    } else if (!dim.symbol.empty()) {
      out->set_dim_param(dim.symbol);
    }
    if (!dim.denotation.empty()) out->set_denotation(dim.denotation);
  }
}

void TypeToProto(const Type& type, onnx::TypeProto& proto) {
  proto.Clear();
  switch (type.kind) {
    case Type::Kind::kUnknown:
      return;
    case Type::Kind::kOpaque:
      // The bytes come from TypeFromProto, so they parse.
      proto.ParseFromString(type.opaque);
      return;
    case Type::Kind::kTensor:
      proto.mutable_tensor_type()->set_elem_type(static_cast<int>(type.elem));
      if (type.shape) ShapeToProto(*type.shape, *proto.mutable_tensor_type()->mutable_shape());
      if (!type.opaque.empty()) proto.set_denotation(type.opaque);
      return;
  }
}

Type TypeFromProto(const onnx::TypeProto& proto) {
  Type type;
  if (proto.has_tensor_type()) {
    const auto& tensor = proto.tensor_type();
    type = Type::Tensor(static_cast<DType>(tensor.elem_type()));
    if (tensor.has_shape()) type.shape = ShapeFromProto(tensor.shape());
    type.opaque = proto.denotation();
    // What the fields above do not carry (unknown fields, negative sizes) shows in the size of the message.
    onnx::TypeProto again;
    TypeToProto(type, again);
    const bool symbols_only = again.ByteSizeLong() == proto.ByteSizeLong();
    if (symbols_only) return type;
    bool tolerable =
        proto.unknown_fields().empty() && tensor.unknown_fields().empty() && tensor.shape().unknown_fields().empty();
    for (const auto& dim : tensor.shape().dim()) tolerable = tolerable && dim.unknown_fields().empty();
    if (tolerable) return type;  // spellings of "unknown": dim_value -1, an empty dim_param, an empty denotation
  } else if (proto.ByteSizeLong() == 0) {
    return type;
  }
  type = Type{};
  type.kind = Type::Kind::kOpaque;
  proto.SerializeToString(&type.opaque);
  return type;
}

}  // namespace rlc
