// Small models from onnx's text form, for this layer's tests.
#ifndef RLC_ONNX_TEST_MODELS_H_
#define RLC_ONNX_TEST_MODELS_H_

#include "rlc/ir/model.h"

namespace onnx {
class ModelProto;
}  // namespace onnx

namespace rlc {

// Fails the test when the text cannot be parsed.
onnx::ModelProto ProtoOf(const char* text);
// The same, imported.
Model ModelOf(const char* text);

}  // namespace rlc

#endif  // RLC_ONNX_TEST_MODELS_H_
