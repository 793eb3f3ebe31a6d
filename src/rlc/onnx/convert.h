// Raising a model to a newer operator set or IR version.
#ifndef RLC_ONNX_CONVERT_H_
#define RLC_ONNX_CONVERT_H_

#include <cstdint>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// The model in version `target` of ONNX's operator set, by onnx's version converter (a bare bump of the number would
// break ops whose attributes became inputs, like Squeeze's axes). Already there or above: the model itself. Names of
// values that stay, weights, metadata and layer numbers are kept. Error: an op that cannot be converted (kUnavailable,
// names it).
Expected<Model> ConvertOpset(const Model& model, int target);

// Raises the IR version to at least `version`, keeping the meaning: initializers stay constants.
void RaiseIrVersion(Model& model, int64_t version);

}  // namespace rlc

#endif  // RLC_ONNX_CONVERT_H_
