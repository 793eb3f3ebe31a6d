//   y = ReduceMean(x, axes = all but batch and channels, keepdims = 1)   ->   y = GlobalAveragePool(x)
//
// x: N x C x at least two spatial axes. The pool is what the runtime's image layout knows, a mean is not. Also axes
// counted from the end, and in any order.
//
// Refuses: the means of a normalization, x - mean(x) and mean((..)^2), which the runtime fuses; keepdims=0; axes that
// are not constant, or not just the spatial ones; element types without a pool (float, double, float16 have one); an
// empty image, whose mean is not a number.
#include <algorithm>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

// The axes are 2, 3, ... up to the last.
bool AreSpatial(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> sorted;
  for (const int64_t axis : axes) sorted.push_back(NormalizeAxis(axis, rank).value_or(-1));
  std::sort(sorted.begin(), sorted.end());
  if (static_cast<int64_t>(sorted.size()) != rank - 2) return false;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i) + 2) return false;
  }
  return true;
}

// The mean in x - mean(x), or of a square.
bool BelongsToNormalization(const Graph& graph, const Node& mean) {
  const ValueId x = mean.input(0);
  const Node* producer = graph.producer(x);
  const bool squares =
      producer != nullptr && (producer->Is("Pow") || (producer->Is("Mul") && producer->inputs.size() == 2 &&
                                                      producer->inputs[0] == producer->inputs[1]));
  const std::vector<Use>& uses = graph.value(mean.output(0)).uses;
  return squares || std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
           const Node& reader = graph.node(use.node);
           return reader.Is("Sub") && (reader.input(0) == x || reader.input(1) == x);
         });
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& mean = graph.node(anchor);
  if (!mean.Is("ReduceMean") || mean.input(0) == ValueId::kNone || mean.output(0) == ValueId::kNone) return NoMatch{};
  const int rank = graph.type(mean.input(0)).rank();
  if (rank < 4) return NoMatch{};
  const auto axes = ReadAxes(graph, mean, AxesInputSince(mean));
  if (!axes || !*axes) return NoMatch{};
  if (!AreSpatial(**axes, rank)) return NoMatch{};
  if (mean.GetInt("keepdims", 1) != 1) return Refuse("it drops the axes");
  if (BelongsToNormalization(graph, mean)) return Refuse("it belongs to a normalization");
  const DType dtype = ElementType(graph, mean.input(0));
  if (dtype != DType::kFloat) return Refuse("there is no pool for {}", DTypeName(dtype));
  const Shape& shape = *graph.type(mean.input(0)).shape;
  if (std::any_of(shape.begin() + 2, shape.end(), [](const Dim& dim) { return dim.known() && dim.value == 0; })) {
    return Refuse("the image is empty");
  }
  const ValueId x = mean.input(0);
  return Edit([=](Graph& changed) { Rebuild(changed, anchor, "GlobalAveragePool", {x}, {}); });
}

}  // namespace

std::unique_ptr<Rewrite> ReplaceMeanByGlobalPool() {
  return MakeExactRule("replace-mean-by-global-pool", "ReduceMean over the image, keepdims=1 -> GlobalAveragePool",
                       &At);
}

}  // namespace rlc
