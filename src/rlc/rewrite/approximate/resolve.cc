#include "rlc/rewrite/approximate/resolve.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rlc/ir/layers.h"
#include "rlc/prune/groups.h"
#include "rlc/rewrite/approximate/layer_site.h"
#include "rlc/rewrite/approximate/quantizable.h"

namespace rlc {
namespace {

// Names of the graph's values in topological order: inputs first, then outputs of nodes.
std::vector<std::string> InOrder(const Graph& graph, const std::set<std::string>& names) {
  std::vector<std::string> ordered;
  const auto put = [&](ValueId value) {
    if (value != ValueId::kNone && names.contains(graph.value(value).name)) ordered.push_back(graph.value(value).name);
  };
  for (const ValueId input : graph.inputs()) put(input);
  for (const NodeId id : graph.nodes()) {
    for (const ValueId output : graph.node(id).outputs) put(output);
  }
  return ordered;
}

Expected<NodeId> NodeOf(const Graph& graph, int layer) {
  const NodeId node = FindLayer(graph, layer);
  if (node == NodeId::kNone) return MakeError(ErrorKind::kUsage, "the graph has no layer {}", layer);
  return node;
}

}  // namespace

std::vector<std::string> ValuesToObserve(const Graph& graph) {
  std::set<std::string> names;
  for (const NodeId id : graph.nodes()) {
    if (!IsLayer(graph, graph.node(id))) continue;
    const auto layer = DescribeQuantizable(graph, id);
    if (!layer) continue;
    const LayerRanges ranges = RangesOf(graph, *layer);
    names.insert(ranges.needed.begin(), ranges.needed.end());
    names.insert(ranges.between.begin(), ranges.between.end());
  }
  return InOrder(graph, names);
}

std::vector<std::string> ValuesForEnergy(const Graph& graph) {
  std::set<std::string> names;
  for (const NodeId id : graph.nodes()) {
    if (!graph.node(id).Is("Conv") || !IsLayer(graph, graph.node(id))) continue;
    if (const auto group = FindChannelGroup(graph, id)) names.insert(graph.value(group->activation).name);
  }
  return InOrder(graph, names);
}

Expected<Action> ResolveQuantize(const Graph& graph, int layer, const Calibration& calibration, const Scheme& scheme) {
  if (calibration.scheme.activation != scheme.activation) {
    return MakeError(ErrorKind::kUsage, "the calibration is for activations of type {}, scheme {} needs {}",
                     DTypeName(calibration.scheme.activation), scheme.Name(), DTypeName(scheme.activation));
  }
  RLC_ASSIGN_OR_RETURN(const NodeId node, NodeOf(graph, layer));
  RLC_ASSIGN_OR_RETURN(const QuantizableLayer found, DescribeQuantizable(graph, node));
  const LayerRanges ranges = RangesOf(graph, found);
  Json json = Json::object();
  for (const std::string& name : ranges.needed) {
    const auto params = calibration.values.find(name);
    if (params == calibration.values.end()) {
      return MakeError(ErrorKind::kInvalidInput, "calibration did not observe {}", name);
    }
    json[name] = ToJson(params->second);
  }
  for (const std::string& name : ranges.between) {
    // Not every caller observes them; without, these nodes stay float.
    if (const auto params = calibration.values.find(name); params != calibration.values.end()) {
      json[name] = ToJson(params->second);
    }
  }
  Action action{"quantize-layer", LayerSiteName(layer), {}};
  action.params.values = Json{{"scheme", scheme.Name()}, {"ranges", std::move(json)}};
  return action;
}

Expected<Action> ResolvePrune(const Graph& graph, int layer, double sparsity, const ChannelEnergy& energy,
                              int64_t multiple_of) {
  if (!(sparsity > 0 && sparsity < 1) || multiple_of < 1) {
    return MakeError(ErrorKind::kUsage, "sparsity must lie between 0 and 1, it is {:g}", sparsity);
  }
  RLC_ASSIGN_OR_RETURN(const NodeId node, NodeOf(graph, layer));
  RLC_ASSIGN_OR_RETURN(const ChannelGroup group, FindChannelGroup(graph, node));
  const std::vector<double>* sums = energy.Find(graph.value(group.activation).name);
  std::vector<double> importance;
  if (sums != nullptr) {
    importance = *sums;
  } else {
    const Tensor* weight = graph.constant(graph.node(node).input(1));
    if (weight == nullptr) return MakeError(ErrorKind::kInvalidInput, "calibration did not observe its activations");
    RLC_ASSIGN_OR_RETURN(importance, WeightL1(*weight));
  }
  if (static_cast<int64_t>(importance.size()) != group.channels) {
    return MakeError(ErrorKind::kInvalidInput, "calibration saw {} channels, the layer has {}: it was pruned since",
                     importance.size(), group.channels);
  }
  const std::vector<int64_t> keep = KeepChannels(importance, sparsity, multiple_of);
  if (static_cast<int64_t>(keep.size()) == group.channels) {
    return MakeError(ErrorKind::kInvalidInput, "sparsity {:g} takes none of its {} channels, kept in multiples of {}",
                     sparsity, group.channels, multiple_of);
  }
  Action action{"prune-channels", LayerSiteName(layer), {}};
  action.params.values = Json{{"keep", keep}};
  return action;
}

}  // namespace rlc
