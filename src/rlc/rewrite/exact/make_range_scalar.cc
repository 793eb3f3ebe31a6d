//   Range(start[1], limit[1], step[1])  ->  Range(start, limit, step)     for constants
//
// Runtimes run a Range over lists of one number when they meet them at run time, but refuse to load one whose inputs
// are constants of that form, which folding may have made of them.
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.Is("Range")) return NoMatch{};
  std::vector<size_t> lists;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor* constant = graph.constant(node.inputs[i]);
    if (constant && constant->dims() == std::vector<int64_t>{1}) lists.push_back(i);
  }
  if (lists.empty()) return NoMatch{};
  return Edit([=](Graph& changed) {
    for (const size_t i : lists) {
      const ValueId list = changed.node(anchor).inputs[i];
      const std::string name = changed.UniqueName(changed.value(list).name);
      changed.SetInput(anchor, i, changed.AddInitializer(name, changed.constant(list)->Reshaped({})));
    }
  });
}

}  // namespace

std::unique_ptr<Rewrite> MakeRangeScalar() {
  return MakeExactRule("make-range-scalar", "constants of shape [1] in front of Range -> scalars", &At);
}

}  // namespace rlc
