//   y = Reshape(Transpose(Reshape(x, [N, g, c, ...]), [0, 2, 1, ...]), [N, g * c, ...])   ->   y = Gather(x, order,
//   axis=1)
//
// A channel shuffle: channel i * g + j of the result is channel j * c + i of x, all else stays where it is. One copy
// instead of three nodes, and slices of it are gathers of fewer channels (merge-gathers).
//
// Refuses: other permutations and targets; sizes that are not provably x's (one may be unknown, when all the others are
// numbers: then it is what is left); intermediate results with another reader.
#include <algorithm>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"
#include "rlc/rewrite/shape_values.h"

namespace rlc {
namespace {

bool SwapsOneAndTwo(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    const int64_t wanted = i == 1 ? 2 : i == 2 ? 1 : static_cast<int64_t>(i);
    if (perm[i] != wanted) return false;
  }
  return perm.size() >= 3;
}

// The sizes of a reshaped tensor, against those that it must have for the shuffle: provably the same, but for one that
// may be open if all the others are positive numbers. Or are as they should be, where it is written as -1: then it is
// what is left, and a size of zero fails.
class SizeCheck {
 public:
  explicit SizeCheck(const Graph& graph) : graph_(graph) {}
  void Add(const ShapeElement& found, const ShapeElement& wanted) {
    if (SameElement(graph_, found, wanted)) {
      numbers_ = numbers_ && found.number.value_or(0) > 0;
    } else if (found.number && wanted.number) {
      ++wrong_;
    } else {
      ++open_;
    }
  }
  bool ok(bool one_is_left) const { return wrong_ == 0 && (open_ == 0 || (open_ == 1 && (numbers_ || one_is_left))); }

 private:
  const Graph& graph_;
  int wrong_ = 0, open_ = 0;
  bool numbers_ = true;
};

// [N, g, c, ...] for x of [N, g * c, ...]: the channels are checked already.
bool SplitsChannelsOnly(const Graph& graph, ValueId x, ValueId middle) {
  SizeCheck check(graph);
  check.Add(SizeOf(graph, middle, 0), SizeOf(graph, x, 0));
  for (int64_t axis = 2; axis < graph.type(x).rank(); ++axis) {
    check.Add(SizeOf(graph, middle, axis + 1), SizeOf(graph, x, axis));
  }
  return check.ok(false);
}

// The target of the last Reshape has the sizes of x. (The type of its result is not known when it is an output.)
bool HasSizesOf(const Graph& graph, const ReshapeForm& form, ValueId swapped, ValueId x) {
  SizeCheck check(graph);
  for (size_t i = 0; i < form.target.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    ShapeElement size;
    if (form.target[i] > 0) size.number = form.target[i];
    if (form.target[i] == 0 && form.zero_copies) size = SizeOf(graph, swapped, axis);
    check.Add(size, SizeOf(graph, x, axis));
  }
  return check.ok(std::count(form.target.begin(), form.target.end(), -1) == 1);
}

int64_t KnownDim(const Graph& graph, ValueId value, size_t axis) {
  const Dim& dim = (*graph.type(value).shape)[axis];
  return dim.known() ? dim.value : -1;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Reshape")) return NoMatch{};
  const Node* transpose = ProducerIs(graph, outer.input(0), "Transpose");
  const Node* inner = transpose == nullptr ? nullptr : ProducerIs(graph, transpose->input(0), "Reshape");
  if (inner == nullptr || inner->input(0) == ValueId::kNone) return NoMatch{};
  const auto perm = ReadPermutation(graph, *transpose);
  if (!perm || !SwapsOneAndTwo(*perm)) return NoMatch{};
  const ValueId x = inner->input(0), middle = transpose->input(0), swapped = outer.input(0);
  const int rank = graph.type(x).rank();
  if (rank < 2 || graph.type(middle).rank() != rank + 1 || graph.type(swapped).rank() != rank + 1) return NoMatch{};
  const auto target = ReadReshape(graph, outer);
  if (!target || static_cast<int>(target->target.size()) != rank) return NoMatch{};
  const int64_t groups = KnownDim(graph, middle, 1), each = KnownDim(graph, middle, 2);
  const int64_t channels = KnownDim(graph, x, 1);
  if (groups < 1 || each < 1 || channels != groups * each) return NoMatch{};
  if (!SplitsChannelsOnly(graph, x, middle) || !HasSizesOf(graph, *target, swapped, x)) {
    return Refuse("a size may not be the input's");
  }
  if (!OnlyReaderIs(graph, swapped, anchor) || graph.SingleReader(middle) == NodeId::kNone) {
    return Refuse("an intermediate result has another reader");
  }
  std::vector<int64_t> order;
  for (int64_t i = 0; i < each; ++i) {
    for (int64_t j = 0; j < groups; ++j) order.push_back(j * each + i);
  }
  return Edit([=](Graph& changed) {
    const std::string stem = changed.value(changed.node(anchor).outputs[0]).name + "_order";
    const ValueId indices = AddConstant(changed, stem, Tensor::Of<int64_t>({channels}, order));
    Rebuild(changed, anchor, "Gather", {x, indices}, {{"axis", int64_t{1}, ""}});
  });
}

}  // namespace

std::unique_ptr<Rewrite> ReplaceShuffleByGather() {
  return MakeExactRule("replace-shuffle-by-gather", "a channel shuffle by Reshape, Transpose, Reshape -> Gather", &At);
}

}  // namespace rlc
