//   Transpose with the identity permutation                              ->   x
//   Reshape, Flatten, Squeeze, Unsqueeze to the shape that x has      ->   x
//   Expand whose target provably broadcasts into x; Tile by ones      ->   x
//   Slice of everything; Pad by nothing; Split into one               ->   x
//   Resize and Upsample by one; pools of one; DepthToSpace of blocks of one   ->   x
//   ReduceMean, Sum, Max, Min, Prod over axes of length one that stay, or over none   ->   x
//
// Shapes are compared by numbers and by names (equal names are equal sizes), as inferred, never as recorded in the
// file.
#include <algorithm>
#include <limits>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

bool IsIdentityTranspose(const Graph& graph, const Node& node) {
  const auto perm = ReadPermutation(graph, node);
  return perm && std::is_sorted(perm->begin(), perm->end());
}

// A Reshape may give the same shape without the sizes being known: at most one of them may hide behind -1.
bool KeepsReshape(const Graph& graph, const Node& node) {
  const auto form = ReadReshape(graph, node);
  const Type& type = graph.type(node.input(0));
  if (!form || type.rank() < 0 || form->target.size() != type.shape->size()) return false;
  int open = 0;
  for (size_t i = 0; i < form->target.size(); ++i) {
    const int64_t target = form->target[i];
    if (target == 0 && form->zero_copies) continue;
    if (target == -1) {
      ++open;
    } else if (!(*type.shape)[i].known() || (*type.shape)[i].value != target) {
      return false;
    }
  }
  return open <= 1;
}

bool IsWholeSlice(const Graph& graph, const Node& node) {
  const auto form = ReadSlice(graph, node);
  if (!form) return false;
  const Type& type = graph.type(node.input(0));
  for (size_t i = 0; i < form->starts.size(); ++i) {
    if (form->starts[i] != 0 || form->steps[i] != 1) return false;
    int64_t enough = std::numeric_limits<int32_t>::max();  // what exporters write for "to the end"
    if (type.rank() >= 0) {
      const auto axis = NormalizeAxis(form->axes[i], type.rank());
      if (!axis) return false;
      const Dim& dim = (*type.shape)[static_cast<size_t>(*axis)];
      if (dim.known()) enough = dim.value;
    }
    if (form->ends[i] < enough) return false;
  }
  return true;
}

bool IsEmptyPad(const Graph& graph, const Node& node) {
  const auto zero = [](const std::vector<int64_t>& pads) {
    return std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; });
  };
  // The rank may be unknown: all zeros are nothing on any axis.
  if (graph.opset() >= 11) return IsAll(graph, node.input(1), 0) || IsAbsentOrEmpty(graph, node.input(1));
  const auto pads = node.GetInts("pads");
  return pads && node.FindAttribute("pads") != nullptr && zero(*pads);
}

bool KeepsExpand(const Graph& graph, const Node& node) {
  const Type& type = graph.type(node.input(0));
  const auto target = IntsConstant(graph, node.input(1));
  if (!target) return false;
  if (std::all_of(target->begin(), target->end(), [](int64_t dim) { return dim == 1; }) &&
      (target->empty() || (type.rank() >= 0 && static_cast<int>(target->size()) <= type.rank()))) {
    return true;
  }
  if (type.rank() < 0) return false;
  Shape shape;
  for (const int64_t dim : *target) shape.push_back(Dim::Of(dim));
  return BroadcastsInto(shape, *type.shape);
}

// Flatten, Squeeze, Unsqueeze: the result has the input's rank only when nothing happens.
bool KeepsRank(const Graph& graph, const Node& node) {
  const int rank = graph.type(node.input(0)).rank();
  if (node.op == "Flatten") return rank == 2 && node.GetInt("axis", 1) == 1;
  const auto axes = ReadAxes(graph, node, AxesInputSince(node));
  if (!axes) return false;
  if (*axes) return (*axes)->empty() && node.op == "Unsqueeze";
  const auto dims = StaticShape(graph, node.input(0));
  return node.op == "Squeeze" && dims && std::find(dims->begin(), dims->end(), 1) == dims->end();
}

