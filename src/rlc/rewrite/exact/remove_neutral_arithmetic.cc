//   x + 0, x - 0, x * 1, x / 1, x ^ 1         ->   x      constants also on the left of + * and or xor Max Min
//   x and true, x or false, x xor false        ->   x
//   Max(x, lowest of its type), Min(x, highest) ->   x      infinities for float types
//   Clip(x) without bounds, or with those      ->   x
//   Where(true, x, z), Where(false, z, x)      ->   x      z must not widen it
//
// NaN and infinities pass through all of these. (x + 0 turns -0 into +0, which compares equal.)
//
// Refuses: a constant that would widen the result ([3] + zeros[2,3] is a copy of x in each row) or that has no
// elements; 0 - x, 1 / x and 1 ^ x, which are something else; scale and bias of a layer normalization, which the
// runtime fuses only when both are there.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

struct Neutral {
  std::string_view op;
  double element;
  bool commutes;
};

constexpr Neutral kNeutral[] = {{"Add", 0, true},  {"Sub", 0, false}, {"Mul", 1, true}, {"Div", 1, false},
                                {"Pow", 1, false}, {"And", 1, true},  {"Or", 0, true},  {"Xor", 0, true}};

// Max with the one and Min with the other change nothing. Of 64 bits the highest is no double, so it is not known here.
ClipForm RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return {-0x1p7, 0x1p7 - 1};
    case DType::kInt16:
      return {-0x1p15, 0x1p15 - 1};
    case DType::kInt32:
      return {-0x1p31, 0x1p31 - 1};
    case DType::kInt64:
      return {.low = -0x1p63};
    case DType::kUint8:
      return {0, 0x1p8 - 1};
    case DType::kUint16:
      return {0, 0x1p16 - 1};
    case DType::kUint32:
      return {0, 0x1p32 - 1};
    case DType::kUint64:
      return {.low = 0};
    default:
      return {};
  }
}

bool IsUnboundedClip(const Graph& graph, const Node& node) {
  if (!node.Is("Clip") || node.input(0) == ValueId::kNone) return false;
  const auto bounds = ReadClip(graph, node);
  const ClipForm range = RangeOf(ElementType(graph, node.input(0)));
  return bounds && bounds->low <= range.low && bounds->high >= range.high;
}

// The neutral constant of a binary operator on values of that type.
std::optional<Neutral> NeutralOf(const Node& node, DType dtype) {
  if (node.op == "Max") return Neutral{node.op, RangeOf(dtype).low, true};
  if (node.op == "Min") return Neutral{node.op, RangeOf(dtype).high, true};
  for (const Neutral& neutral : kNeutral) {
    if (node.op == neutral.op) return neutral;
  }
  return std::nullopt;
}

// x is (v - mean) / sqrt(variance), or that times a constant: what follows is the scale or bias of a normalization.
bool EndsLayerNorm(const Graph& graph, ValueId x) {
  if (const Node* product = ProducerIs(graph, x, "Mul"); product != nullptr && product->inputs.size() == 2) {
    const bool constant_first = graph.constant(product->input(0)) != nullptr;
    if (!constant_first && graph.constant(product->input(1)) == nullptr) return false;
    x = product->input(constant_first ? 1 : 0);
  }
  const Node* quotient = ProducerIs(graph, x, "Div");
  return quotient != nullptr && ProducerIs(graph, quotient->input(0), "Sub") != nullptr &&
         ProducerIs(graph, quotient->input(1), "Sqrt") != nullptr;
}

Outcome Skip(const Graph& graph, NodeId anchor, ValueId source) {
  if (source == ValueId::kNone || !CanBypass(graph, anchor, source)) return NoMatch{};
  return Edit([=](Graph& changed) { Bypass(changed, anchor, source); });
}

Outcome SkipWhere(const Graph& graph, NodeId anchor) {
  const Node& node = graph.node(anchor);
  for (const bool truth : {true, false}) {
    const ValueId source = node.input(truth ? 1 : 2), other = node.input(truth ? 2 : 1);
    if (!IsAll(graph, node.input(0), truth ? 1 : 0)) continue;
    const Type& type = graph.type(source);
    const Type& unused = graph.type(other);
    const bool keeps =
        unused.rank() == 0 || (unused.rank() > 0 && type.rank() > 0 && BroadcastsInto(*unused.shape, *type.shape));
    if (!keeps || !KeepsShape(graph, node.input(0), source)) return Refuse("the other operand may widen the result");
    return Skip(graph, anchor, source);
  }
  return NoMatch{};
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.domain.empty()) return NoMatch{};
  if (IsUnboundedClip(graph, node)) return Skip(graph, anchor, node.input(0));
  if (node.Is("Where") && node.inputs.size() == 3) return SkipWhere(graph, anchor);
  if (node.inputs.size() != 2 || graph.opset() < 7) return NoMatch{};
  const auto neutral = NeutralOf(node, ElementType(graph, node.input(0)));
  if (!neutral) return NoMatch{};
  for (const size_t side : {size_t{1}, size_t{0}}) {
    if (side == 0 && !neutral->commutes) continue;
    if (!IsAll(graph, node.input(side), neutral->element)) continue;
    const ValueId source = node.input(1 - side);
    if (source == ValueId::kNone) return NoMatch{};
    if (!KeepsShape(graph, node.input(side), source)) return Refuse("the constant may widen the result");
    const bool norm = node.op == "Mul" || node.op == "Add";
    if (norm && EndsLayerNorm(graph, source)) return Refuse("it is part of a layer normalization");
    return Skip(graph, anchor, source);
  }
  return NoMatch{};
}

}  // namespace

std::unique_ptr<Rewrite> RemoveNeutralArithmetic() {
  return MakeExactRule("remove-neutral-arithmetic",
                       "x + 0, x * 1, x / 1, x ^ 1, Clip without bounds, Where(true, x, z) -> x", &At);
}

}  // namespace rlc
