// Policies as ONNX files, run by ONNX Runtime.
#ifndef RLC_OPTIMIZE_ONNX_POLICY_H_
#define RLC_OPTIMIZE_ONNX_POLICY_H_

#include <memory>
#include <string>

#include "rlc/base/error.h"
#include "rlc/search/method.h"

namespace rlc {

// A policy of the layers view: one input float[N, 39], one output float[N, 5 * layers]. Error, kInvalidInput: another
// interface, or a policy for another number of layers than `layers` (it was trained for another model).
Expected<std::unique_ptr<Policy>> LoadPolicy(const std::string& path, int layers);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_ONNX_POLICY_H_
