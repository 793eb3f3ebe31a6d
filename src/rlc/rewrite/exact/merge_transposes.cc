//   y = Transpose(Transpose(x, p1), p2)   ->   y = Transpose(x, p)      p[i] = p1[p2[i]]
//
// The identity that may come out of it is taken by remove-neutral-layout.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Transpose")) return NoMatch{};
  const Node* inner = ProducerIs(graph, outer.input(0), "Transpose");
  if (inner == nullptr) return NoMatch{};
  const auto first = ReadPermutation(graph, *inner);
  const auto second = ReadPermutation(graph, outer);
  if (!first || !second) return Refuse("the rank is not known");
  if (first->size() != second->size()) return NoMatch{};
  std::vector<int64_t> perm;
  for (const int64_t axis : *second) perm.push_back((*first)[static_cast<size_t>(axis)]);
  const ValueId source = inner->input(0);
  return Edit([=](Graph& changed) {
    changed.SetAttribute(anchor, {"perm", perm, ""});
    ReplaceInput(changed, anchor, 0, source);
  });
}

}  // namespace

std::unique_ptr<Rewrite> MergeTransposes() {
  return MakeExactRule("merge-transposes", "Transpose(Transpose(x)) -> Transpose(x)", &At);
}

}  // namespace rlc
