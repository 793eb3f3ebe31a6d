// Types between the IR and ONNX messages. Internal to the onnx layer.
#ifndef RLC_ONNX_PROTO_TYPE_H_
#define RLC_ONNX_PROTO_TYPE_H_

#include "rlc/ir/type.h"

namespace onnx {
class TypeProto;
class TensorShapeProto;
}  // namespace onnx

namespace rlc {

// Lossless: a message that Type has no fields for (sequences, unknown fields) becomes kOpaque. An empty one: kUnknown.
Type TypeFromProto(const onnx::TypeProto& proto);
// The reverse; kUnknown leaves `proto` without a value.
void TypeToProto(const Type& type, onnx::TypeProto& proto);

Shape ShapeFromProto(const onnx::TensorShapeProto& proto);
void ShapeToProto(const Shape& shape, onnx::TensorShapeProto& proto);

}  // namespace rlc

#endif  // RLC_ONNX_PROTO_TYPE_H_
