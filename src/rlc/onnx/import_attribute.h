// Attributes from ONNX messages. Internal to the onnx layer.
#ifndef RLC_ONNX_IMPORT_ATTRIBUTE_H_
#define RLC_ONNX_IMPORT_ATTRIBUTE_H_

#include <functional>
#include <string>

#include "rlc/base/error.h"
#include "rlc/ir/attribute.h"
#include "rlc/onnx/proto_tensor.h"

namespace onnx {
class AttributeProto;
class GraphProto;
}  // namespace onnx

namespace rlc {

// Consumes `proto`; bodies are imported by `import_body`. What rlc does not look into (sparse tensors, type protos,
// references to a function's attributes) becomes an OpaqueAttribute. Error, kInvalidInput, with `where` in front.
Expected<Attribute> TakeAttribute(onnx::AttributeProto& proto, ExternalData& external,
                                  const std::function<Expected<Body>(onnx::GraphProto&)>& import_body,
                                  const std::string& where);

}  // namespace rlc

#endif  // RLC_ONNX_IMPORT_ATTRIBUTE_H_
