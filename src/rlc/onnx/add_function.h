// Graphs as model-local functions.
#ifndef RLC_ONNX_ADD_FUNCTION_H_
#define RLC_ONNX_ADD_FUNCTION_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/ir/model.h"

namespace rlc {

// Adds function DOMAIN.NAME with the inputs, outputs and nodes of `body`, which has no initializers, and attributes
// that its calls must give. The model's IR version is raised to 8, the first that has functions. Error, kInvalidInput:
// it has one of that name.
Expected<void> AddFunction(Model& model, const std::string& domain, const std::string& name, const Graph& body,
                           const std::vector<std::string>& attributes);

}  // namespace rlc

#endif  // RLC_ONNX_ADD_FUNCTION_H_
