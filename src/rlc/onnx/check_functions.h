// Checks of model-local functions. Internal to the onnx layer.
#ifndef RLC_ONNX_CHECK_FUNCTIONS_H_
#define RLC_ONNX_CHECK_FUNCTIONS_H_

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// Each function is defined once, its nodes read what is defined, and no function calls itself, directly or through
// others. Error, kInvalidInput, naming the function.
Expected<void> CheckFunctions(const Model& model);

}  // namespace rlc

#endif  // RLC_ONNX_CHECK_FUNCTIONS_H_
