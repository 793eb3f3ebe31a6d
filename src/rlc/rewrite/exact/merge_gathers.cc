//   y = Gather(Gather(x, i), j)   ->   y = Gather(x, i[j])          constant indices, the same axis
//   y = Slice(Gather(x, i))       ->   y = Gather(x, i[slice])      along the gathered axis only
//   y = Squeeze(Slice(x))         ->   y = Gather(x, k)             a slice of one along the one squeezed axis
//
// i is a list; j may also be a number, which drops the axis.
//
// Refuses: indices that are not constant; other axes; an inner result that something else reads, unless all its readers
// are such slices, which then copy no more than before; in the last form a slice that may be empty or starts elsewhere
// when the axis is short (its Squeeze would fail: so does the Gather).
#include <algorithm>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

constexpr int64_t kOpenEnd = int64_t{1} << 31;

struct GatherForm {
  ValueId x = ValueId::kNone;
  int64_t axis = 0;
  std::vector<int64_t> indices;
};

// A Gather of a constant list of places.
std::optional<GatherForm> ReadGather(const Graph& graph, const Node& node) {
  const Tensor* indices = graph.constant(node.input(1));
  const int rank = node.input(0) == ValueId::kNone ? -1 : graph.type(node.input(0)).rank();
  const auto axis = NormalizeAxis(node.GetInt("axis", 0).value_or(rank), rank);
  if (indices == nullptr || indices->rank() != 1 || rank < 1 || !axis) return std::nullopt;
  const auto list = IntsConstant(graph, node.input(1));
  if (!list) return std::nullopt;
  return GatherForm{node.input(0), *axis, *list};
}

// The indices that a Slice along `axis` alone keeps.
std::optional<std::vector<int64_t>> Sliced(const Graph& graph, const Node& node, const GatherForm& inner) {
  const auto form = ReadSlice(graph, node);
  if (!form || form->axes.size() != 1 || form->steps[0] < 1) return std::nullopt;
  if (NormalizeAxis(form->axes[0], graph.type(inner.x).rank()) != inner.axis) return std::nullopt;
  const auto size = static_cast<int64_t>(inner.indices.size());
  const auto place = [&](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? std::max(index, -size) + size : index, 0, size);
  };
  std::vector<int64_t> kept;
  for (int64_t i = place(form->starts[0]); i < place(form->ends[0]); i += std::min(form->steps[0], size)) {
    kept.push_back(inner.indices[static_cast<size_t>(i)]);
  }
  return kept;
}

void Install(Graph& graph, NodeId anchor, ValueId x, int64_t axis, Tensor indices) {
  const std::string stem = graph.value(graph.node(anchor).outputs[0]).name + "_places";
  const ValueId list = AddConstant(graph, stem, std::move(indices));
  Rebuild(graph, anchor, "Gather", {x, list}, {{"axis", axis, ""}});
}

// Slices of a gathered list.
Outcome MergeSlice(const Graph& graph, NodeId anchor, const Node& inner_node) {
  const auto inner = ReadGather(graph, inner_node);
  if (!inner) return NoMatch{};
  const ValueId gathered = inner_node.output(0);
  if (graph.is_output(gathered)) return Refuse("the gathered tensor is an output");
  size_t total = 0;
  for (const Use& use : graph.value(gathered).uses) {
    const Node& reader = graph.node(use.node);
    const auto kept = use.input == 0 && reader.Is("Slice") ? Sliced(graph, reader, *inner) : std::nullopt;
    if (!kept) return Refuse("the gathered tensor has another reader");
    total += kept->size();
  }
  if (total > inner->indices.size()) return Refuse("the slices overlap");
  const std::vector<int64_t> kept = *Sliced(graph, graph.node(anchor), *inner);
  return Edit([=](Graph& changed) {
    Install(changed, anchor, inner->x, inner->axis, Tensor::Of<int64_t>({static_cast<int64_t>(kept.size())}, kept));
  });
}

