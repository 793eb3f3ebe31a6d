//   d = x - mean(x),  y = d / sqrt(mean(d^2) + e) * g + b   ->   y = LayerNormalization(x, g, b), epsilon e
//
// Means over the last axis, keepdims=1; d^2 as Pow(d, 2) or d * d; g and b: one number for each place of that axis; b
// may be missing. From opset 17 on, where the operator exists (earlier the runtime fuses the pattern itself).
//
// Refuses: results in between with another reader; a scale or bias that would widen x (norm of [2,1] times two
// numbers); an epsilon that is no positive number; other types than float.
#include <algorithm>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

// A sum or product of a computed value and a constant, in either order.
struct Pair {
  ValueId computed = ValueId::kNone, constant = ValueId::kNone;
};
std::optional<Pair> Split(const Graph& graph, const Node* node, std::string_view op) {
  if (node == nullptr || !node->Is(op) || node->inputs.size() != 2) return std::nullopt;
  for (const size_t side : {size_t{1}, size_t{0}}) {
    if (graph.constant(node->input(side)) != nullptr) return Pair{node->input(1 - side), node->input(side)};
  }
  return std::nullopt;
}

// A constant list of `size` numbers.
bool IsRow(const Graph& graph, ValueId value, int64_t size) {
  const Tensor& tensor = *graph.constant(value);
  return tensor.dtype() == DType::kFloat && tensor.rank() == 1 && tensor.size() == size;
}

// What ReduceMean(.., last axis, keepdims=1) computed `value` from.
ValueId MeanOf(const Graph& graph, ValueId value) {
  const Node* mean = ProducerIs(graph, value, "ReduceMean");
  if (mean == nullptr || mean->input(0) == ValueId::kNone || mean->GetInt("keepdims", 1) != 1) return ValueId::kNone;
  const auto axes = ReadAxes(graph, *mean, AxesInputSince(*mean));
  const int rank = graph.type(mean->input(0)).rank();
  const bool last = axes && *axes && (*axes)->size() == 1 && NormalizeAxis((*axes)->front(), rank) == rank - 1;
  return last ? mean->input(0) : ValueId::kNone;
}

// What `value` is the square of.
ValueId RootOf(const Graph& graph, ValueId value) {
  const Node* square = value == ValueId::kNone ? nullptr : graph.producer(value);
  if (square == nullptr || square->inputs.size() != 2) return ValueId::kNone;
  const bool power = square->Is("Pow") && ScalarConstant(graph, square->inputs[1]) == 2.0 &&
                     square->inputs[0] != ValueId::kNone && KeepsShape(graph, square->inputs[1], square->inputs[0]);
  const bool product = square->Is("Mul") && square->inputs[0] == square->inputs[1];
  return power || product ? square->inputs[0] : ValueId::kNone;
}

struct Norm {
  ValueId x = ValueId::kNone;
  double epsilon = 0;
};

// The normalization without scale and bias that `value` is, and nothing else reads what is inside.
std::optional<Norm> ReadNorm(const Graph& graph, ValueId value) {
  const Node* quotient = ProducerIs(graph, value, "Div");
  const Node* root = quotient == nullptr ? nullptr : ProducerIs(graph, quotient->input(1), "Sqrt");
  const Node* shifted = root == nullptr ? nullptr : ProducerIs(graph, root->input(0), "Add");
  const auto sum = Split(graph, shifted, "Add");
  if (!sum || !KeepsShape(graph, sum->constant, sum->computed)) return std::nullopt;
  const auto epsilon = ScalarConstant(graph, sum->constant);
  const ValueId square = MeanOf(graph, sum->computed);
  const ValueId centered = quotient->input(0);
  if (!epsilon || square == ValueId::kNone || RootOf(graph, square) != centered) return std::nullopt;
  const Node* difference = ProducerIs(graph, centered, "Sub");
  if (difference == nullptr || MeanOf(graph, difference->input(1)) != difference->input(0)) return std::nullopt;
  // The differences are read by their square and by the quotient, all else once.
  const size_t uses = graph.producer(square)->Is("Pow") ? 2 : 3;
  if (graph.value(centered).uses.size() != uses || graph.is_output(centered) || !(*epsilon > 0)) return std::nullopt;
  for (const ValueId each : {quotient->input(1), root->input(0), sum->computed, square, difference->input(1)}) {
    if (graph.SingleReader(each) == NodeId::kNone) return std::nullopt;
  }
  return Norm{difference->input(0), *epsilon};
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (graph.opset() < 17 || (!node.Is("Add") && !node.Is("Mul"))) return NoMatch{};
  const Node* product = &node;
  const auto shift = Split(graph, &node, "Add");
  if (node.Is("Add")) {
    if (!shift || graph.SingleReader(shift->computed) == NodeId::kNone) return NoMatch{};
    product = ProducerIs(graph, shift->computed, "Mul");
  }
  const auto scale = Split(graph, product, "Mul");
  const auto norm = scale ? ReadNorm(graph, scale->computed) : std::nullopt;
  if (!norm) return NoMatch{};
  if (graph.SingleReader(scale->computed) == NodeId::kNone) return Refuse("the normalized values have another reader");
  if (ElementType(graph, norm->x) != DType::kFloat) return Refuse("the runtime normalizes float only");
  const Dim& last = graph.type(norm->x).shape->back();
  const int64_t size = last.known() ? last.value : -1;
  if (!IsRow(graph, scale->constant, size)) return Refuse("the scale is not one number for each place");
  if (shift && node.Is("Add") && !IsRow(graph, shift->constant, size)) {
    return Refuse("the bias is not one number for each place");
  }
  if (node.Is("Mul")) {  // a bias comes next: then all three at once
    const NodeId reader = graph.SingleReader(node.output(0));
    const auto next = reader == NodeId::kNone ? std::nullopt : Split(graph, &graph.node(reader), "Add");
    if (next && IsRow(graph, next->constant, size)) return NoMatch{};
  }
  std::vector<ValueId> inputs = {norm->x, scale->constant};
  if (node.Is("Add")) inputs.push_back(shift->constant);
  const std::vector<Attribute> attributes = {{"axis", int64_t{-1}, ""},
                                             {"epsilon", static_cast<float>(norm->epsilon), ""}};
  return Edit([=](Graph& changed) { Rebuild(changed, anchor, "LayerNormalization", inputs, attributes); });
}

}  // namespace

std::unique_ptr<Rewrite> FuseLayerNorm() {
  return MakeExactRule("fuse-layer-norm", "(x - mean) / sqrt(variance + e) * g + b -> LayerNormalization", &At);
}

}  // namespace rlc
