// The operators of BuiltinEvaluator, one function each. Internal to ir.
#ifndef RLC_IR_EVALUATE_OPS_H_
#define RLC_IR_EVALUATE_OPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/ir/tensor.h"

namespace rlc::evaluate_internal {

// One node with the values of its inputs.
struct OpCall {
  const Node& node;
  std::span<const Tensor* const> inputs;
  int opset = 0;

  // Null when absent.
  const Tensor* input(size_t index) const { return index < inputs.size() ? inputs[index] : nullptr; }
  // Error: absent.
  Expected<const Tensor*> Need(size_t index) const;
  Expected<std::vector<int64_t>> NeedInts(size_t index) const;  // an integer tensor of rank 0 or 1
  // An attribute of integers; error: another type.
  Expected<int64_t> Int(std::string_view name, int64_t absent) const;
};

using OpFunction = Expected<Tensor> (*)(const OpCall&);

// The row of the table; null when there is none.
OpFunction FindOp(std::string_view op);

// "not among what rlc evaluates itself": somebody else may know.
Unexpected Unavailable(const OpCall& call);
template <typename... Args>
Unexpected Invalid(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorKind::kInvalidInput, format, std::forward<Args>(args)...);
}

// Bytes of a result; error kUnavailable when it is too large or not made of whole bytes.
Expected<size_t> ResultBytes(const OpCall& call, DType dtype, const std::vector<int64_t>& dims);
// axis in [0, rank).
Expected<size_t> Axis(int64_t axis, size_t rank);
// Row-major distances between neighbours along each axis, in elements.
std::vector<int64_t> Strides(const std::vector<int64_t>& dims);
// What two or three shapes broadcast to.
Expected<std::vector<int64_t>> BroadcastDims(std::span<const Tensor* const> tensors);
// Distances in a tensor of `dims` along the axes of `target`: 0 where it is repeated.
std::vector<int64_t> BroadcastStrides(const std::vector<int64_t>& dims, const std::vector<int64_t>& target);
// Result element i = element `start` + sum of index * stride. Precondition: all within the tensor.
Expected<Tensor> CopyStrided(const OpCall& call, const Tensor& from, std::vector<int64_t> dims,
                             const std::vector<int64_t>& strides, int64_t start);

// Counts through an index space and keeps the offset for each of `N` sets of strides.
template <size_t N>
class Odometer {
 public:
  Odometer(const std::vector<int64_t>& dims, std::array<std::vector<int64_t>, N> strides)
      : dims_(dims), strides_(std::move(strides)), index_(dims.size(), 0) {}

  int64_t offset(size_t set) const { return offsets_[set]; }
  void Advance() {
    for (size_t axis = dims_.size(); axis-- > 0;) {
      for (size_t set = 0; set < N; ++set) offsets_[set] += strides_[set][axis];
      if (++index_[axis] < dims_[axis]) return;
      for (size_t set = 0; set < N; ++set) offsets_[set] -= strides_[set][axis] * dims_[axis];
      index_[axis] = 0;
    }
  }

 private:
  const std::vector<int64_t>& dims_;
  std::array<std::vector<int64_t>, N> strides_;
  std::vector<int64_t> index_;
  std::array<int64_t, N> offsets_{};
};

// visit(T()) for the C++ type of an element type: integers, and float and double when asked for. False: another type.
template <typename Visitor>
bool VisitInteger(DType dtype, Visitor&& visit) {
  switch (dtype) {
    case DType::kInt8:
      visit(int8_t());
      return true;
    case DType::kUint8:
      visit(uint8_t());
      return true;
    case DType::kInt16:
      visit(int16_t());
      return true;
    case DType::kUint16:
      visit(uint16_t());
      return true;
    case DType::kInt32:
      visit(int32_t());
      return true;
    case DType::kUint32:
      visit(uint32_t());
      return true;
    case DType::kInt64:
      visit(int64_t());
      return true;
    case DType::kUint64:
      visit(uint64_t());
      return true;
    default:
      return false;
  }
}

template <typename Visitor>
bool VisitFloat(DType dtype, Visitor&& visit) {
  if (dtype == DType::kFloat) {
    visit(float());
  } else if (dtype == DType::kDouble) {
    visit(double());
  } else {
    return false;
  }
  return true;
}

template <typename Visitor>
bool VisitNumber(DType dtype, Visitor&& visit) {
  return VisitFloat(dtype, visit) || VisitInteger(dtype, visit);
}

// Integer arithmetic that wraps: in an unsigned type at least as wide as int, so that nothing is promoted to a signed
// one.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

// evaluate_move.cc: elements change place, not value.
Expected<Tensor> EvaluateIdentity(const OpCall& call);
Expected<Tensor> EvaluateShape(const OpCall& call);
Expected<Tensor> EvaluateSize(const OpCall& call);
Expected<Tensor> EvaluateReshape(const OpCall& call);
Expected<Tensor> EvaluateSqueeze(const OpCall& call);
Expected<Tensor> EvaluateUnsqueeze(const OpCall& call);
Expected<Tensor> EvaluateTranspose(const OpCall& call);
Expected<Tensor> EvaluateConcat(const OpCall& call);
Expected<Tensor> EvaluateGather(const OpCall& call);
Expected<Tensor> EvaluateSlice(const OpCall& call);
Expected<Tensor> EvaluateExpand(const OpCall& call);
Expected<Tensor> EvaluateTile(const OpCall& call);
Expected<Tensor> EvaluateConstantOfShape(const OpCall& call);

// evaluate_arithmetic.cc: element by element.
Expected<Tensor> EvaluateArithmetic(const OpCall& call);  // Add Sub Mul Div Mod
Expected<Tensor> EvaluateMinMax(const OpCall& call);
Expected<Tensor> EvaluateUnary(const OpCall& call);    // Neg Abs Floor Ceil Sqrt
Expected<Tensor> EvaluateCompare(const OpCall& call);  // Equal Greater Less GreaterOrEqual LessOrEqual
Expected<Tensor> EvaluateLogic(const OpCall& call);    // And Or Xor
Expected<Tensor> EvaluateNot(const OpCall& call);
Expected<Tensor> EvaluateWhere(const OpCall& call);

// evaluate_convert.cc: other sizes, other types.
Expected<Tensor> EvaluateCast(const OpCall& call);  // Cast, CastLike
Expected<Tensor> EvaluateRange(const OpCall& call);
Expected<Tensor> EvaluateReduce(const OpCall& call);  // ReduceSum ReduceProd ReduceMin ReduceMax

}  // namespace rlc::evaluate_internal

#endif  // RLC_IR_EVALUATE_OPS_H_
