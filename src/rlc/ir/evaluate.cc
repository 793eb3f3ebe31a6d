#include "rlc/ir/evaluate.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rlc/ir/evaluate_ops.h"

namespace rlc {
namespace evaluate_internal {
namespace {

struct Row {
  std::string_view op;
  OpFunction function;
};

constexpr std::array kOps = {
    Row{"Abs", EvaluateUnary},
    Row{"Add", EvaluateArithmetic},
    Row{"And", EvaluateLogic},
    Row{"Cast", EvaluateCast},
    Row{"CastLike", EvaluateCast},
    Row{"Ceil", EvaluateUnary},
    Row{"Concat", EvaluateConcat},
    Row{"ConstantOfShape", EvaluateConstantOfShape},
    Row{"Div", EvaluateArithmetic},
    Row{"Equal", EvaluateCompare},
    Row{"Expand", EvaluateExpand},
    Row{"Floor", EvaluateUnary},
    Row{"Gather", EvaluateGather},
    Row{"Greater", EvaluateCompare},
    Row{"GreaterOrEqual", EvaluateCompare},
    Row{"Identity", EvaluateIdentity},
    Row{"Less", EvaluateCompare},
    Row{"LessOrEqual", EvaluateCompare},
    Row{"Max", EvaluateMinMax},
    Row{"Min", EvaluateMinMax},
    Row{"Mod", EvaluateArithmetic},
    Row{"Mul", EvaluateArithmetic},
    Row{"Neg", EvaluateUnary},
    Row{"Not", EvaluateNot},
    Row{"Or", EvaluateLogic},
    Row{"Range", EvaluateRange},
    Row{"ReduceMax", EvaluateReduce},
    Row{"ReduceMin", EvaluateReduce},
    Row{"ReduceProd", EvaluateReduce},
    Row{"ReduceSum", EvaluateReduce},
    Row{"Reshape", EvaluateReshape},
    Row{"Shape", EvaluateShape},
    Row{"Size", EvaluateSize},
    Row{"Slice", EvaluateSlice},
    Row{"Sqrt", EvaluateUnary},
    Row{"Squeeze", EvaluateSqueeze},
    Row{"Sub", EvaluateArithmetic},
    Row{"Tile", EvaluateTile},
    Row{"Transpose", EvaluateTranspose},
    Row{"Unsqueeze", EvaluateUnsqueeze},
    Row{"Where", EvaluateWhere},
    Row{"Xor", EvaluateLogic},
};

constexpr int kOldestOpset = 7;

std::string Where(const Node& node) { return node.name.empty() ? node.op : node.op + " '" + node.name + "'"; }

}  // namespace

OpFunction FindOp(std::string_view op) {
  const auto row =
      std::lower_bound(kOps.begin(), kOps.end(), op, [](const Row& a, std::string_view b) { return a.op < b; });
  return row != kOps.end() && row->op == op ? row->function : nullptr;
}

Expected<const Tensor*> OpCall::Need(size_t index) const {
  if (const Tensor* tensor = input(index)) return tensor;
  return Invalid("input {} is missing", index);
}

Expected<std::vector<int64_t>> OpCall::NeedInts(size_t index) const {
  RLC_ASSIGN_OR_RETURN(const Tensor* tensor, Need(index));
  if (tensor->rank() > 1 || !IsInteger(tensor->dtype())) {
    return Invalid("input {} must be a list of integers, not {} with {} dimensions", index, DTypeName(tensor->dtype()),
                   tensor->rank());
  }
  return tensor->ToInt64s();
}

Expected<int64_t> OpCall::Int(std::string_view name, int64_t absent) const {
  if (const auto value = node.GetInt(name, absent)) return *value;
  return Invalid("attribute {} must be an integer", name);
}

Unexpected Unavailable(const OpCall& call) {
  return MakeError(ErrorKind::kUnavailable, "{}: not among what rlc evaluates by itself", Where(call.node));
}

Expected<size_t> ResultBytes(const OpCall& call, DType dtype, const std::vector<int64_t>& dims) {
  const auto bytes = ByteSize(dtype, dims);
  if (!bytes || *bytes > BuiltinEvaluator::kMaxResultBytes || BitsOf(dtype) < 8) return Unavailable(call);
  return static_cast<size_t>(*bytes);
}

Expected<size_t> Axis(int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) return Invalid("axis {} is out of range for {} dimensions", axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

std::vector<int64_t> Strides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  // A dimension of 0 leaves no element to step to; others may then be too large to multiply.
  for (size_t i = dims.size(); i-- > 1;) {
    if (__builtin_mul_overflow(strides[i], dims[i], &strides[i - 1])) strides[i - 1] = 0;
  }
  return strides;
}

Expected<std::vector<int64_t>> BroadcastDims(std::span<const Tensor* const> tensors) {
  std::vector<int64_t> dims;
  for (const Tensor* tensor : tensors) {
    const std::vector<int64_t>& other = tensor->dims();
    if (other.size() > dims.size()) dims.insert(dims.begin(), other.size() - dims.size(), 1);
    for (size_t i = 0; i < other.size(); ++i) {
      int64_t& dim = dims[dims.size() - other.size() + i];
      if (dim != other[i] && dim != 1 && other[i] != 1) {
        return Invalid("dimensions {} and {} cannot be broadcast", dim, other[i]);
      }
      if (dim == 1) dim = other[i];
    }
  }
  return dims;
}

std::vector<int64_t> BroadcastStrides(const std::vector<int64_t>& dims, const std::vector<int64_t>& target) {
  const std::vector<int64_t> own = Strides(dims);
  std::vector<int64_t> strides(target.size(), 0);
  const size_t lead = target.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i) strides[lead + i] = dims[i] == 1 ? 0 : own[i];
  return strides;
}

Expected<Tensor> CopyStrided(const OpCall& call, const Tensor& from, std::vector<int64_t> dims,
                             const std::vector<int64_t>& strides, int64_t start) {
  RLC_ASSIGN_OR_RETURN(const size_t size, ResultBytes(call, from.dtype(), dims));
  const auto width = static_cast<size_t>(BitsOf(from.dtype()) / 8);
  std::string bytes(size, '\0');
  Odometer<1> source(dims, {strides});
  for (size_t at = 0; at < size; at += width, source.Advance()) {
    std::memcpy(bytes.data() + at, from.bytes().data() + static_cast<size_t>(start + source.offset(0)) * width, width);
  }
  return Tensor::FromBytes(from.dtype(), std::move(dims), std::move(bytes));
}

}  // namespace evaluate_internal

Expected<std::vector<Tensor>> BuiltinEvaluator::Evaluate(const Graph& graph, const Node& node,
                                                         std::span<const Tensor* const> inputs) {
  const evaluate_internal::OpCall call{node, inputs, graph.opset()};
  const auto function = node.domain.empty() && node.overload.empty() ? evaluate_internal::FindOp(node.op) : nullptr;
  if (function == nullptr || call.opset < evaluate_internal::kOldestOpset || node.outputs.size() != 1) {
    return evaluate_internal::Unavailable(call);
  }
  auto result = function(call);
  if (!result) {
    if (result.error().kind == ErrorKind::kUnavailable) return Unexpected(result.error());
    return WithContext(result.error(), evaluate_internal::Where(node));
  }
  return std::vector<Tensor>{*std::move(result)};
}

}  // namespace rlc
