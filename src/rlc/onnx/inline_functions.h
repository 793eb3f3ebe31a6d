// Model-local functions into the graph.
#ifndef RLC_ONNX_INLINE_FUNCTIONS_H_
#define RLC_ONNX_INLINE_FUNCTIONS_H_

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// The model with every call of a model-local function replaced by its body, and without the functions; by onnx's
// inliner, which also converts bodies to the model's operator set. Error, kUnavailable: a function that cannot be
// inlined, or a model above 2 GB.
Expected<Model> InlineFunctions(const Model& model);

}  // namespace rlc

#endif  // RLC_ONNX_INLINE_FUNCTIONS_H_
