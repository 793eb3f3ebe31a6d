#include <cmath>
#include <limits>
#include <utility>

#include "rlc/ir/evaluate_ops.h"
#include "rlc/ir/float16.h"

namespace rlc::evaluate_internal {
namespace {

// --- Cast ----------------------------------------------------------------------------------------------------------

Expected<DType> CastTarget(const OpCall& call) {
  if (call.node.op == "CastLike") {
    RLC_ASSIGN_OR_RETURN(const Tensor* like, call.Need(1));
    return like->dtype();
  }
  RLC_ASSIGN_OR_RETURN(const int64_t to, call.Int("to", 0));
  if (to < 0 || to > INT32_MAX) return Invalid("attribute to is {}", to);
  return static_cast<DType>(to);
}

// Where ONNX says what comes out: integers wrap, floats are cut off towards zero; a float outside the integer's range
// is left open.
template <typename From, typename To>
bool Converts(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    const double cut = std::trunc(static_cast<double>(value));
    return cut >= static_cast<double>(std::numeric_limits<To>::min()) &&
           cut < std::ldexp(1.0, std::numeric_limits<To>::digits);
  } else {
    return true;
  }
}

template <typename From, typename To>
Expected<Tensor> Converted(const OpCall& call, const Tensor& x) {
  std::vector<To> elements;
  elements.reserve(static_cast<size_t>(x.size()));
  for (const From element : x.data<From>()) {
    if (!Converts<From, To>(element)) return Unavailable(call);
    elements.push_back(static_cast<To>(element));
  }
  return Tensor::Of<To>(x.dims(), elements);
}

template <typename From>
Expected<Tensor> ConvertedToBool(const Tensor& x) {
  std::string bytes;
  for (const From element : x.data<From>()) bytes += element != From{0} ? '\1' : '\0';
  return Tensor::FromBytes(DType::kBool, x.dims(), std::move(bytes));
}

// Between float and the 16-bit floats, one rounding at most.
Expected<Tensor> ConvertHalf(const OpCall& call, const Tensor& x, DType to) {
  const auto half = [](DType type) { return type == DType::kFloat16 || type == DType::kBFloat16; };
  const bool known = (half(x.dtype()) && to == DType::kFloat) || (x.dtype() == DType::kFloat && half(to));
  if (!known) return Unavailable(call);
  RLC_ASSIGN_OR_RETURN(const std::vector<double> values, x.ToDoubles());
  if (to == DType::kFloat) {
    std::vector<float> elements;
    for (const double value : values) elements.push_back(static_cast<float>(value));
    return Tensor::Of<float>(x.dims(), elements);
  }
  std::string bytes;
  for (const double value : values) {
    const uint16_t bits = to == DType::kFloat16 ? DoubleToFloat16(value) : DoubleToBFloat16(value);
    bytes += static_cast<char>(bits & 255);
    bytes += static_cast<char>(bits >> 8);
  }
  return Tensor::FromBytes(to, x.dims(), std::move(bytes));
}

// --- Reduce --------------------------------------------------------------------------------------------------------

template <typename T>
T Accumulate(const std::string& op, T sum, T x) {
  if (op == "ReduceMin") return x < sum ? x : sum;
  if (op == "ReduceMax") return sum < x ? x : sum;
  const auto a = static_cast<Wrapping<T>>(sum);
  const auto b = static_cast<Wrapping<T>>(x);
  return static_cast<T>(op == "ReduceSum" ? a + b : a * b);
}

template <typename T>
T Neutral(const std::string& op) {
  if (op == "ReduceMin") return std::numeric_limits<T>::max();
  if (op == "ReduceMax") return std::numeric_limits<T>::min();
  return op == "ReduceSum" ? 0 : 1;
}

// Which axes go; nothing: the operator does nothing at all.
Expected<std::optional<std::vector<bool>>> ReducedAxes(const OpCall& call, size_t rank) {
  const int input_since = call.node.op == "ReduceSum" ? 13 : 18;
  std::vector<int64_t> axes;
  if (call.opset < input_since) {
    const auto given = call.node.GetInts("axes");
    if (!given) return Invalid("attribute axes must be integers");
    axes = *given;
  } else if (call.input(1) != nullptr) {
    RLC_ASSIGN_OR_RETURN(axes, call.NeedInts(1));
  }
  RLC_ASSIGN_OR_RETURN(const int64_t noop, call.Int("noop_with_empty_axes", 0));
  if (axes.empty() && noop != 0) return std::nullopt;
  std::vector<bool> reduced(rank, axes.empty());
  for (const int64_t axis : axes) {
    RLC_ASSIGN_OR_RETURN(const size_t index, Axis(axis, rank));
    reduced[index] = true;
  }
  return reduced;
}

template <typename T>
Tensor Reduced(const std::string& op, const Tensor& x, const std::vector<bool>& reduced) {
  std::vector<int64_t> kept = x.dims();
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = reduced[i] ? 1 : kept[i];
  std::vector<T> sums(static_cast<size_t>(ElementCount(kept).value_or(0)), Neutral<T>(op));
  Odometer<1> into(x.dims(), {BroadcastStrides(kept, x.dims())});
  for (const T element : x.data<T>()) {
    T& sum = sums[static_cast<size_t>(into.offset(0))];
    sum = Accumulate(op, sum, element);
    into.Advance();
  }
  return Tensor::Of<T>(std::move(kept), sums);
}

}  // namespace

