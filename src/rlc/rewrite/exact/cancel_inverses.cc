//   Neg(Neg(x)) -> x        Not(Not(x)) -> x        Reciprocal is left alone: 1 / (1 / x) rounds twice
//
// Exact for every value of every type: two's complement wraps twice for the smallest integer.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Neg") && !outer.Is("Not")) return NoMatch{};
  const Node* inner = ProducerIs(graph, outer.input(0), outer.op);
  if (inner == nullptr) return NoMatch{};
  const ValueId source = inner->input(0);
  return Edit([=](Graph& changed) { Bypass(changed, anchor, source); });
}

}  // namespace

std::unique_ptr<Rewrite> CancelInverses() {
  return MakeExactRule("cancel-inverses", "Neg(Neg(x)), Not(Not(x)) -> x", &At);
}

}  // namespace rlc
