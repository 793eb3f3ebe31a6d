//   c = Constant<value>()   ->   initializer
//
// Initializers are what other rules, the runtime and people look for. A Constant that is an output of the graph (or of
// a body) stays: the name must be produced by a node. So do forms that rlc does not read (sparse values).
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.Is("Constant")) return NoMatch{};
  const ValueId output = node.output(0);
  const Tensor* tensor = graph.constant(output);
  if (tensor == nullptr || graph.is_output(output) || !graph.HasReaders(output)) return NoMatch{};
  return Edit([=, constant = *tensor](Graph& changed) {
    changed.ReplaceUses(output, AddConstant(changed, changed.value(output).name, constant));
    EraseNode(changed, anchor);
  });
}

}  // namespace

std::unique_ptr<Rewrite> ReplaceConstantNodes() {
  return MakeExactRule("replace-constant-nodes", "Constant nodes become initializers", &At);
}

}  // namespace rlc
