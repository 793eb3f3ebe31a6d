// Arithmetic on weights, in double, for rules that move a scale and a shift for each output channel into a layer:
//
//   layer(x; W, b) * s + t   =   layer(x; W * s, b * s + t)
#ifndef RLC_REWRITE_CHANNEL_MATH_H_
#define RLC_REWRITE_CHANNEL_MATH_H_

#include <optional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {

// What happens to each output channel after the layer: y = x * scale + shift.
struct ChannelAffine {
  std::vector<double> scale, shift;  // both of length channels
};

// Number of output channels of a Conv, ConvTranspose, Gemm or MatMul with constant weight; nothing for other nodes, for
// weights that are not constant or not of a float type, and for a MatMul whose weight is no matrix.
std::optional<int64_t> OutputChannels(const Graph& graph, const Node& layer);

// inference BatchNormalization as scale and shift; nothing when a parameter is not constant or their sizes differ.
std::optional<ChannelAffine> BatchNormAffine(const Graph& graph, const Node& batch_norm);

// A constant operand as one number for each channel. Its shape, aligned to the right with a result of `rank`
// dimensions, must be 1 everywhere but on `channel_axis`, where it is 1 or `channels`; it must not widen the result.
std::optional<std::vector<double>> PerChannel(const Tensor& operand, int rank, int channel_axis, int64_t channels);

// New weight and bias of a layer that absorbs `affine`. Gemm's beta becomes 1 and its bias one row; alpha stays.
struct FoldedLayer {
  Tensor weight, bias;
  bool weight_changed = true;  // false: only the bias is new
};
// Error: a bias that is not constant or not one row, a result that is not finite or loses its precision in the type.
Expected<FoldedLayer> FoldAffine(const Graph& graph, const Node& layer, const ChannelAffine& affine);

// The other side of a layer: new weight and bias of one whose input was x * scale + shift, for each input channel, and
// becomes x. Conv, ConvTranspose (without a shift), Gemm, MatMul. Of a Conv with padding only scales can be taken: the
// padded zeros are not shifted.
std::optional<int64_t> InputChannels(const Graph& graph, const Node& layer);
Expected<FoldedLayer> FoldInputAffine(const Graph& graph, const Node& layer, const ChannelAffine& affine);

// Puts the folded tensors into the layer as new initializers and cleans up behind the old ones. A MatMul with a shift
// becomes a Gemm (its output must have rank 2).
void InstallFolded(Graph& graph, NodeId layer, const FoldedLayer& folded);

}  // namespace rlc

#endif  // RLC_REWRITE_CHANNEL_MATH_H_
