// What every imported model has passed.
#ifndef RLC_ONNX_CHECK_H_
#define RLC_ONNX_CHECK_H_

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// Checks a model's operators: each exists in its opset, has a legal number of inputs and outputs and legal attributes
// (onnx's own checker, guarded), axes and groups that make sense, functions that do not call themselves, and an opset that
// the onnx library knows. Structure (names, order, cycles) was checked when the graph was built. ParseModel runs this.
// Error, kInvalidInput: one sentence that names the node.
Expected<void> CheckModel(const Model& model);

}  // namespace rlc

#endif  // RLC_ONNX_CHECK_H_
