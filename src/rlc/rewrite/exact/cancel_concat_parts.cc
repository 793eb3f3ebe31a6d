//   Split(Concat(a, b))             ->   a, b                   the same axis and sizes
//   y = Slice(Concat(a, b))         ->   y = Slice(b), or b     the range lies in one part
//   y = Concat(Slice(x), Slice(x))  ->   y = Slice(x), or x     ranges of x that meet, in order
//
// Sizes along the axis must be known where they matter. Refuses: ranges over several parts; steps; a part of a Split
// that is an output of the graph; slices that something else reads, unless x is taken whole.
#include <algorithm>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

// Size along an axis; -1 when not known.
int64_t SizeAlong(const Graph& graph, ValueId value, int64_t axis) {
  if (value == ValueId::kNone || graph.type(value).rank() <= axis) return -1;
  const Dim& dim = (*graph.type(value).shape)[static_cast<size_t>(axis)];
  return dim.known() ? dim.value : -1;
}

std::optional<int64_t> AxisOf(const Graph& graph, const Node& node, int64_t absent) {
  const int rank = node.input(0) == ValueId::kNone ? -1 : graph.type(node.input(0)).rank();
  return NormalizeAxis(node.GetInt("axis", absent).value_or(rank), rank);
}

std::optional<int64_t> ConcatAxis(const Graph& graph, const Node& concat) {
  return AxisOf(graph, concat, graph.opset() < 4 ? 1 : 0);
}

// [begin, end) of an axis of `size` that a Slice along that axis alone takes, step 1.
struct Range {
  int64_t begin = 0, end = 0;
};
std::optional<Range> RangeOf(const Graph& graph, const Node& slice, int64_t axis, int rank, int64_t size) {
  const auto form = ReadSlice(graph, slice);
  if (!form || form->axes.size() != 1 || form->steps[0] != 1 || size < 0) return std::nullopt;
  if (NormalizeAxis(form->axes[0], rank) != axis) return std::nullopt;
  const auto place = [&](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? std::max(index, -size) + size : index, 0, size);
  };
  return Range{place(form->starts[0]), place(form->ends[0])};
}

// `node` becomes a Slice of x, or nothing where the range is the whole of it.
Edit TakeRange(NodeId node, ValueId x, int64_t axis, Range range, bool whole) {
  return [=](Graph& graph) {
    if (whole) {
      Bypass(graph, node, x);
      return;
    }
    if (graph.opset() < 10) {
      Rebuild(graph, node, "Slice", {x},
              {{"starts", std::vector{range.begin}, ""},
               {"ends", std::vector{range.end}, ""},
               {"axes", std::vector{axis}, ""}});
      return;
    }
    const std::string stem = graph.value(graph.node(node).outputs[0]).name;
    const auto constant = [&](std::string_view name, int64_t value) {
      return AddConstant(graph, fmt::format("{}_{}", stem, name), Tensor::Of<int64_t>({1}, {value}));
    };
    const ValueId starts = constant("starts", range.begin), ends = constant("ends", range.end);
    Rebuild(graph, node, "Slice", {x, starts, ends, constant("axes", axis)}, {});
  };
}

Outcome CancelSplit(const Graph& graph, NodeId anchor) {
  const Node& split = graph.node(anchor);
  const Node* concat = ProducerIs(graph, split.input(0), "Concat");
  if (concat == nullptr || concat->inputs.size() != split.outputs.size()) return NoMatch{};
  const auto axis = ConcatAxis(graph, *concat);
  if (!axis || AxisOf(graph, split, 0) != axis) return NoMatch{};
  const std::vector<ValueId> parts = concat->inputs, pieces = split.outputs;
  std::vector<int64_t> sizes;
  if (split.input(1) != ValueId::kNone || split.FindAttribute("split") != nullptr) {
    const auto given = graph.opset() < 13 ? split.GetInts("split") : IntsConstant(graph, split.input(1));
    if (!given || given->size() != parts.size()) return Refuse("the sizes are not constant");
    sizes = *given;
  } else {
    // In equal parts, which is what they are when all of them have the same size.
    sizes.assign(parts.size(), SizeAlong(graph, parts[0], *axis));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (sizes[i] < 0 || SizeAlong(graph, parts[i], *axis) != sizes[i]) return Refuse("the parts have other sizes");
    if (pieces[i] != ValueId::kNone && graph.is_output(pieces[i])) return Refuse("a part is an output of the graph");
  }
  return Edit([=](Graph& changed) {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (pieces[i] != ValueId::kNone) changed.ReplaceUses(pieces[i], parts[i]);
    }
    EraseNode(changed, anchor);
  });
}

