//   y = Slice(Slice(x))   ->   y = Slice(x)
//
// On different axes the lists are joined. On the same axis, with the first slice giving positions s + i * p, i < n:
//
//   size known:    the second takes i = s2 + j * q, so  start = s + s2 * p,  step = p * q,  as many as the second has
//   size unknown:  only for p, q > 0 and s, s2 >= 0, with "to the end" for ends of 2^31 - 1 and more:
//                  start = s + s2 * p,  step = p * q,  end = the smaller of e and s + e2 * p; a negative end (counted
//                  from the end of x) can be kept when it is the only one and p = 1
//
// Refuses: settings that are not constant; other combinations on an axis of unknown size; steps before opset 10.
#include <algorithm>
#include <limits>
#include <map>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

struct Range {
  int64_t start = 0, end = 0, step = 1;
};

constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();
constexpr int64_t kLimit = int64_t{1} << 40;  // keeps products far from overflow

// Positions start + i * step, i < count, that a slice picks from an axis of `size`.
struct Picked {
  int64_t start, count, step;
};

Picked Resolve(const Range& range, int64_t size) {
  const bool forward = range.step > 0;
  const int64_t lowest = forward ? 0 : -1;
  const int64_t highest = forward ? size : size - 1;
  const auto position = [&](int64_t index, int64_t low) {
    const int64_t from_front = index < 0 ? std::max(index, -size - 1) + size : index;
    return std::clamp(from_front, low, std::max(highest, low));
  };
  const int64_t start = position(range.start, forward ? 0 : std::min<int64_t>(0, highest));
  const int64_t end = position(range.end, lowest);
  const int64_t distance = forward ? end - start : start - end;
  const int64_t stride = std::abs(range.step);
  return {start, distance <= 0 ? 0 : (distance - 1) / stride + 1, range.step};
}

std::optional<Range> ComposeSized(const Range& first, const Range& second, int64_t size) {
  if (size == 0 || size > kLimit || std::abs(first.step) > kLimit || std::abs(second.step) > kLimit)
    return std::nullopt;
  // Python and ONNX disagree about a backward slice that starts before the first element.
  if (first.step < 0 && first.start < -size) return std::nullopt;
  const Picked inner = Resolve(first, size);
  if (inner.count == 0) return Range{0, 0, 1};
  if (second.step < 0 && second.start < -inner.count) return std::nullopt;
  const Picked outer = Resolve(second, inner.count);
  if (outer.count == 0) return Range{0, 0, 1};
  const int64_t start = inner.start + outer.start * inner.step;
  int64_t step = inner.step * outer.step;
  if (outer.count == 1) step = 1;
  const int64_t last = start + (outer.count - 1) * step;
  if (step > 0) return Range{start, last + 1, step};
  return Range{start, last == 0 ? -size - 1 : last - 1, step};
}

std::optional<Range> ComposeUnsized(const Range& first, const Range& second) {
  if (first.step < 1 || second.step < 1 || first.start < 0 || second.start < 0) return std::nullopt;
  for (const int64_t number : {first.start, second.start, first.step, second.step}) {
    if (number > kEnd) return std::nullopt;
  }
  Range range{first.start + second.start * first.step, kEnd, first.step * second.step};
  if (range.start >= kEnd || range.step >= kEnd) return std::nullopt;
  const bool first_open = first.end >= kEnd;
  const bool second_open = second.end >= kEnd;
  if (first.end < 0) {
    if (!second_open) return std::nullopt;
    range.end = first.end;
    return range;
  }
  if (second.end < 0) {
    if (!first_open || first.step != 1) return std::nullopt;
    range.end = second.end;
    return range;
  }
  if (!first_open) range.end = first.end;
  if (!second_open) range.end = std::min(range.end, first.start + second.end * first.step);
  if (first_open && second_open) range.end = std::numeric_limits<int64_t>::max();
  return range;
}

using Ranges = std::map<int64_t, Range>;

std::optional<Ranges> ByAxis(const SliceForm& form, int rank) {
  Ranges ranges;
  for (size_t i = 0; i < form.axes.size(); ++i) {
    int64_t axis = form.axes[i];
    if (rank >= 0) {
      const auto normal = NormalizeAxis(axis, rank);
      if (!normal) return std::nullopt;
      axis = *normal;
    }
    if (axis < 0 || ranges.contains(axis)) return std::nullopt;
    ranges[axis] = {form.starts[i], form.ends[i], form.steps[i]};
  }
  return ranges;
}

void Install(Graph& graph, NodeId anchor, ValueId source, const SliceForm& form) {
  const std::string stem = graph.value(graph.node(anchor).outputs[0]).name;
  if (graph.opset() < 10) {
    Rebuild(graph, anchor, "Slice", {source},
            {{"starts", form.starts, ""}, {"ends", form.ends, ""}, {"axes", form.axes, ""}});
    return;
  }
  const auto constant = [&](std::string_view name, const std::vector<int64_t>& list) {
    return AddConstant(graph, fmt::format("{}_{}", stem, name),
                       Tensor::Of<int64_t>({static_cast<int64_t>(list.size())}, list));
  };
  std::vector<ValueId> inputs = {source, constant("starts", form.starts), constant("ends", form.ends),
                                 constant("axes", form.axes)};
  const auto one = [](int64_t step) { return step == 1; };
  if (!std::all_of(form.steps.begin(), form.steps.end(), one)) inputs.push_back(constant("steps", form.steps));
  Rebuild(graph, anchor, "Slice", inputs, {});
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Slice")) return NoMatch{};
  const Node* inner = ProducerIs(graph, outer.input(0), "Slice");
  if (inner == nullptr) return NoMatch{};
  const auto first = ReadSlice(graph, *inner);
  const auto second = ReadSlice(graph, outer);
  if (!first || !second) return Refuse("the settings are not constant");
  const ValueId source = inner->input(0);
  const Type& type = graph.type(source);
  const auto inner_ranges = ByAxis(*first, type.rank());
  const auto outer_ranges = ByAxis(*second, type.rank());
  if (!inner_ranges || !outer_ranges) return Refuse("the axes cannot be told apart");
  Ranges ranges = *inner_ranges;
  for (const auto& [axis, range] : *outer_ranges) {
    const auto present = ranges.find(axis);
    if (present == ranges.end()) {
      ranges[axis] = range;
      continue;
    }
    const bool sized = type.rank() >= 0 && (*type.shape)[static_cast<size_t>(axis)].known();
    const auto composed = sized ? ComposeSized(present->second, range, (*type.shape)[static_cast<size_t>(axis)].value)
                                : ComposeUnsized(present->second, range);
    if (!composed) return Refuse("the ranges on axis {} do not compose without its size", axis);
    present->second = *composed;
  }
  SliceForm form;
  for (const auto& [axis, range] : ranges) {
    form.axes.push_back(axis);
    form.starts.push_back(range.start);
    form.ends.push_back(range.end);
    form.steps.push_back(range.step);
    if (range.step != 1 && graph.opset() < 10) return Refuse("Slice has no steps before opset 10");
  }
  return Edit([=](Graph& changed) { Install(changed, anchor, source, form); });
}

}  // namespace

std::unique_ptr<Rewrite> MergeSlices() { return MakeExactRule("merge-slices", "Slice(Slice(x)) -> Slice(x)", &At); }

}  // namespace rlc
