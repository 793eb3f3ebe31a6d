//   y = Squeeze(Unsqueeze(x, a), a)   ->   x        and      y = Unsqueeze(Squeeze(x, a), a)   ->   x
//
// Same axes in the same numbering: those of an Unsqueeze count in its output, those of a Squeeze in its input, and both
// are the same tensor's rank here. Negative axes need that rank. Refuses: axes that are not constant or not the same.
#include <algorithm>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

std::optional<std::vector<int64_t>> SortedAxes(const Graph& graph, const Node& node, int rank) {
  const auto axes = ReadAxes(graph, node, 13);
  if (!axes || !*axes) return std::nullopt;
  std::vector<int64_t> sorted = **axes;
  for (int64_t& axis : sorted) {
    if (axis >= 0) continue;
    if (rank < 0) return std::nullopt;
    axis += rank;
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  const bool squeezes = outer.Is("Squeeze");
  if (!squeezes && !outer.Is("Unsqueeze")) return NoMatch{};
  const Node* inner = ProducerIs(graph, outer.input(0), squeezes ? "Unsqueeze" : "Squeeze");
  if (inner == nullptr) return NoMatch{};
  const ValueId source = inner->input(0);
  const int between = graph.type(outer.input(0)).rank();
  // The tensor with the larger rank: between the two for Unsqueeze first, at both ends for Squeeze first.
  const int rank = squeezes ? between : graph.type(source).rank();
  const auto first = SortedAxes(graph, *inner, rank);
  const auto second = SortedAxes(graph, outer, rank);
  if (!first || !second) return Refuse("the axes are not known");
  if (*first != *second) return Refuse("the axes differ");
  return Edit([=](Graph& changed) { Bypass(changed, anchor, source); });
}

}  // namespace

std::unique_ptr<Rewrite> CancelUnsqueezeSqueeze() {
  return MakeExactRule("cancel-unsqueeze-squeeze", "Squeeze(Unsqueeze(x)) -> x and the other way round", &At);
}

}  // namespace rlc
