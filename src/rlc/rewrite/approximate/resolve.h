// From calibration to actions: fills in the parameters of approximate rewrites, so that applying them needs no data.
#ifndef RLC_REWRITE_APPROXIMATE_RESOLVE_H_
#define RLC_REWRITE_APPROXIMATE_RESOLVE_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/prune/importance.h"
#include "rlc/quant/calibration.h"
#include "rlc/rewrite/plan.h"

namespace rlc {

// Names of the values whose ranges quantizing any layer of the graph may need: graph inputs, and outputs of nodes. What
// calibration hands to ObserverSet. Topological order, no duplicates.
std::vector<std::string> ValuesToObserve(const Graph& graph);
// Names of the values whose channel energy pruning any layer needs: what calibration hands to ChannelEnergy.
std::vector<std::string> ValuesForEnergy(const Graph& graph);

// "quantize-layer@layer<N>". Works on the graph before or after BatchNormalization is folded and other layers are
// quantized or pruned; applying it needs BatchNormalization folded. Error: why this layer cannot be quantized (the
// sentence completes "refused because ..."), or which value was not observed.
Expected<Action> ResolveQuantize(const Graph& graph, int layer, const Calibration& calibration, const Scheme& scheme);

// "prune-channels@layer<N>", channels kept in multiples of `multiple_of` (blocked layouts pad to it). Importance is the
// activation energy of the layer, the L1 norm of its weights when `energy` does not know it. Error: why this layer
// cannot lose channels, or that `sparsity` removes none.
Expected<Action> ResolvePrune(const Graph& graph, int layer, double sparsity, const ChannelEnergy& energy,
                              int64_t multiple_of = 8);

}  // namespace rlc

#endif  // RLC_REWRITE_APPROXIMATE_RESOLVE_H_
