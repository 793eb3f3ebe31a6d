// prune-channels@layer<N>: takes output channels out of a Conv and out of everything that reads them (prune/groups.h).
//
// Approximate. Params: values.keep = ascending indices of the channels that stay.
#ifndef RLC_REWRITE_APPROXIMATE_PRUNE_CHANNELS_H_
#define RLC_REWRITE_APPROXIMATE_PRUNE_CHANNELS_H_

#include <memory>

#include "rlc/rewrite/rewrite.h"

namespace rlc {

std::unique_ptr<Rewrite> PruneChannels();

}  // namespace rlc

#endif  // RLC_REWRITE_APPROXIMATE_PRUNE_CHANNELS_H_