Outcome MergeGather(const Graph& graph, NodeId anchor, const Node& inner_node) {
  const Node& outer = graph.node(anchor);
  const auto inner = ReadGather(graph, inner_node);
  const Tensor* indices = graph.constant(outer.input(1));
  if (!inner || indices == nullptr) return NoMatch{};
  const int rank = graph.type(inner->x).rank();
  if (NormalizeAxis(outer.GetInt("axis", 0).value_or(rank), rank) != inner->axis) return NoMatch{};
  if (indices->rank() > 1) return NoMatch{};
  if (!OnlyReaderIs(graph, outer.input(0), anchor)) return Refuse("the inner result has another reader");
  const auto list = IntsConstant(graph, outer.input(1));
  if (!list) return NoMatch{};
  std::vector<int64_t> places;
  for (const int64_t index : *list) {
    const auto place = NormalizeAxis(index, static_cast<int64_t>(inner->indices.size()));
    if (!place) return Refuse("an index is outside the list");
    places.push_back(inner->indices[static_cast<size_t>(*place)]);
  }
  const std::vector<int64_t> dims = indices->dims();
  return Edit(
      [=](Graph& changed) { Install(changed, anchor, inner->x, inner->axis, Tensor::Of<int64_t>(dims, places)); });
}

// The one place that a slice [start, end) of step 1 keeps when it keeps one; nothing when it may keep more.
std::optional<int64_t> OnePlace(int64_t start, int64_t end, int64_t step) {
  if (step != 1) return std::nullopt;
  const bool last = start == -1 && end >= kOpenEnd - 1;
  if (!last && (end - start != 1 || end == 0)) return std::nullopt;
  return start;
}

Outcome MergeSqueeze(const Graph& graph, NodeId anchor) {
  const Node& squeeze = graph.node(anchor);
  const Node* slice = ProducerIs(graph, squeeze.input(0), "Slice");
  if (slice == nullptr) return NoMatch{};
  const auto form = ReadSlice(graph, *slice);
  const auto axes = ReadAxes(graph, squeeze, AxesInputSince(squeeze));
  if (!form || !axes || !*axes || (*axes)->size() != 1 || form->axes.size() != 1) return NoMatch{};
  const ValueId x = slice->input(0);
  const int rank = x == ValueId::kNone ? -1 : graph.type(x).rank();
  const auto axis = NormalizeAxis(form->axes[0], rank);
  if (!axis || axis != NormalizeAxis((*axes)->front(), rank)) return NoMatch{};
  if (std::abs(form->starts[0]) > kOpenEnd || form->ends[0] < -kOpenEnd) return NoMatch{};
  const auto place = OnePlace(form->starts[0], form->ends[0], form->steps[0]);
  if (!place) return Refuse("the slice may keep more than one place");
  if (!OnlyReaderIs(graph, squeeze.input(0), anchor)) return Refuse("the slice has another reader");
  const Dim& dim = (*graph.type(x).shape)[static_cast<size_t>(*axis)];
  if (dim.known() && !NormalizeAxis(*place, dim.value)) return Refuse("the slice is empty");
  return Edit([=](Graph& changed) { Install(changed, anchor, x, *axis, Tensor::Scalar<int64_t>(*place)); });
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (node.Is("Squeeze")) return MergeSqueeze(graph, anchor);
  if (!node.Is("Slice") && !node.Is("Gather")) return NoMatch{};
  const Node* inner = ProducerIs(graph, node.input(0), "Gather");
  if (inner == nullptr) return NoMatch{};
  return node.Is("Slice") ? MergeSlice(graph, anchor, *inner) : MergeGather(graph, anchor, *inner);
}

}  // namespace

std::unique_ptr<Rewrite> MergeGathers() {
  return MakeExactRule("merge-gathers",
                       "Gather(Gather(x, i), j), Slice(Gather(x, i)), Squeeze(Slice(x)) -> Gather(x, k)", &At);
}

}  // namespace rlc
