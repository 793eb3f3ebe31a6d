// A trained network as an ONNX file.
#ifndef RLC_TRAIN_EXPORT_POLICY_INL_H_
#define RLC_TRAIN_EXPORT_POLICY_INL_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/train/network-inl.h"

namespace rlc {

// observation float[N, inputs] -> logits float[N, actions]: Gemm, Tanh, Gemm, Tanh, Gemm. Opset 17, IR 8.
Expected<void> ExportPolicy(const ActorCritic& network, int64_t inputs, int64_t actions, const std::string& path);

}  // namespace rlc

#endif  // RLC_TRAIN_EXPORT_POLICY_INL_H_