Expected<Tensor> EvaluateCast(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const DType to, CastTarget(call));
  if (to == x->dtype()) return *x;
  RLC_RETURN_IF_ERROR(ResultBytes(call, to, x->dims()));
  RLC_RETURN_IF_ERROR(ResultBytes(call, x->dtype(), x->dims()));
  if (x->dtype() == DType::kBool) {
    RLC_ASSIGN_OR_RETURN(const std::vector<double> bits, x->ToDoubles());
    return IsInteger(to) || IsFloat(to) ? Tensor::FromDoubles(to, x->dims(), bits) : Unavailable(call);
  }
  Expected<Tensor> result = ConvertHalf(call, *x, to);
  VisitNumber(x->dtype(), [&](auto from_tag) {
    using From = decltype(from_tag);
    if (to == DType::kBool) result = ConvertedToBool<From>(*x);
    VisitNumber(to, [&](auto to_tag) { result = Converted<From, decltype(to_tag)>(call, *x); });
  });
  return result;
}

Expected<Tensor> EvaluateRange(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* start, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const Tensor* limit, call.Need(1));
  RLC_ASSIGN_OR_RETURN(const Tensor* delta, call.Need(2));
  for (const Tensor* tensor : {start, limit, delta}) {
    if (tensor->size() != 1 || tensor->dtype() != start->dtype()) return Invalid("needs three scalars of one type");
  }
  const DType type = start->dtype();
  // Of floats each runtime has its own way to add up.
  if (type != DType::kInt64 && type != DType::kInt32 && type != DType::kInt16) return Unavailable(call);
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> first, start->ToInt64s());
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> end, limit->ToInt64s());
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> step, delta->ToInt64s());
  if (step[0] == 0) return Invalid("delta is 0");
  // Unsigned: the difference of two int64 always fits.
  const bool up = step[0] > 0;
  const bool any = up ? first[0] < end[0] : end[0] < first[0];
  const uint64_t span = up ? static_cast<uint64_t>(end[0]) - static_cast<uint64_t>(first[0])
                           : static_cast<uint64_t>(first[0]) - static_cast<uint64_t>(end[0]);
  const uint64_t width = up ? static_cast<uint64_t>(step[0]) : uint64_t{0} - static_cast<uint64_t>(step[0]);
  const uint64_t count = any ? (span - 1) / width + 1 : 0;
  if (count > std::numeric_limits<int32_t>::max()) return Unavailable(call);
  const std::vector<int64_t> dims = {static_cast<int64_t>(count)};
  RLC_RETURN_IF_ERROR(ResultBytes(call, type, dims));
  Expected<Tensor> result = Unavailable(call);
  VisitInteger(type, [&](auto tag) {
    std::vector<decltype(tag)> elements;
    // Every element is in range; the products on the way need not be.
    for (uint64_t i = 0; i < static_cast<uint64_t>(dims[0]); ++i) {
      elements.push_back(
          static_cast<decltype(tag)>(static_cast<uint64_t>(first[0]) + i * static_cast<uint64_t>(step[0])));
    }
    result = Tensor::Of(dims, elements);
  });
  return result;
}

Expected<Tensor> EvaluateReduce(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  const std::string& op = call.node.op;
  RLC_ASSIGN_OR_RETURN(const int64_t keep, call.Int("keepdims", 1));
  RLC_ASSIGN_OR_RETURN(const auto reduced, ReducedAxes(call, x->dims().size()));
  if (!reduced) return *x;
  // Runtimes disagree on the smallest of nothing.
  if (x->size() == 0 || !IsInteger(x->dtype())) return Unavailable(call);
  Tensor result;
  VisitInteger(x->dtype(), [&](auto tag) { result = Reduced<decltype(tag)>(op, *x, *reduced); });
  if (keep != 0) return result;
  std::vector<int64_t> dims;
  for (size_t i = 0; i < reduced->size(); ++i) {
    if (!(*reduced)[i]) dims.push_back(x->dims()[i]);
  }
  return result.Reshaped(std::move(dims));
}

}  // namespace rlc::evaluate_internal
