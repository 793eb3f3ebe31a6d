// What every imported model has passed.
#ifndef RLC_ONNX_CHECK_H_
#define RLC_ONNX_CHECK_H_

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// Checks a model's operators, in bodies too: each exists in its operator set, has a legal number of inputs and outputs,
// and attributes of the right type (onnx's schemas, guarded); functions are well formed and do not call themselves.
// Structure (names, order, tensors, versions) was checked while the graph was built, operands are checked by type
// inference. ParseModel runs this. Error, kInvalidInput: one sentence that names the node.
Expected<void> CheckModel(const Model& model);

}  // namespace rlc

#endif  // RLC_ONNX_CHECK_H_
