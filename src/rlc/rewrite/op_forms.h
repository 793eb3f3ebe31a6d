// Operators whose settings moved from attributes to inputs over the opsets, read into one form.
#ifndef RLC_REWRITE_OP_FORMS_H_
#define RLC_REWRITE_OP_FORMS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "rlc/ir/graph.h"

namespace rlc {

// Axes of Squeeze, Unsqueeze and the Reduce ops: attribute, or input 1 from `input_since` on. Outer nothing: not
// constant. Inner nothing: not given.
std::optional<std::optional<std::vector<int64_t>>> ReadAxes(const Graph& graph, const Node& node, int input_since);
int AxesInputSince(const Node& node);  // opset from which the op's axes are an input

// Slice with constant settings. All four lists have the same length; axes may be negative.
struct SliceForm {
  std::vector<int64_t> starts, ends, axes, steps;
};
std::optional<SliceForm> ReadSlice(const Graph& graph, const Node& node);

// Pad with constant settings: begin and end for each axis of the input. Needs the rank.
struct PadForm {
  std::string mode;
  std::vector<int64_t> begins, ends;
  double value = 0;
};
std::optional<PadForm> ReadPad(const Graph& graph, const Node& node);

// Clip (all opsets), Relu (low = 0) with constant bounds. Infinite: no bound.
struct ClipForm {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
std::optional<ClipForm> ReadClip(const Graph& graph, const Node& node);

// Target of a Reshape, when constant.
struct ReshapeForm {
  std::vector<int64_t> target;
  bool zero_copies = true;  // 0 means "as in the input", false with allowzero=1
};
std::optional<ReshapeForm> ReadReshape(const Graph& graph, const Node& node);

// Permutation of a Transpose; needs the rank when the attribute is absent.
std::optional<std::vector<int64_t>> ReadPermutation(const Graph& graph, const Node& node);

// Pads of a Conv, ConvTranspose or pool for `spatial` dimensions: begins, then ends. Nothing when auto_pad asks for
// sizes that depend on the input.
std::optional<std::vector<int64_t>> ReadExplicitPads(const Node& node, size_t spatial);

}  // namespace rlc

#endif  // RLC_REWRITE_OP_FORMS_H_
