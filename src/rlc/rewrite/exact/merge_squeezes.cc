//   y = Unsqueeze(Unsqueeze(x, a), b)   ->   y = Unsqueeze(x, a')          y = Squeeze(Squeeze(x, a), b)   ->   y =
//   Squeeze(x, a')
//
// An axis counts in the larger of the two tensors. Unsqueeze: those of b stand as they are, and the i-th axis of the
// tensor between is the i-th one of the result that is not in b, so a' = b and what a becomes there. Squeeze: the same
// from the other end, with x in place of the result. Refuses: axes that are not constant; negative axes of a tensor of
// unknown rank.
#include <algorithm>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

using Ints = std::vector<int64_t>;

std::optional<Ints> AxesIn(const Graph& graph, const Node& node, int rank) {
  const auto axes = ReadAxes(graph, node, 13);
  if (!axes || !*axes) return std::nullopt;
  Ints sorted = **axes;
  for (int64_t& axis : sorted) {
    if (axis < 0 && rank < 0) return std::nullopt;
    if (axis < 0) axis += rank;
  }
  std::sort(sorted.begin(), sorted.end());
  const bool odd = sorted.empty() || sorted.front() < 0 || sorted.back() > 64 ||
                   std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (odd) return std::nullopt;
  return sorted;
}

// `inner` axes of a tensor, seen in the tensor that also has `outer` axes.
Ints Combine(const Ints& outer, const Ints& inner) {
  Ints all = outer;
  int64_t position = 0;  // in the smaller tensor
  for (int64_t axis = 0; all.size() < outer.size() + inner.size(); ++axis) {
    if (std::binary_search(outer.begin(), outer.end(), axis)) continue;
    if (std::binary_search(inner.begin(), inner.end(), position)) all.push_back(axis);
    ++position;
  }
  std::sort(all.begin(), all.end());
  return all;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  const bool squeezes = outer.Is("Squeeze");
  if (!squeezes && !outer.Is("Unsqueeze")) return NoMatch{};
  const Node* inner = ProducerIs(graph, outer.input(0), outer.op);
  if (inner == nullptr) return NoMatch{};
  const ValueId source = inner->input(0);
  const int between = graph.type(outer.input(0)).rank();
  const int largest = squeezes ? graph.type(source).rank() : graph.type(outer.output(0)).rank();
  // Squeeze: inner counts in x, outer in the tensor between. Unsqueeze: inner in the tensor between, outer in the
  // result.
  const auto first = AxesIn(graph, *inner, squeezes ? largest : between);
  const auto second = AxesIn(graph, outer, squeezes ? between : largest);
  if (!first || !second) return Refuse("the axes are not known");
  const Ints axes = squeezes ? Combine(*first, *second) : Combine(*second, *first);
  return Edit([=](Graph& changed) {
    const std::string op = squeezes ? "Squeeze" : "Unsqueeze";
    if (changed.opset() < 13) {
      Rebuild(changed, anchor, op, {source}, {{"axes", axes, ""}});
      return;
    }
    const std::string stem = changed.value(changed.node(anchor).inputs[1]).name;
    const auto count = static_cast<int64_t>(axes.size());
    Rebuild(changed, anchor, op, {source, AddConstant(changed, stem, Tensor::Of<int64_t>({count}, axes))}, {});
  });
}

}  // namespace

std::unique_ptr<Rewrite> MergeSqueezes() {
  return MakeExactRule("merge-squeezes", "Unsqueeze(Unsqueeze(x)) -> Unsqueeze(x), Squeeze(Squeeze(x)) -> Squeeze(x)",
                       &At);
}

}  // namespace rlc
