//   y = BN(layer(x; W, b))   ->   y = layer(x; W', b')        layer: Conv, ConvTranspose, Gemm, MatMul
//
//   s  = scale / sqrt(variance + epsilon)     for each output channel, in double
//   W' = W * s      b' = (b - mean) * s + bias
//
// Gemm and MatMul: only where BatchNormalization's channel axis (1) is the column, that is for results of rank 2; a
// MatMul becomes a Gemm. Refuses: training mode (batch statistics); a layer output with another reader, which would
// still need the old values; parameters that are not constant; folded values that are not finite or lose precision in
// their type.
#include "rlc/rewrite/channel_math.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

bool IsFoldable(const Node& layer) {
  return layer.Is("Conv") || layer.Is("ConvTranspose") || layer.Is("Gemm") || layer.Is("MatMul");
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& batch_norm = graph.node(anchor);
  if (!batch_norm.Is("BatchNormalization")) return NoMatch{};
  const ValueId between = batch_norm.input(0);
  const NodeId layer_id = ProducerId(graph, between);
  if (layer_id == NodeId::kNone || !IsFoldable(graph.node(layer_id))) return NoMatch{};
  const Node& layer = graph.node(layer_id);
  const bool matrix = layer.op == "Gemm" || layer.op == "MatMul";
  if (matrix && graph.type(between).rank() != 2) return NoMatch{};
  if (!IsInferenceBatchNorm(graph, batch_norm)) return Refuse("BatchNormalization is in training mode");
  if (matrix && graph.opset() < 7) return Refuse("Gemm has another form before opset 7");
  if (!OnlyReaderIs(graph, between, anchor)) return Refuse("{} has another reader", graph.value(between).name);
  const auto channels = OutputChannels(graph, layer);
  if (!channels) return Refuse("the weight of {} is not constant", graph.value(between).name);
  const auto affine = BatchNormAffine(graph, batch_norm);
  if (!affine) return Refuse("the parameters of BatchNormalization are not constant");
  if (static_cast<int64_t>(affine->scale.size()) != *channels) return Refuse("the numbers of channels differ");
  auto folded = FoldAffine(graph, layer, *affine);
  if (!folded) return Refusal{folded.error().message};
  return Edit([=, folded = *std::move(folded)](Graph& changed) {
    InstallFolded(changed, layer_id, folded);
    TakeOver(changed, layer_id, anchor);
  });
}

}  // namespace

std::unique_ptr<Rewrite> FuseBnIntoLayer() {
  return MakeExactRule("fuse-bn-into-layer", "BN(Conv(x, W, b)) -> Conv(x, W', b'); also ConvTranspose, Gemm, MatMul",
                       &At);
}

}  // namespace rlc
