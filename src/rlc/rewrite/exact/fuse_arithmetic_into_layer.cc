//   y = layer(x; W, b) * s      ->   y = layer(x; W * s, b * s)          also  / s  (times 1 / s)
//   y = layer(x; W, b) + t      ->   y = layer(x; W, b + t)              also  - t  and  t - layer  (times -1, plus t)
//
// s, t: one number for each output channel, or one for all, constant. layer: Conv, ConvTranspose, Gemm, MatMul.
// Computed in double. Adding to a MatMul makes a Gemm, for matrices only.
//
// Refuses: operands that vary along another axis or widen the result (one output channel times [4,1,1] has four); a
// constant divided by the result; a layer output with another reader; weights that are not constant; folded values that
// are not finite (division by zero) or lose precision in their type.
#include "rlc/rewrite/channel_math.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

struct Operands {
  ValueId layer_output = ValueId::kNone;
  const Tensor* constant = nullptr;
  bool constant_first = false;
};

std::optional<Operands> ReadOperands(const Graph& graph, const Node& node) {
  if (!node.Is("Mul") && !node.Is("Div") && !node.Is("Add") && !node.Is("Sub")) return std::nullopt;
  if (node.inputs.size() != 2) return std::nullopt;
  for (const size_t side : {size_t{1}, size_t{0}}) {
    if (const Tensor* constant = graph.constant(node.input(side))) {
      return Operands{node.input(1 - side), constant, side == 0};
    }
  }
  return std::nullopt;
}

// Axis of the result on which the output channels lie, and its rank.
std::optional<std::pair<int, int>> ChannelAxis(const Graph& graph, const Node& layer, ValueId output) {
  if (layer.op == "Conv" || layer.op == "ConvTranspose") return std::pair(1, graph.constant(layer.input(1))->rank());
  const int rank = graph.type(output).rank();
  if (rank < 2) return std::nullopt;
  return std::pair(rank - 1, rank);
}

// True when the layer's result is known to have as many channels as its weight says along each axis that `constant`
// covers, so that nothing is widened. PerChannel has checked the channel axis; the others are 1 in the constant.
ChannelAffine AffineOf(const Node& node, const Operands& operands, const std::vector<double>& values) {
  ChannelAffine affine;
  for (const double value : values) {
    double scale = 1, shift = 0;
    if (node.op == "Mul") scale = value;
    if (node.op == "Div") scale = 1 / value;
    if (node.op == "Add") shift = value;
    if (node.op == "Sub") {
      scale = operands.constant_first ? -1 : 1;
      shift = operands.constant_first ? value : -value;
    }
    affine.scale.push_back(scale);
    affine.shift.push_back(shift);
  }
  return affine;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (graph.opset() < 7) return NoMatch{};  // broadcasting was an attribute
  const auto operands = ReadOperands(graph, node);
  if (!operands || operands->layer_output == ValueId::kNone) return NoMatch{};
  const ValueId between = operands->layer_output;
  const NodeId layer_id = ProducerId(graph, between);
  if (layer_id == NodeId::kNone) return NoMatch{};
  const Node& layer = graph.node(layer_id);
  const auto channels = OutputChannels(graph, layer);
  if (!channels) return NoMatch{};
  const auto axis = ChannelAxis(graph, layer, between);
  if (!axis) return NoMatch{};
  if (node.op == "Div" && operands->constant_first) return Refuse("a constant divided by the result is no scale");
  const auto values = PerChannel(*operands->constant, axis->second, axis->first, *channels);
  if (!values) return Refuse("the constant is not one number for each output channel");
  if (!OnlyReaderIs(graph, between, anchor)) return Refuse("{} has another reader", graph.value(between).name);
  const ChannelAffine affine = AffineOf(node, *operands, *values);
  const bool shifts = node.op == "Add" || node.op == "Sub";
  if (shifts && layer.op == "MatMul" && axis->second != 2) return Refuse("a Gemm takes matrices only");
  auto folded = FoldAffine(graph, layer, affine);
  if (!folded) return Refusal{folded.error().message};
  return Edit([=, folded = *std::move(folded)](Graph& changed) {
    InstallFolded(changed, layer_id, folded);
    TakeOver(changed, layer_id, anchor);
  });
}

}  // namespace

std::unique_ptr<Rewrite> FuseArithmeticIntoLayer() {
  return MakeExactRule("fuse-arithmetic-into-layer", "Conv(x, W, b) * s + t -> Conv(x, W', b'); also Sub, Div, Gemm",
                       &At);
}

}  // namespace rlc
