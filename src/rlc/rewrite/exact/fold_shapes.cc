// Shape arithmetic whose result is known although its input is not constant becomes that constant:
//
//   Shape(x), Size(x)                     of a tensor with static dimensions
//   Gather, Slice, Concat ... of Shape    when the sizes they end up with are static, even if others are not
//
// Sizes are the inferred ones, never what the file records.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"
#include "rlc/rewrite/shape_values.h"

namespace rlc {
namespace {

std::optional<Tensor> Known(const Graph& graph, const Node& node) {
  if (node.op == "Size") {
    const auto dims = StaticShape(graph, node.input(0));
    const auto count = dims ? ElementCount(*dims) : std::nullopt;
    if (!count) return std::nullopt;
    return Tensor::Scalar<int64_t>(*count);
  }
  const auto value = ReadShapeValue(graph, node.output(0));
  if (!value) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const ShapeElement& element : value->elements) {
    if (!element.number) return std::nullopt;
    numbers.push_back(*element.number);
  }
  if (value->scalar) return Tensor::Scalar<int64_t>(numbers[0]);
  return Tensor::Of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers);
}

// What ReadShapeValue follows, and Size.
bool IsShapeOp(const Node& node) {
  return node.Is("Shape") || node.Is("Size") || node.Is("Gather") || node.Is("Slice") || node.Is("Concat") ||
         node.Is("Squeeze") || node.Is("Unsqueeze");
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!IsShapeOp(node) || node.input(0) == ValueId::kNone) return NoMatch{};
  const ValueId output = node.output(0);
  if (output == ValueId::kNone || ElementType(graph, output) != DType::kInt64) return NoMatch{};
  if (!graph.HasReaders(output) || graph.constant(node.input(0)) != nullptr) return NoMatch{};
  auto tensor = Known(graph, node);
  if (!tensor) return NoMatch{};
  return Edit([=, tensor = *std::move(tensor)](Graph& changed) {
    if (!changed.is_output(output)) {
      changed.ReplaceUses(output, AddConstant(changed, changed.value(output).name, tensor));
      EraseNode(changed, anchor);
    } else {
      Rebuild(changed, anchor, "Constant", {}, {{"value", tensor, ""}});
    }
  });
}

}  // namespace

std::unique_ptr<Rewrite> FoldShapes() {
  return MakeExactRule("fold-shapes", "Shape of static sizes, and arithmetic on it -> constant", &At);
}

}  // namespace rlc
