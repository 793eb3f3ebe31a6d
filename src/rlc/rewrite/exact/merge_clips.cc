//   y = Clip(Clip(x, l1, h1), l2, h2)   ->   y = Clip(x, l, h)      Relu counts as Clip(x, 0, no bound)
//
//   Clip(v, l, h) = min(max(v, l), h): the upper bound wins where they cross. So
//   min(max(min(max(x, l1), h1), l2), h2) = min(max(x, l), h)  with  l = max(l1, l2),  h = min(max(h1, l2), h2)
//   when l1 <= h1: for x between the inner bounds both sides agree, below them both give the clipped l1, above both h1.
//
// A result without a lower bound of its own but 0 stays a Relu. Float types keep NaN through all of these. Bounds
// become constants of x's type; before opset 11 attributes. Refuses: inner bounds that cross; bounds that are not
// constant; an inner result with another reader (both would be computed anyway).
#include <algorithm>
#include <cmath>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

Expected<std::optional<Tensor>> Bound(DType dtype, double value) {
  if (std::isinf(value)) return std::optional<Tensor>();
  RLC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromDoubles(dtype, {}, std::vector<double>{value}));
  return std::optional<Tensor>(std::move(tensor));
}

void Install(Graph& graph, NodeId anchor, ValueId source, const std::optional<Tensor>& low,
             const std::optional<Tensor>& high) {
  const std::string stem = graph.value(graph.node(anchor).outputs[0]).name;
  std::vector<ValueId> inputs = {source};
  if (low || high) inputs.push_back(low ? AddConstant(graph, stem + "_min", *low) : ValueId::kNone);
  if (high) inputs.push_back(AddConstant(graph, stem + "_max", *high));
  Rebuild(graph, anchor, "Clip", inputs, {});
}

void InstallAttributes(Graph& graph, NodeId anchor, ValueId source, const ClipForm& bounds) {
  std::vector<Attribute> attributes;
  if (std::isfinite(bounds.low)) attributes.push_back({"min", static_cast<float>(bounds.low), ""});
  if (std::isfinite(bounds.high)) attributes.push_back({"max", static_cast<float>(bounds.high), ""});
  Rebuild(graph, anchor, "Clip", {source}, attributes);
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if ((!outer.Is("Clip") && !outer.Is("Relu")) || outer.input(0) == ValueId::kNone) return NoMatch{};
  const Node* inner = graph.producer(outer.input(0));
  if (inner == nullptr || (!inner->Is("Clip") && !inner->Is("Relu"))) return NoMatch{};
  const auto first = ReadClip(graph, *inner);
  const auto second = ReadClip(graph, outer);
  if (!first || !second) return Refuse("the bounds are not constant");
  if (first->low > first->high) return Refuse("the inner bounds cross");
  const ValueId source = inner->input(0);
  const DType dtype = ElementType(graph, outer.input(0));
  const ClipForm bounds{std::max(first->low, second->low), std::min(std::max(first->high, second->low), second->high)};
  if (bounds.low == 0 && std::isinf(bounds.high) && bounds.high > 0) {  // Relu after Relu, or a bound below it
    return Edit([=](Graph& changed) { Rebuild(changed, anchor, "Relu", {source}, {}); });
  }
  if (!OnlyReaderIs(graph, outer.input(0), anchor)) return Refuse("the inner result has another reader");
  if (std::isinf(bounds.low) && bounds.low > 0) return Refuse("the bounds leave nothing");
  if (graph.opset() < 11) {
    return Edit([=](Graph& changed) { InstallAttributes(changed, anchor, source, bounds); });
  }
  if (!IsFloat(dtype) && !IsInteger(dtype)) return Refuse("the element type is not known");
  if (graph.opset() < 12 && dtype != DType::kFloat && dtype != DType::kDouble && dtype != DType::kFloat16) {
    return Refuse("Clip takes only float types before opset 12");
  }
  const auto low = Bound(dtype, bounds.low);
  const auto high = Bound(dtype, bounds.high);
  if (!low || !high) return Refuse("a bound does not fit into the type");
  return Edit([=](Graph& changed) { Install(changed, anchor, source, *low, *high); });
}

}  // namespace

std::unique_ptr<Rewrite> MergeClips() {
  return MakeExactRule("merge-clips", "Clip(Clip(x)), Clip(Relu(x)), Relu(Clip(x)) -> Clip(x)", &At);
}

}  // namespace rlc
