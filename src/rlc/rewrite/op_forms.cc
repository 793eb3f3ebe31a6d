#include "rlc/rewrite/op_forms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rlc/rewrite/match.h"

namespace rlc {
namespace {

using Ints = std::vector<int64_t>;

std::optional<Ints> IntsAttribute(const Node& node, std::string_view name) {
  if (node.FindAttribute(name) == nullptr) return std::nullopt;
  return node.GetInts(name);
}

Ints Count(size_t size) {
  Ints axes(size);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

bool HasDuplicates(Ints axes) {
  std::sort(axes.begin(), axes.end());
  return std::adjacent_find(axes.begin(), axes.end()) != axes.end();
}

}  // namespace

int AxesInputSince(const Node& node) {
  return node.op == "Squeeze" || node.op == "Unsqueeze" || node.op == "ReduceSum" ? 13 : 18;
}

std::optional<std::optional<Ints>> ReadAxes(const Graph& graph, const Node& node, int input_since) {
  if (graph.opset() < input_since) return std::optional<std::optional<Ints>>(IntsAttribute(node, "axes"));
  if (node.input(1) == ValueId::kNone) return std::optional<std::optional<Ints>>(std::optional<Ints>());
  std::optional<Ints> axes = IntsConstant(graph, node.input(1));
  if (!axes) return std::nullopt;
  return std::optional<std::optional<Ints>>(std::move(axes));
}

std::optional<SliceForm> ReadSlice(const Graph& graph, const Node& node) {
  SliceForm form;
  if (graph.opset() < 10) {
    const auto starts = IntsAttribute(node, "starts");
    const auto ends = IntsAttribute(node, "ends");
    if (!starts || !ends) return std::nullopt;
    form = {*starts, *ends, IntsAttribute(node, "axes").value_or(Count(starts->size())), {}};
  } else {
    const auto starts = IntsConstant(graph, node.input(1));
    const auto ends = IntsConstant(graph, node.input(2));
    if (!starts || !ends) return std::nullopt;
    form = {*starts, *ends, Count(starts->size()), {}};
    for (const auto& [input, list] : {std::pair(3, &form.axes), std::pair(4, &form.steps)}) {
      const ValueId value = node.input(static_cast<size_t>(input));
      if (value == ValueId::kNone) continue;
      const auto given = IntsConstant(graph, value);
      if (!given) return std::nullopt;
      *list = *given;
    }
  }
  if (form.steps.empty()) form.steps.assign(form.starts.size(), 1);
  const size_t count = form.starts.size();
  const bool fits = form.ends.size() == count && form.axes.size() == count && form.steps.size() == count;
  if (!fits || HasDuplicates(form.axes)) return std::nullopt;
  if (std::find(form.steps.begin(), form.steps.end(), 0) != form.steps.end()) return std::nullopt;
  return form;
}

std::optional<PadForm> ReadPad(const Graph& graph, const Node& node) {
  const int rank = graph.type(node.input(0)).rank();
  if (rank < 0) return std::nullopt;
  const auto mode = node.GetString("mode", "constant");
  if (!mode) return std::nullopt;
  PadForm form{*mode, {}, {}, 0};
  Ints pads, axes = Count(static_cast<size_t>(rank));
  if (graph.opset() < 11) {
    const auto given = IntsAttribute(node, graph.opset() < 2 ? "paddings" : "pads");
    const auto value = node.GetFloat("value", 0.0F);
    if (!given || !value) return std::nullopt;
    pads = *given;
    form.value = static_cast<double>(*value);
  } else {
    const auto given = IntsConstant(graph, node.input(1));
    if (!given) return std::nullopt;
    pads = *given;
    if (node.input(2) != ValueId::kNone) {
      const auto value = ScalarConstant(graph, node.input(2));
      if (!value) return std::nullopt;
      form.value = *value;
    }
    if (graph.opset() >= 18 && node.input(3) != ValueId::kNone) {
      const auto named = IntsConstant(graph, node.input(3));
      if (!named) return std::nullopt;
      axes = *named;
    }
  }
  if (pads.size() != 2 * axes.size()) return std::nullopt;
  form.begins.assign(static_cast<size_t>(rank), 0);
  form.ends.assign(static_cast<size_t>(rank), 0);
  for (int64_t& axis : axes) {
    const auto normal = NormalizeAxis(axis, rank);
    if (!normal) return std::nullopt;
    axis = *normal;
  }
  if (HasDuplicates(axes)) return std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) {
    form.begins[static_cast<size_t>(axes[i])] = pads[i];
    form.ends[static_cast<size_t>(axes[i])] = pads[axes.size() + i];
  }
  return form;
}

std::optional<ClipForm> ReadClip(const Graph& graph, const Node& node) {
  ClipForm form;
  if (node.Is("Relu")) return ClipForm{0, form.high};
  if (!node.Is("Clip")) return std::nullopt;
  if (graph.opset() < 11) {
    for (const auto& [name, bound] : {std::pair("min", &form.low), std::pair("max", &form.high)}) {
      if (node.FindAttribute(name) == nullptr) continue;
      const auto value = node.GetFloat(name, 0);
      if (!value) return std::nullopt;
      *bound = static_cast<double>(*value);
    }
  } else {
    for (const auto& [input, bound] : {std::pair(1, &form.low), std::pair(2, &form.high)}) {
      const ValueId value = node.input(static_cast<size_t>(input));
      if (value == ValueId::kNone) continue;
      const auto constant = ScalarConstant(graph, value);
      if (!constant) return std::nullopt;
      *bound = *constant;
    }
  }
  if (std::isnan(form.low) || std::isnan(form.high)) return std::nullopt;
  return form;
}

std::optional<ReshapeForm> ReadReshape(const Graph& graph, const Node& node) {
  ReshapeForm form;
  const auto target = graph.opset() < 5 ? IntsAttribute(node, "shape") : IntsConstant(graph, node.input(1));
  const auto allow_zero = node.GetInt("allowzero", 0);
  if (!target || !allow_zero) return std::nullopt;
  form.target = *target;
  form.zero_copies = *allow_zero == 0;
  return form;
}

std::optional<Ints> ReadPermutation(const Graph& graph, const Node& node) {
  if (node.FindAttribute("perm") != nullptr) {
    const auto perm = node.GetInts("perm");
    if (!perm) return std::nullopt;
    Ints sorted = *perm;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != Count(sorted.size())) return std::nullopt;
    return perm;
  }
  const int rank = graph.type(node.input(0)).rank();
  if (rank < 0) return std::nullopt;
  Ints perm = Count(static_cast<size_t>(rank));
  std::reverse(perm.begin(), perm.end());
  return perm;
}

std::optional<Ints> ReadExplicitPads(const Node& node, size_t spatial) {
  const auto auto_pad = node.GetString("auto_pad", "NOTSET");
  const auto pads = node.GetInts("pads", Ints(2 * spatial, 0));
  if (!auto_pad || !pads) return std::nullopt;
  if (*auto_pad == "VALID") return Ints(2 * spatial, 0);
  if (*auto_pad != "NOTSET" && !auto_pad->empty()) return std::nullopt;
  if (pads->size() != 2 * spatial) return std::nullopt;
  return pads;
}

}  // namespace rlc
