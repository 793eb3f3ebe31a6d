// Takes channels out of a graph: the arrays really shrink.
#ifndef RLC_PRUNE_REMOVAL_H_
#define RLC_PRUNE_REMOVAL_H_

#include <span>

#include "rlc/prune/groups.h"

namespace rlc {

// Keeps the channels `keep` (ascending, within the group, not empty: checked) of everything in the group. Constants
// with other readers are copied, never edited in place. Cannot fail on a graph equal to the one the group was found in.
void RemoveChannels(Graph& graph, const ChannelGroup& group, std::span<const int64_t> keep);

// `tensor` with the entries of `axis` that belong to the kept channels, each `inner` neighbouring entries long.
Tensor SliceChannels(const Tensor& tensor, int axis, std::span<const int64_t> keep, int64_t inner);

}  // namespace rlc

#endif  // RLC_PRUNE_REMOVAL_H_
