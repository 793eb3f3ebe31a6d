// Constant folding through the runtime: a model of one node, run with optimizations off.
#ifndef RLC_ORT_CONSTANT_EVALUATOR_H_
#define RLC_ORT_CONSTANT_EVALUATOR_H_

#include <cstdint>

#include "rlc/ir/services.h"

namespace rlc {

struct ConstantLimits {
  int64_t input_bytes = int64_t{256} << 20;   // of all inputs together
  int64_t output_bytes = int64_t{256} << 20;  // of all outputs together
};

// Evaluates ONNX's own operators. Refuses with kUnavailable: other domains, nodes with bodies, random ones, outputs
// that are too large or whose size cannot be known beforehand, and what the runtime has no kernel for. The runtime is
// loaded by the first evaluation, not by the constructor.
class OrtConstantEvaluator : public ConstantEvaluator {
 public:
  explicit OrtConstantEvaluator(ConstantLimits limits = {}) : limits_(limits) {}

  Expected<std::vector<Tensor>> Evaluate(const Graph& graph, const Node& node,
                                         std::span<const Tensor* const> inputs) override;

 private:
  ConstantLimits limits_;
};

}  // namespace rlc

#endif  // RLC_ORT_CONSTANT_EVALUATOR_H_