Outcome CancelSlice(const Graph& graph, NodeId anchor) {
  const Node& slice = graph.node(anchor);
  const Node* concat = ProducerIs(graph, slice.input(0), "Concat");
  if (concat == nullptr) return NoMatch{};
  const auto axis = ConcatAxis(graph, *concat);
  const int rank = axis ? graph.type(concat->input(0)).rank() : -1;
  int64_t total = 0;
  for (const ValueId part : concat->inputs) {
    const int64_t size = axis ? SizeAlong(graph, part, *axis) : -1;
    if (size < 0) return NoMatch{};
    total += size;
  }
  const auto range = RangeOf(graph, slice, *axis, rank, total);
  if (!range || range->begin >= range->end) return NoMatch{};
  int64_t start = 0;
  for (const ValueId part : concat->inputs) {
    const int64_t size = SizeAlong(graph, part, *axis);
    if (range->begin >= start && range->end <= start + size) {
      const Range inside{range->begin - start, range->end - start};
      const bool whole = inside.begin == 0 && inside.end == size;
      if (whole && !CanBypass(graph, anchor, part)) return NoMatch{};
      return TakeRange(anchor, part, *axis, inside, whole);
    }
    start += size;
  }
  return Refuse("the slice reaches over several parts");
}

Outcome JoinSlices(const Graph& graph, NodeId anchor) {
  const Node& concat = graph.node(anchor);
  const Node* first = ProducerIs(graph, concat.input(0), "Slice");
  const auto axis = ConcatAxis(graph, concat);
  if (first == nullptr || concat.inputs.size() < 2) return NoMatch{};
  const ValueId x = first->input(0);
  const int rank = x == ValueId::kNone ? -1 : graph.type(x).rank();
  if (!axis || rank < 1) return NoMatch{};
  const int64_t size = SizeAlong(graph, x, *axis);
  std::optional<Range> joined;
  bool alone = true;
  for (const ValueId input : concat.inputs) {
    const Node* slice = ProducerIs(graph, input, "Slice");
    const auto range =
        slice == nullptr || slice->input(0) != x ? std::nullopt : RangeOf(graph, *slice, *axis, rank, size);
    if (!range || range->begin >= range->end) return NoMatch{};
    if (joined && joined->end != range->begin) return Refuse("the slices do not meet");
    joined = Range{joined ? joined->begin : range->begin, range->end};
    alone = alone && OnlyReaderIs(graph, input, anchor);
  }
  const bool whole = joined->begin == 0 && joined->end == size;
  if (!whole && !alone) return Refuse("a slice has another reader");
  if (whole && !CanBypass(graph, anchor, x)) return NoMatch{};
  return TakeRange(anchor, x, *axis, *joined, whole);
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (node.Is("Split")) return CancelSplit(graph, anchor);
  if (node.Is("Slice")) return CancelSlice(graph, anchor);
  if (node.Is("Concat")) return JoinSlices(graph, anchor);
  return NoMatch{};
}

}  // namespace

std::unique_ptr<Rewrite> CancelConcatParts() {
  return MakeExactRule("cancel-concat-parts",
                       "Split(Concat), Slice(Concat), Concat(Slice, Slice) -> the parts themselves", &At);
}

}  // namespace rlc
