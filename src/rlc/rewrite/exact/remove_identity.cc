//   y = Identity(x)           ->   x      of any type, sequences and optionals too
//   y = Dropout(x, ratio)     ->   x      at inference, mask unread
//   y = Cast(x, type of x)    ->   x
//   y = Concat(x)             ->   x      also Sum, Max, Min, Mean of one
//
// Where y is an output of the graph, its producer takes the name; where x comes from outside the graph, one Identity
// stays. Refuses: Dropout in training mode, or whose mask is read (it is all true, not a copy of x).
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.domain.empty() || node.input(0) == ValueId::kNone || node.output(0) == ValueId::kNone) return NoMatch{};
  const ValueId source = node.input(0);
  if (node.op == "Dropout") {
    if (!OutputsUnread(graph, node)) return Refuse("the mask is read");
    if (!IsInferenceDropout(graph, node)) return Refuse("Dropout is in training mode");
  } else if (node.op == "Cast") {
    const DType from = ElementType(graph, source);
    const auto to = node.GetInt("to", 0);
    if (from == DType::kUndefined || !to || *to != static_cast<int64_t>(from)) return NoMatch{};
  } else if (node.op == "Concat" || node.op == "Sum" || node.op == "Max" || node.op == "Min" || node.op == "Mean") {
    if (node.inputs.size() != 1) return NoMatch{};
  } else if (node.op != "Identity") {
    return NoMatch{};
  }
  if (!CanBypass(graph, anchor, source)) return NoMatch{};
  return Edit([=](Graph& changed) { Bypass(changed, anchor, source); });
}

}  // namespace

std::unique_ptr<Rewrite> RemoveIdentity() {
  return MakeExactRule("remove-identity",
                       "Identity, inference Dropout, Cast to the same type, Concat or Sum of one -> x", &At);
}

}  // namespace rlc
