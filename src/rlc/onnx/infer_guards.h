// Checks of operands that the onnx library's inference functions leave out, or take for granted. Internal to the onnx
// layer.
#ifndef RLC_ONNX_INFER_GUARDS_H_
#define RLC_ONNX_INFER_GUARDS_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"

namespace onnx {
struct InferenceContext;
}  // namespace onnx

namespace rlc {

// Ranks, list lengths and sizes of convolutions, pools, matrix products and normalizations, as far as they are known;
// and what made the library crash, hang or eat memory when every operator was tried with random operands. Error,
// kInvalidInput, beginning with `where`.
Expected<void> CheckOperands(const Node& node, const onnx::InferenceContext& context, const std::string& where);

}  // namespace rlc

#endif  // RLC_ONNX_INFER_GUARDS_H_
