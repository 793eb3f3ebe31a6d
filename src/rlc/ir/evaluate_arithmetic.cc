#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "rlc/ir/evaluate_ops.h"

namespace rlc::evaluate_internal {
namespace {

constexpr int kModFloatsByFmod = 1;

// Two operands of one type, broadcast.
struct Pair {
  const Tensor* a;
  const Tensor* b;
  std::vector<int64_t> dims;
};

Expected<Pair> Operands(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* a, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const Tensor* b, call.Need(1));
  if (a->dtype() != b->dtype()) {
    return Invalid("operands have different types, {} and {}", DTypeName(a->dtype()), DTypeName(b->dtype()));
  }
  const std::array<const Tensor*, 2> both = {a, b};
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> dims, BroadcastDims(both));
  return Pair{a, b, std::move(dims)};
}

// result = combine(a, b), element by element. Result: what combine returns, bool as a byte.
template <typename T, typename R, typename Combine>
Expected<Tensor> Combined(const OpCall& call, const Pair& pair, DType result, Combine combine) {
  RLC_ASSIGN_OR_RETURN(const size_t size, ResultBytes(call, result, pair.dims));
  std::vector<R> elements(size / sizeof(R));
  Odometer<2> at(pair.dims, {BroadcastStrides(pair.a->dims(), pair.dims), BroadcastStrides(pair.b->dims(), pair.dims)});
  const auto* a = reinterpret_cast<const T*>(pair.a->bytes().data());
  const auto* b = reinterpret_cast<const T*>(pair.b->bytes().data());
  for (R& element : elements) {
    element = combine(a[at.offset(0)], b[at.offset(1)]);
    at.Advance();
  }
  std::string bytes(size, '\0');
  if (size > 0) std::memcpy(bytes.data(), elements.data(), size);
  return Tensor::FromBytes(result, pair.dims, std::move(bytes));
}

template <typename T>
T Divide(T a, T b) {
  // The one quotient that does not fit wraps, as negation does.
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    if (b == -1) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
  }
  return static_cast<T>(a / b);
}

// Sign of the divisor (numpy's mod), or of the dividend (C's).
template <typename T>
T Modulo(T a, T b, bool fmod) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const T rest = static_cast<T>(a % b);
      return !fmod && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    }
    return static_cast<T>(a % b);
  }
}

template <typename T>
T Arithmetic(char op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return op == 'A' ? a + b : op == 'S' ? a - b : op == 'M' ? a * b : a / b;
  } else {
    const auto x = static_cast<Wrapping<T>>(a);
    const auto y = static_cast<Wrapping<T>>(b);
    return op == 'D' ? Divide(a, b) : static_cast<T>(op == 'A' ? x + y : op == 'S' ? x - y : x * y);
  }
}

bool HasZero(const Tensor& tensor) {
  const auto values = tensor.ToDoubles();
  return values && std::find(values->begin(), values->end(), 0.0) != values->end();
}

template <typename T>
bool Compare(const std::string& op, T a, T b) {
  if (op == "Equal") return a == b;
  if (op == "Greater") return a > b;
  if (op == "Less") return a < b;
  return op == "GreaterOrEqual" ? a >= b : a <= b;
}

template <typename T>
T Lesser(T a, T b, bool maximum) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return (maximum ? a < b : b < a) ? b : a;
}

template <typename T>
T UnaryInteger(const std::string& op, T x) {
  const auto negated = static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(x));
  return op == "Neg" || x < 0 ? negated : x;
}

template <typename T>
T UnaryFloat(const std::string& op, T x) {
  if (op == "Neg") return -x;
  if (op == "Abs") return std::fabs(x);
  if (op == "Floor") return std::floor(x);
  return op == "Ceil" ? std::ceil(x) : std::sqrt(x);
}

}  // namespace

Expected<Tensor> EvaluateArithmetic(const OpCall& call) {
  const std::string& op = call.node.op;
  RLC_ASSIGN_OR_RETURN(const Pair pair, Operands(call));
  const DType type = pair.a->dtype();
  if (IsInteger(type) && (op == "Div" || op == "Mod") && HasZero(*pair.b))
    return Invalid("an integer division by zero");
  RLC_ASSIGN_OR_RETURN(const int64_t fmod, call.Int("fmod", 0));
  if (op == "Mod" && IsFloat(type) && fmod != kModFloatsByFmod) return Invalid("Mod of floats needs fmod=1");
  Expected<Tensor> result = Unavailable(call);
  VisitNumber(type, [&](auto tag) {
    using T = decltype(tag);
    if (op == "Mod") {
      result = Combined<T, T>(call, pair, type, [&](T a, T b) { return Modulo(a, b, fmod != 0); });
    } else {
      result = Combined<T, T>(call, pair, type, [&](T a, T b) { return Arithmetic(op[0], a, b); });
    }
  });
  return result;
}

