// Channel groups: which tensors lose a slice when a Conv loses an output channel.
//
// Simple chains: Conv -> (BatchNormalization, activations, pooling, depthwise Conv, Flatten, ...) -> readers that are
// all Conv (group 1), Gemm or MatMul with constant weights. Everything else is refused with the reason.
#ifndef RLC_PRUNE_GROUPS_H_
#define RLC_PRUNE_GROUPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"

namespace rlc {

// One constant that loses slices: input `input` of `node`, along `axis`. Each channel stands for `inner` neighbouring
// entries of the axis (> 1 behind Flatten).
struct ChannelSlice {
  NodeId node = NodeId::kNone;
  int input = 0;
  int axis = 0;
  int64_t inner = 1;
};

// A value whose type shrinks with the channels.
struct ChannelValue {
  ValueId value = ValueId::kNone;
  int axis = 1;
  int64_t inner = 1;
};

// A number in an attribute or a shape tensor that follows the channel count.
struct ChannelCount {
  NodeId node = NodeId::kNone;
  enum class Kind { kGroupAttribute, kReshapeEntry } kind = Kind::kGroupAttribute;
  int64_t index = 0;  // kReshapeEntry: position in the shape tensor (input 1)
  int64_t inner = 1;
};

struct ChannelGroup {
  NodeId layer = NodeId::kNone;  // the Conv that loses output channels
  int64_t channels = 0;
  std::vector<ChannelSlice> slices;
  std::vector<ChannelValue> values;
  std::vector<ChannelCount> counts;
  // The value whose channels' activation energy tells their importance: the last one before the readers mix channels,
  // through activations only.
  ValueId activation = ValueId::kNone;
};

// Error: why this Conv cannot lose channels, completing "refused because ...".
Expected<ChannelGroup> FindChannelGroup(const Graph& graph, NodeId layer);

}  // namespace rlc

#endif  // RLC_PRUNE_GROUPS_H_
