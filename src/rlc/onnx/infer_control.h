// Types through the bodies of If, Loop and Scan. Internal to the onnx layer.
#ifndef RLC_ONNX_INFER_CONTROL_H_
#define RLC_ONNX_INFER_CONTROL_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"

namespace rlc {

// Infers a body whose inputs have these types (kUnknown where nothing is known); the types of its outputs.
using BodyInference =
    std::function<Expected<std::vector<Type>>(const std::string& attribute, const std::vector<Type>& inputs)>;

// Types of the node's outputs, from types of its inputs; its bodies are inferred on the way. Other ops with bodies: the
// bodies are inferred from what they capture and declare, nothing is known of the outputs.
// Error, kInvalidInput, beginning with `where`: a body does not fit the node.
Expected<std::vector<Type>> InferControlFlow(const Node& node, int opset, const std::vector<Type>& inputs,
                                             const BodyInference& infer_body, const std::string& where);

}  // namespace rlc

#endif  // RLC_ONNX_INFER_CONTROL_H_
