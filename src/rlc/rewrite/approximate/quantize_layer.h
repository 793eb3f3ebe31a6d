// quantize-layer@layer<N>: one Conv, Gemm or MatMul in 8-bit integers, as a QDQ graph that ONNX Runtime turns into
// QLinearConv, QGemm, QLinearMatMul or MatMulIntegerToFloat.
//
//   y = Relu(Conv(x, W, b))  ->  y' = DQ(Q(Relu(Conv(DQ(Q(x)), DQ(Wq), DQ(bq)))))
//
// Approximate. Opset 13 or later (per-channel DequantizeLinear). Params:
//   values.scheme   "u8s8" | "u8s7" | "s8s8" | "s8s7"
//   values.ranges   {value name: {"scale": s, "zero_point": z}}: the layer's input (its root, see qdq.h), its output
//   behind an
//                   absorbed Relu or Clip, and the sums, concatenations and poolings that become integer with it
// Weights are quantized from what the graph holds when the edit is made, so pruning before it composes.
//
// After every edit the graph is settled (qdq.h), so that the set of quantized layers matters and not their order: equal
// Q/DQ pairs are shared, residual Add and other integer-capable nodes between quantized values become integer, and
// layers that stay float are kept float (ONNX Runtime >= 1.21 would quantize them).
#ifndef RLC_REWRITE_APPROXIMATE_QUANTIZE_LAYER_H_
#define RLC_REWRITE_APPROXIMATE_QUANTIZE_LAYER_H_

#include <memory>

#include "rlc/rewrite/rewrite.h"

namespace rlc {

std::unique_ptr<Rewrite> QuantizeLayer();

}  // namespace rlc

#endif  // RLC_REWRITE_APPROXIMATE_QUANTIZE_LAYER_H_
