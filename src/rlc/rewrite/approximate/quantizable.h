// Which layers can become integers, and which values that concerns.
#ifndef RLC_REWRITE_APPROXIMATE_QUANTIZABLE_H_
#define RLC_REWRITE_APPROXIMATE_QUANTIZABLE_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"

namespace rlc {

struct QuantizableLayer {
  NodeId node = NodeId::kNone;
  ValueId input_root = ValueId::kNone;
  // What gets a pair at its end: the output of a Conv, behind a BatchNormalization and an absorbable activation. kNone
  // for Gemm and MatMul, whose integer kernels may write floats: a pair is put there by the layer that reads it (but a
  // MatMul in front of the Add of a bias has one).
  ValueId output = ValueId::kNone;
  NodeId batch_norm = NodeId::kNone;  // still unfolded: quantizing must wait for fuse-bn-into-layer
  int weight_axis = 0;                // of the output channels
  ValueId weight = ValueId::kNone, bias = ValueId::kNone;
};

// Error: why not, completing "refused because ...". The opset is not looked at.
Expected<QuantizableLayer> DescribeQuantizable(const Graph& graph, NodeId node);

// Names of the values whose ranges the layer needs (input root and output), and of those between it and the next layers
// that become integer together with it, in this order.
struct LayerRanges {
  std::vector<std::string> needed, between;
};
LayerRanges RangesOf(const Graph& graph, const QuantizableLayer& layer);

}  // namespace rlc

#endif  // RLC_REWRITE_APPROXIMATE_QUANTIZABLE_H_