// By scales of one, or to the sizes that x has. Whatever the mode, the sampled points are then the pixels themselves;
// only a crop samples elsewhere.
bool IsWholeResize(const Graph& graph, const Node& node) {
  if (node.op == "Upsample") return graph.opset() >= 9 && IsAll(graph, node.input(1), 1);
  if (graph.opset() < 11) return IsAll(graph, node.input(1), 1);
  const Attribute* transformation = node.FindAttribute("coordinate_transformation_mode");
  const auto* mode = transformation ? std::get_if<std::string>(&transformation->value) : nullptr;
  if (transformation != nullptr && (mode == nullptr || *mode == "tf_crop_and_resize")) return false;
  if (IsAbsentOrEmpty(graph, node.input(3))) return IsAll(graph, node.input(2), 1);
  const auto dims = StaticShape(graph, node.input(0));
  return node.FindAttribute("axes") == nullptr && dims && IntsConstant(graph, node.input(3)) == *dims;
}

bool IsPoolOfOne(const Graph& graph, const Node& node) {
  const auto all = [&](const char* name, int64_t wanted, bool needed) {
    if (node.FindAttribute(name) == nullptr) return !needed;
    const auto values = node.GetInts(name);
    return values && std::all_of(values->begin(), values->end(), [&](int64_t value) { return value == wanted; });
  };
  return all("kernel_shape", 1, true) && all("strides", 1, false) && all("pads", 0, false) &&
         OutputsUnread(graph, node);
}

// The axes stay and have one element each, or there are none.
bool KeepsReduce(const Graph& graph, const Node& node) {
  const int input_since = node.op == "ReduceSum" ? 13 : 18;
  const auto axes = ReadAxes(graph, node, input_since);
  if (!axes) return false;
  if (!*axes || (*axes)->empty()) return graph.opset() >= input_since && node.GetInt("noop_with_empty_axes", 0) == 1;
  const Type& type = graph.type(node.input(0));
  return type.rank() >= 0 && node.GetInt("keepdims", 1) == 1 &&
         std::all_of((*axes)->begin(), (*axes)->end(), [&](int64_t axis) {
           const auto at = NormalizeAxis(axis, type.rank());
           return at && (*type.shape)[static_cast<size_t>(*at)].value == 1;
         });
}

bool IsKeptByReduce(const Node& node) {
  return node.op == "ReduceMean" || node.op == "ReduceSum" || node.op == "ReduceMax" || node.op == "ReduceMin" ||
         node.op == "ReduceProd";
}

bool IsWholeSplit(const Node& node) { return node.outputs.size() == 1; }

bool KeepsInput(const Graph& graph, const Node& node) {
  if (node.op == "Transpose") return IsIdentityTranspose(graph, node);
  if (node.op == "Reshape") return KeepsReshape(graph, node);
  if (node.op == "Slice") return IsWholeSlice(graph, node);
  if (node.op == "Pad") return IsEmptyPad(graph, node);
  if (node.op == "Expand") return KeepsExpand(graph, node);
  if (node.op == "Tile") return graph.opset() >= 6 && IsAll(graph, node.input(1), 1);
  if (node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze") return KeepsRank(graph, node);
  if (node.op == "Split") return IsWholeSplit(node);
  if (node.op == "Resize" || node.op == "Upsample") return IsWholeResize(graph, node);
  if (node.op == "MaxPool" || node.op == "AveragePool") return IsPoolOfOne(graph, node);
  if (node.op == "DepthToSpace" || node.op == "SpaceToDepth") return node.GetInt("blocksize", 0) == 1;
  if (IsKeptByReduce(node)) return KeepsReduce(graph, node);
  return false;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.domain.empty() || node.input(0) == ValueId::kNone || node.output(0) == ValueId::kNone) return NoMatch{};
  const ValueId source = node.input(0);
  if (!KeepsInput(graph, node) || !CanBypass(graph, anchor, source)) return NoMatch{};
  return Edit([=](Graph& changed) { Bypass(changed, anchor, source); });
}

}  // namespace

std::unique_ptr<Rewrite> RemoveNeutralLayout() {
  return MakeExactRule("remove-neutral-layout",
                       "Transpose, Reshape, Slice, Pad, Expand, Resize, ... that change nothing -> x", &At);
}

}  // namespace rlc
