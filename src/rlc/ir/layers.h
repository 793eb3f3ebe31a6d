// Layers: the nodes that carry most of a network's work, and the unit of most actions.
#ifndef RLC_IR_LAYERS_H_
#define RLC_IR_LAYERS_H_

#include <optional>
#include <string>
#include <vector>

#include "rlc/ir/graph.h"

namespace rlc {

// A Conv, ConvTranspose, Gemm or MatMul whose weight (input 1) is constant (directly, or behind
// DequantizeLinear/QuantizeLinear of a constant, once it is quantized).
bool IsLayer(const Graph& graph, const Node& node);

// Gives every layer its number, in topological order from 0, in the graph as imported, before any rewrite. Returns how
// many there are. Subgraph bodies have no layers.
int NumberLayers(Graph& graph);

// The node that carries layer `number` now, kNone when a rewrite removed it.
NodeId FindLayer(const Graph& graph, int number);

// What a layer computes with, from its node's weight and inferred types; sizes are -1 where not known.
struct LayerShape {
  std::string op;
  int64_t in_channels = -1, out_channels = -1, group = 1;
  std::vector<int64_t> kernel, strides, dilations, pads;  // spatial; empty for Gemm and MatMul
  std::vector<int64_t> input, output;                     // whole shapes, empty when not static
  int64_t macs = -1;                                      // multiply-accumulates of one run
  std::string weight_name;
  bool depthwise() const { return group > 1 && group == in_channels; }
};
std::optional<LayerShape> DescribeLayer(const Graph& graph, NodeId layer);

// "conv 3x3/2 g1 32->64 @[1,32,112,112]": the same text for layers that take the same time in the same form. Key of the
// latency tables.
std::string LayerSignature(const LayerShape& shape);

}  // namespace rlc

#endif  // RLC_IR_LAYERS_H_
