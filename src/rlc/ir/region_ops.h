// What rlc can compile into a region: one predicate, asked by the rewrite that makes regions and by the code that runs
// them, and the readings of attributes that both share.
#ifndef RLC_IR_REGION_OPS_H_
#define RLC_IR_REGION_OPS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rlc/ir/graph.h"

namespace rlc {

// The constant behind a value, null when there is none: Graph::constant, or what a region's call was given.
using ConstantOf = std::function<const Tensor*(ValueId)>;

// Nothing if rlc can compile the node for every shape that its types allow; else why not, completing "the node is left
// to the runtime because ...". What it computes with are float tensors whose rank is known.
std::optional<std::string> WhyNotInRegion(const Graph& graph, const Node& node, const ConstantOf& constant);

// Window of a Conv, MaxPool or AveragePool with two spatial dimensions, as ONNX's attributes say or imply.
struct SpatialWindow {
  std::vector<int64_t> kernel, strides, dilations, pads;  // two each; pads: top, left, bottom, right
};
// Nothing when an attribute has the wrong type, size or sign, or auto_pad makes pads depend on the input's size.
// `kernel`: of a Conv, whose weights say it.
std::optional<SpatialWindow> ReadWindow(const Node& node, const std::vector<int64_t>& kernel = {});

// Height or width of a pool's output. With ceil_mode a window may begin before the end of the input and end behind it.
int64_t PooledSize(int64_t input, int64_t kernel, int64_t stride, int64_t pad_before, int64_t pad_after, bool ceil);

// Bounds of a Clip: attributes before opset 11, constants since. Nothing when they are not known.
struct Bounds {
  float low = 0, high = 0;
};
std::optional<Bounds> ReadClip(const Graph& graph, const Node& node, const ConstantOf& constant);

// Axes that a ReduceMean averages over, sorted, in [0, rank): attribute before opset 18, a constant since.
std::optional<std::vector<int64_t>> ReadAxes(const Node& node, int64_t rank, const ConstantOf& constant);

}  // namespace rlc

#endif  // RLC_IR_REGION_OPS_H_
