// The normal form of a graph with quantized layers. It depends on which layers and values are quantized, not on the
// order in which they became so; settling twice changes nothing.
//
//  - A node with an integer form (residual Add, Concat, GlobalAveragePool, ...) reads dequantized values when all its
//    inputs and its output are quantized: the runtime then runs it on integers.
//  - What is computed from integers is read in its dequantized form only: an integer kernel needs its QuantizeLinear as
//    the only reader.
//  - Layers that stay float are kept float. ONNX Runtime 1.21 rounds the float weights of every Conv, ConvTranspose and
//    Gemm behind a DequantizeLinear with one scale to int8 (per tensor); later versions do so when a QuantizeLinear
//    follows, and run the layer as integers. Both pass over a DequantizeLinear with a scale for each channel, so float
//    layers read one of those, all scales equal: the same numbers, the same time. Where the channels cannot be known, a
//    one-input Sum stands before the layer. Seen on 1.21.1 and 1.32.0 at levels basic, extended and all;
//    LeakyRelu(alpha=0) in place of a following Relu is not enough on 1.21.1.
#ifndef RLC_REWRITE_APPROXIMATE_SETTLE_H_
#define RLC_REWRITE_APPROXIMATE_SETTLE_H_

#include <map>
#include <string>

#include "rlc/ir/graph.h"
#include "rlc/quant/scheme.h"

namespace rlc {

// `ranges`: parameters of values between integer-capable nodes, which become quantized when that makes a node integer.
void Settle(Graph& graph, const std::map<std::string, QuantParams>& ranges, DType type);

}  // namespace rlc

#endif  // RLC_REWRITE_APPROXIMATE_SETTLE_H_
