//   x + 0, x - 0, x * 1, x / 1, x ^ 1, x and true, x or false   ->   x          constants also on the left of + * and
//   or Clip(x) without bounds                                      ->   x
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
                                {"Pow", 1, false}, {"And", 1, true},  {"Or", 0, true}};

bool IsUnboundedClip(const Graph& graph, const Node& node) {
  if (!node.Is("Clip")) return false;
  if (graph.opset() >= 11) return node.input(1) == ValueId::kNone && node.input(2) == ValueId::kNone;
  return node.FindAttribute("min") == nullptr && node.FindAttribute("max") == nullptr;
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

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.domain.empty()) return NoMatch{};
  if (IsUnboundedClip(graph, node)) return Skip(graph, anchor, node.input(0));
  if (node.inputs.size() != 2 || graph.opset() < 7) return NoMatch{};
  for (const Neutral& neutral : kNeutral) {
    if (node.op != neutral.op) continue;
    for (const size_t side : {size_t{1}, size_t{0}}) {
      if (side == 0 && !neutral.commutes) continue;
      if (!IsAll(graph, node.input(side), neutral.element)) continue;
      const ValueId source = node.input(1 - side);
      if (source == ValueId::kNone) return NoMatch{};
      if (!KeepsShape(graph, node.input(side), source)) return Refuse("the constant may widen the result");
      const bool norm = node.op == "Mul" || node.op == "Add";
      if (norm && EndsLayerNorm(graph, source)) return Refuse("it is part of a layer normalization");
      return Skip(graph, anchor, source);
    }
  }
  return NoMatch{};
}

}  // namespace

std::unique_ptr<Rewrite> RemoveNeutralArithmetic() {
  return MakeExactRule("remove-neutral-arithmetic", "x + 0, x * 1, x / 1, x ^ 1, Clip without bounds -> x", &At);
}

}  // namespace rlc
