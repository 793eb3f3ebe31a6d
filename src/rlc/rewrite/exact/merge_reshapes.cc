//   y = Reshape(R(x), target)   ->   y = Reshape(x, target')      R: Reshape, Flatten, Squeeze, Unsqueeze
//   y = Squeeze(R(x)), Unsqueeze(R(x))   ->   y = Reshape(x, shape of y)      R read by nothing else
//
// A reshape only looks at the order of elements, so the one before it does not matter, unless the target copies sizes
// from it (0). Such a 0 becomes the size itself when that is known, or stays when x has provably the same size there.
//
// The shape of y may have one size that is not known (-1), besides those that x has in the same place (0).
//
// Refuses: a 0 whose size is not known; a target that is not constant; more than one size of y not known, or one of
// zero.
#include <algorithm>
#include <set>

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

// A target that gives `result` from a tensor of shape `source`: at most one size is not known (-1), or all of these are
// the source's in the same place (0). Not both: where such a size is zero, -1 has no answer.
std::optional<std::vector<int64_t>> TargetFor(const Type& source, const Type& result) {
  if (result.rank() < 0) return std::nullopt;
  std::vector<int64_t> target;
  int open = 0;
  bool copied = true;
  for (size_t i = 0; i < result.shape->size(); ++i) {
    const Dim& dim = (*result.shape)[i];
    if (dim.value == 0) return std::nullopt;
    target.push_back(dim.known() ? dim.value : -1);
    open += dim.known() ? 0 : 1;
    copied = copied && (dim.known() || (static_cast<int>(i) < source.rank() && (*source.shape)[i].SameAs(dim)));
  }
  if (open > 1 && !copied) return std::nullopt;
  if (open > 1) std::replace(target.begin(), target.end(), int64_t{-1}, int64_t{0});
  return target;
}

// What Squeeze or Unsqueeze makes of its input's shape. Not the type of its output, which the graph does not know of
// its own outputs.
Type ResultOf(const Graph& graph, const Node& node) {
  const Type& type = graph.type(node.input(0));
  const auto read = ReadAxes(graph, node, AxesInputSince(node));
  if (type.rank() < 0 || !read) return {};
  const auto dims = static_cast<int64_t>(type.shape->size());
  const bool adds = node.Is("Unsqueeze");
  if (!*read) return {};  // "all of length one": only Squeeze, and rare
  const int64_t rank = adds ? dims + static_cast<int64_t>((*read)->size()) : dims;
  std::set<int64_t> axes;
  for (const int64_t axis : **read) {
    const auto at = NormalizeAxis(axis, rank);
    if (!at || !axes.insert(*at).second) return {};
  }
  Shape shape;
  int64_t from = 0;
  for (int64_t i = 0; i < rank; ++i) {
    const bool one = axes.count(i) > 0;
    if (adds && one) {
      shape.push_back(Dim::Of(1));
    } else {
      if (!one) shape.push_back((*type.shape)[static_cast<size_t>(from)]);
      ++from;
    }
  }
  return Type::Tensor(type.elem, std::move(shape));
}

Outcome AtSqueeze(const Graph& graph, NodeId anchor) {
  const Node& outer = graph.node(anchor);
  const Node* inner = graph.producer(outer.input(0));
  // Two of a kind: merge-squeezes, which needs no sizes.
  if (!OnlyReshapes(inner) || inner->Is(outer.op)) return NoMatch{};
  if (!OnlyReaderIs(graph, outer.input(0), anchor)) return Refuse("the inner result has another reader");
  const ValueId source = inner->input(0);
  const auto target = TargetFor(graph.type(source), ResultOf(graph, outer));
  if (!target) return Refuse("the sizes of the result are not known");
  const auto count = static_cast<int64_t>(target->size());
  return Edit([=](Graph& changed) {
    const std::string stem = changed.value(changed.node(anchor).outputs[0]).name + "_shape";
    Rebuild(changed, anchor, "Reshape", {source, AddConstant(changed, stem, Tensor::Of<int64_t>({count}, *target))},
            {});
  });
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if ((outer.Is("Squeeze") || outer.Is("Unsqueeze")) && outer.input(0) != ValueId::kNone && graph.opset() >= 5) {
    return AtSqueeze(graph, anchor);
  }
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
  return MakeExactRule("merge-reshapes", "Reshape(Reshape(x)) -> Reshape(x); also with Flatten, Squeeze, Unsqueeze",
                       &At);
}

}  // namespace rlc
