//   y = Reshape(x, Concat(Gather(Shape(x), 0), -1, ...))   ->   y = Reshape(x, [0, -1, ...])
//
// Each element of the computed target is a number, or a size of some tensor. A size that x provably has at the same
// place is a 0 in the target ("copy"). One size elsewhere can be -1 ("the rest"), if all the others are positive
// numbers: with a copied size of zero, -1 would have no answer.
//
// A multiple of a size can be -1 too. Refuses: sizes that are neither; a second -1; literal zeros (allowzero=1); x of
// unknown rank where a size is to be copied.
#include <algorithm>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"
#include "rlc/rewrite/shape_values.h"

namespace rlc {
namespace {

std::optional<std::vector<int64_t>> ConstantTarget(const Graph& graph, ValueId input, const ShapeValue& value) {
  std::vector<int64_t> target;
  std::vector<size_t> open;
  for (size_t i = 0; i < value.elements.size(); ++i) {
    const ShapeElement& element = value.elements[i];
    if (element.number) {
      target.push_back(*element.number);
      continue;
    }
    const auto axis = static_cast<int64_t>(i);
    const bool copies = axis < graph.type(input).rank() && SameElement(graph, element, SizeOf(graph, input, axis));
    target.push_back(copies ? 0 : -1);
    if (!copies) open.push_back(i);
  }
  if (open.size() > 1) return std::nullopt;
  if (open.size() == 1) {
    for (size_t i = 0; i < target.size(); ++i) {
      if (i != open[0] && target[i] <= 0) return std::nullopt;
    }
  }
  if (std::count(target.begin(), target.end(), -1) > 1) return std::nullopt;
  return target;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!node.Is("Reshape") || graph.opset() < 5 || node.inputs.size() != 2) return NoMatch{};
  if (node.GetInt("allowzero", 0) != 0 || graph.constant(node.inputs[1]) != nullptr) return NoMatch{};
  const auto value = ReadShapeValue(graph, node.inputs[1]);
  if (!value || value->scalar) return NoMatch{};
  auto target = ConstantTarget(graph, node.inputs[0], *value);
  if (!target) return Refuse("a size of the target is neither constant nor the input's at the same place");
  const auto count = static_cast<int64_t>(target->size());
  return Edit([=, target = *std::move(target)](Graph& changed) {
    const std::string stem = changed.value(changed.node(anchor).inputs[1]).name;
    ReplaceInput(changed, anchor, 1, AddConstant(changed, stem, Tensor::Of<int64_t>({count}, target)));
  });
}

}  // namespace

std::unique_ptr<Rewrite> FoldReshapeTarget() {
  return MakeExactRule("fold-reshape-target", "Reshape to sizes computed from Shape -> Reshape to [0, -1, ...]", &At);
}

}  // namespace rlc
