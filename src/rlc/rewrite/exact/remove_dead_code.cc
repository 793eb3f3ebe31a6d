// Removes nodes whose outputs nothing reads, in turn what only fed them, and initializers that nothing reads.
//
// Foreign ops stay: they may have effects that nobody knows. Inputs of the graph stay: they are its interface.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

Outcome At(const Graph& graph, NodeId, const RewriteContext&) {
  std::vector<NodeId> dead_nodes;
  std::vector<ValueId> dead_initializers;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (IsPure(node) && OutputsUnread(graph, node, 0)) dead_nodes.push_back(id);
  }
  for (const ValueId id : graph.initializers()) {
    if (graph.value(id).kind == Value::Kind::kInitializer && !graph.HasReaders(id)) dead_initializers.push_back(id);
  }
  if (dead_nodes.empty() && dead_initializers.empty()) return NoMatch{};
  return Edit([=](Graph& changed) {
    for (const NodeId id : dead_nodes) EraseNode(changed, id);
    for (const ValueId id : dead_initializers) EraseIfUnread(changed, id);
  });
}

}  // namespace

std::unique_ptr<Rewrite> RemoveDeadCode() {
  return MakeExactGraphRule("remove-dead-code", "nodes and initializers that nothing reads", &At);
}

}  // namespace rlc
