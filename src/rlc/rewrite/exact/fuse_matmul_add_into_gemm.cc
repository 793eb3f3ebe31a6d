//   y = MatMul(a, B) + c   ->   y = Gemm(a, B, c)
//
// a: a matrix; B: any matrix; c: whatever broadcasts to the product without widening it (a constant row is also taken
// by fuse-arithmetic-into-layer). Also y = Gemm(a, B) + c where the Gemm has no bias yet.
//
// Refuses: ranks other than 2 or unknown; a sum that is wider than the product; element types that Gemm does not take
// in this opset; a product with another reader; tensors of a quantized layer (the integer kernels look for MatMul).
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

bool IsProduct(const Node* node) {
  if (node == nullptr) return false;
  return node->Is("MatMul") || (node->Is("Gemm") && node->input(2) == ValueId::kNone);
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& add = graph.node(anchor);
  if (!add.Is("Add") || add.inputs.size() != 2 || graph.opset() < 7) return NoMatch{};
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const ValueId product = add.input(side);
    const ValueId summand = add.input(1 - side);
    if (!IsProduct(graph.producer(product)) || product == summand) continue;
    const NodeId layer_id = graph.value(product).producer;
    const Node& layer = graph.node(layer_id);
    if (graph.type(layer.input(0)).rank() != 2 || graph.type(layer.input(1)).rank() != 2) return NoMatch{};
    if (!IsFloat(ElementType(graph, product))) return Refuse("Gemm takes float types here");
    const Type& type = graph.type(product);
    const Type& other = graph.type(summand);
    if (other.rank() < 0 || type.rank() != 2) return NoMatch{};
    if (!BroadcastsInto(*other.shape, *type.shape)) return Refuse("the sum may be wider than the product");
    if (!OnlyReaderIs(graph, product, anchor)) return Refuse("{} has another reader", graph.value(product).name);
    for (const ValueId operand : {layer.input(0), layer.input(1)}) {
      if (ProducerIs(graph, operand, "DequantizeLinear") != nullptr) return Refuse("the layer is quantized");
    }
    const NodeId summand_producer = ProducerId(graph, summand);
    const bool later = summand_producer != NodeId::kNone && graph.Before(layer_id, summand_producer);
    return Edit([=](Graph& changed) {
      const Node copy = changed.node(layer_id);
      if (!later) {
        changed.SetOp(layer_id, "Gemm");
        changed.SetInput(layer_id, 2, summand);
        TakeOver(changed, layer_id, anchor);
        return;
      }
      // The summand is computed after the product: the Gemm stands where the sum was, and takes the layer's name.
      Rebuild(changed, anchor, "Gemm", {copy.inputs[0], copy.inputs[1], summand}, copy.attributes);
      changed.SetNodeName(anchor, copy.name);
      changed.SetLayer(anchor, copy.layer);
    });
  }
  return NoMatch{};
}

}  // namespace

std::unique_ptr<Rewrite> FuseMatmulAddIntoGemm() {
  return MakeExactRule("fuse-matmul-add-into-gemm", "MatMul(a, B) + c -> Gemm(a, B, c) for matrices", &At);
}

}  // namespace rlc
