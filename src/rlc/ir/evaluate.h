// Constant evaluation of the operators that models compute shapes with: exact, typed as ONNX says, no runtime needed.
#ifndef RLC_IR_EVALUATE_H_
#define RLC_IR_EVALUATE_H_

#include "rlc/ir/services.h"

namespace rlc {

// Knows, in all their opset forms (axes as attribute or input ...) from opset 7 on, where broadcasting became numpy's:
//   Shape Size Identity Reshape Squeeze Unsqueeze Transpose Concat Gather Slice Expand Tile Where      any type of
//   whole bytes ConstantOfShape Range(integers) Cast CastLike Add Sub Mul Div Mod Min Max Neg Abs Equal Greater Less
//   GreaterOrEqual LessOrEqual    integers, float, double Floor Ceil Sqrt (float, double)   And Or Xor Not   ReduceSum
//   ReduceProd ReduceMin ReduceMax (integers)
// Integer arithmetic wraps; integer division truncates.
// Error kUnavailable: any other operator, type or form, a conversion that ONNX leaves open (NaN to integer), or a
// result above kMaxResultBytes. Error kInvalidInput: a division by zero, an index out of range, shapes that do not fit.
class BuiltinEvaluator : public ConstantEvaluator {
 public:
  static constexpr int64_t kMaxResultBytes = int64_t{1} << 26;

  Expected<std::vector<Tensor>> Evaluate(const Graph& graph, const Node& node,
                                         std::span<const Tensor* const> inputs) override;
};

}  // namespace rlc

#endif  // RLC_IR_EVALUATE_H_
