//   y = Reshape(R(x), target)   ->   y = Reshape(x, target')      R: Reshape, Flatten, Squeeze, Unsqueeze
//
// A reshape only looks at the order of elements, so the one before it does not matter, unless the target copies sizes
// from it (0). Such a 0 becomes the size itself when that is known, or stays when x has provably the same size there.
//
// Refuses: a 0 whose size is not known; a target that is not constant.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

bool OnlyReshapes(const Node* node) {
  return node != nullptr &&
         (node->Is("Reshape") || node->Is("Flatten") || node->Is("Squeeze") || node->Is("Unsqueeze"));
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Reshape") || outer.input(0) == ValueId::kNone || graph.opset() < 5) return NoMatch{};
  const ValueId between = outer.input(0);
  const Node* inner = graph.producer(between);
  if (!OnlyReshapes(inner)) return NoMatch{};
  const auto form = ReadReshape(graph, outer);
  if (!form) return Refuse("the target shape is not constant");
  const ValueId source = inner->input(0);
  const Type& middle = graph.type(between);
  const Type& first = graph.type(source);
  std::vector<int64_t> target = form->target;
  for (size_t i = 0; i < target.size() && form->zero_copies; ++i) {
    if (target[i] != 0) continue;
    if (middle.rank() <= static_cast<int>(i)) return Refuse("a size that the target copies is not known");
    const Dim& copied = (*middle.shape)[i];
    if (copied.known() && copied.value > 0) {
      target[i] = copied.value;
    } else if (first.rank() <= static_cast<int>(i) || !(*first.shape)[i].SameAs(copied)) {
      return Refuse("a size that the target copies is not known");
    }
  }
  const bool new_target = target != form->target;
  const auto count = static_cast<int64_t>(target.size());
  return Edit([=](Graph& changed) {
    if (new_target) {
      const std::string stem = changed.value(changed.node(anchor).inputs[1]).name;
      ReplaceInput(changed, anchor, 1, AddConstant(changed, stem, Tensor::Of<int64_t>({count}, target)));
    }
    ReplaceInput(changed, anchor, 0, source);
  });
}

}  // namespace

std::unique_ptr<Rewrite> MergeReshapes() {
  return MakeExactRule("merge-reshapes", "Reshape(Reshape(x)) -> Reshape(x); also Flatten, Squeeze, Unsqueeze inside",
                       &At);
}

}  // namespace rlc