Expected<Tensor> EvaluateMinMax(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* first, call.Need(0));
  Tensor result = *first;
  const bool maximum = call.node.op == "Max";
  if (!IsInteger(result.dtype()) && result.dtype() != DType::kFloat && result.dtype() != DType::kDouble) {
    return Unavailable(call);
  }
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    const std::array<const Tensor*, 2> both = {&result, call.inputs[i]};
    const OpCall step{call.node, both, call.opset};
    RLC_ASSIGN_OR_RETURN(const Pair pair, Operands(step));
    Expected<Tensor> combined = Unavailable(call);
    VisitNumber(result.dtype(), [&](auto tag) {
      using T = decltype(tag);
      combined = Combined<T, T>(call, pair, result.dtype(), [&](T a, T b) { return Lesser(a, b, maximum); });
    });
    RLC_ASSIGN_OR_RETURN(result, std::move(combined));
  }
  return result;
}

Expected<Tensor> EvaluateUnary(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  const std::string& op = call.node.op;
  const Pair pair{x, x, x->dims()};
  Expected<Tensor> result = Unavailable(call);
  VisitFloat(x->dtype(), [&](auto tag) {
    using T = decltype(tag);
    result = Combined<T, T>(call, pair, x->dtype(), [&](T a, T) { return UnaryFloat(op, a); });
  });
  if (op != "Neg" && op != "Abs") return result;
  VisitInteger(x->dtype(), [&](auto tag) {
    using T = decltype(tag);
    if (op == "Neg" && std::is_unsigned_v<T>) return;
    result = Combined<T, T>(call, pair, x->dtype(), [&](T a, T) { return UnaryInteger(op, a); });
  });
  return result;
}

Expected<Tensor> EvaluateCompare(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Pair pair, Operands(call));
  const std::string& op = call.node.op;
  Expected<Tensor> result = Unavailable(call);
  VisitNumber(pair.a->dtype(), [&](auto tag) {
    using T = decltype(tag);
    result = Combined<T, uint8_t>(call, pair, DType::kBool, [&](T a, T b) -> uint8_t { return Compare(op, a, b); });
  });
  if (pair.a->dtype() == DType::kBool && op == "Equal") {
    return Combined<uint8_t, uint8_t>(call, pair, DType::kBool,
                                      [](uint8_t a, uint8_t b) -> uint8_t { return (a != 0) == (b != 0); });
  }
  return result;
}

Expected<Tensor> EvaluateLogic(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Pair pair, Operands(call));
  if (pair.a->dtype() != DType::kBool) return Invalid("operands must be bool, not {}", DTypeName(pair.a->dtype()));
  const std::string& op = call.node.op;
  return Combined<uint8_t, uint8_t>(call, pair, DType::kBool, [&](uint8_t a, uint8_t b) -> uint8_t {
    const bool x = a != 0;
    const bool y = b != 0;
    return op == "And" ? x && y : op == "Or" ? x || y : x != y;
  });
}

Expected<Tensor> EvaluateNot(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  if (x->dtype() != DType::kBool) return Invalid("the operand must be bool, not {}", DTypeName(x->dtype()));
  return Combined<uint8_t, uint8_t>(call, Pair{x, x, x->dims()}, DType::kBool,
                                    [](uint8_t a, uint8_t) -> uint8_t { return a == 0; });
}

Expected<Tensor> EvaluateWhere(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* condition, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const Tensor* yes, call.Need(1));
  RLC_ASSIGN_OR_RETURN(const Tensor* no, call.Need(2));
  if (condition->dtype() != DType::kBool || yes->dtype() != no->dtype()) {
    return Invalid("needs a bool condition and two operands of one type");
  }
  const std::array<const Tensor*, 3> all = {condition, yes, no};
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> dims, BroadcastDims(all));
  RLC_ASSIGN_OR_RETURN(const size_t size, ResultBytes(call, yes->dtype(), dims));
  const auto width = static_cast<size_t>(BitsOf(yes->dtype()) / 8);
  std::string bytes(size, '\0');
  Odometer<3> at(dims, {BroadcastStrides(condition->dims(), dims), BroadcastStrides(yes->dims(), dims),
                        BroadcastStrides(no->dims(), dims)});
  for (size_t place = 0; place < size; place += width, at.Advance()) {
    const bool chosen = condition->bytes()[static_cast<size_t>(at.offset(0))] != std::byte{0};
    const Tensor& from = chosen ? *yes : *no;
    const auto offset = static_cast<size_t>(at.offset(chosen ? 1 : 2));
    std::memcpy(bytes.data() + place, from.bytes().data() + offset * width, width);
  }
  return Tensor::FromBytes(yes->dtype(), std::move(dims), std::move(bytes));
}

}  // namespace rlc::evaluate_internal
