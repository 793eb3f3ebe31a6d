//   y = Min(Max(x, l), h)   ->   y = Clip(x, l, h)       also Max(Min(x, h), l) when l <= h; operands in any order
//
// l, h: constant scalars that do not widen x. Clip is one pass, and what the other rules and the runtime's fusions
// know. Float types only (ONNX Runtime's Clip and its Min and Max all keep NaN there).
//
// Refuses: opsets before 12 (Clip's bounds and types); bounds that cross under Max(Min()), where the lower one wins; an
// inner result with another reader.
#include <cmath>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

struct Bounded {
  ValueId x = ValueId::kNone;
  ValueId bound = ValueId::kNone;
  double number = 0;
};

std::optional<Bounded> ReadBound(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  for (const size_t side : {size_t{1}, size_t{0}}) {
    const auto number = ScalarConstant(graph, node.inputs[side]);
    const ValueId x = node.inputs[1 - side];
    if (!number || std::isnan(*number) || x == ValueId::kNone || graph.constant(x) != nullptr) continue;
    if (!KeepsShape(graph, node.inputs[side], x)) continue;
    return Bounded{x, node.inputs[side], *number};
  }
  return std::nullopt;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  const bool caps = outer.Is("Min");
  if ((!caps && !outer.Is("Max")) || graph.opset() < 12) return NoMatch{};
  const auto second = ReadBound(graph, outer);
  const Node* inner = second ? ProducerIs(graph, second->x, caps ? "Max" : "Min") : nullptr;
  if (inner == nullptr) return NoMatch{};
  const auto first = ReadBound(graph, *inner);
  if (!first) return NoMatch{};
  if (!IsFloat(ElementType(graph, first->x))) return Refuse("only float types keep NaN alike");
  if (!OnlyReaderIs(graph, second->x, anchor)) return Refuse("the inner result has another reader");
  const Bounded& low = caps ? *first : *second;
  const Bounded& high = caps ? *second : *first;
  if (!caps && low.number > high.number) return Refuse("the bounds cross");
  const Tensor low_tensor = graph.constant(low.bound)->Reshaped({});
  const Tensor high_tensor = graph.constant(high.bound)->Reshaped({});
  const ValueId x = first->x;
  return Edit([=](Graph& changed) {
    const std::string stem = changed.value(changed.node(anchor).outputs[0]).name;
    const ValueId min = AddConstant(changed, stem + "_min", low_tensor);
    const ValueId max = AddConstant(changed, stem + "_max", high_tensor);
    Rebuild(changed, anchor, "Clip", {x, min, max}, {});
  });
}

}  // namespace

std::unique_ptr<Rewrite> ReplaceMinMaxByClip() {
  return MakeExactRule("replace-min-max-by-clip", "Min(Max(x, l), h) -> Clip(x, l, h)", &At);
}

}  // namespace rlc
