// Which nodes of a region become one kernel: a layer with what it may do to its sums before it writes them.
#ifndef RLC_REGION_FUSION_H_
#define RLC_REGION_FUSION_H_

#include <optional>
#include <vector>

#include "rlc/ir/graph.h"
#include "rlc/ir/region_ops.h"
#include "rlc/kernels/epilogue.h"

namespace rlc {

// The node as an activation of its first input; nothing when it is none.
std::optional<Activation> ActivationOf(const Graph& graph, const Node& node, const ConstantOf& constant);

struct Fusion {
  std::vector<NodeId> nodes;          // the layer first
  ValueId residual = ValueId::kNone;  // added to the layer's output
  Activation activation;              // then applied
  ValueId output = ValueId::kNone;    // the one value that is left
};

// The longest chain after `layer`: an Add of a value of the same shape that is there before the layer (`residual` only
// if `with_residual`), then an activation, also one in two nodes (x Sigmoid(x), x HardSigmoid(x)). Values in between
// have no other reader.
Fusion FuseAfter(const Graph& graph, NodeId layer, bool with_residual, const ConstantOf& constant);

}  // namespace rlc

#endif  // RLC_REGION_FUSION_H_
