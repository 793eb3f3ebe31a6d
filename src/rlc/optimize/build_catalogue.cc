#include "rlc/optimize/build_catalogue.h"

#include <algorithm>
#include <set>

#include "rlc/base/format.h"
#include "rlc/prune/groups.h"
#include "rlc/rewrite/approximate/resolve.h"

namespace rlc {
namespace {

// Layers that a layer's output reaches without passing through another layer.
std::vector<int> ReadersOf(const Graph& graph, NodeId layer) {
  std::set<int> readers;
  std::set<NodeId> seen;
  std::vector<NodeId> todo = {layer};
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    for (ValueId output : graph.node(id).outputs) {
      if (output == ValueId::kNone) continue;
      for (const Use& use : graph.value(output).uses) {
        if (!seen.insert(use.node).second) continue;
        const int number = graph.node(use.node).layer;
        if (number >= 0) {
          readers.insert(number);
        } else {
          todo.push_back(use.node);
        }
      }
    }
  }
  return {readers.begin(), readers.end()};
}

LayerEntry EntryOf(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  LayerEntry layer;
  layer.number = node.layer;
  layer.name = node.name.empty() ? graph.value(node.output(0)).name : node.name;
  layer.op = node.op;
  if (const auto shape = DescribeLayer(graph, id)) layer.signature = LayerSignature(*shape);
  const NodeId reader = graph.SingleReader(node.output(0));
  layer.has_bn = reader != NodeId::kNone && graph.node(reader).Is("BatchNormalization");
  layer.readers = ReadersOf(graph, id);
  return layer;
}

// Share of each layer's multiply-accumulates that remains when `keep` of the group's channels do.
std::vector<Shrink> ShrinksOf(const Graph& graph, const ChannelGroup& group, size_t keep) {
  const double factor = static_cast<double>(keep) / static_cast<double>(group.channels);
  constexpr int kWeightInput = 1;
  std::vector<Shrink> shrinks;
  for (const ChannelSlice& slice : group.slices) {
    const int layer = graph.node(slice.node).layer;
    if (layer < 0 || slice.input != kWeightInput) continue;
    const auto known = std::find_if(shrinks.begin(), shrinks.end(), [&](const Shrink& s) { return s.layer == layer; });
    if (known != shrinks.end()) {
      known->factor *= factor;
    } else {
      shrinks.push_back({layer, factor});
    }
  }
  return shrinks;
}

void AddQuantize(const Graph& graph, int layer, const CalibrationOutcome& calibration, const CatalogueOptions& options,
                 Catalogue& catalogue) {
  auto action = ResolveQuantize(graph, layer, calibration.calibration, options.scheme);
  if (!action) {
    catalogue.refusals.push_back({ActionType::kQuantize, layer, action.error().message});
    return;
  }
  catalogue.entries.push_back({*std::move(action),
                               ActionType::kQuantize,
                               layer,
                               0,
                               {},
                               fmt::format("quantize layer{} {}", layer, options.scheme.Name())});
}

void AddPrune(const Graph& graph, NodeId id, const CalibrationOutcome& calibration, const CatalogueOptions& options,
              Catalogue& catalogue) {
  const int layer = graph.node(id).layer;
  const auto group = FindChannelGroup(graph, id);
  auto action = ResolvePrune(graph, layer, options.sparsity, calibration.energy);
  if (!group || !action) {
    catalogue.refusals.push_back({ActionType::kPrune, layer, group ? action.error().message : group.error().message});
    return;
  }
  const size_t keep = action->params.values.at("keep").size();
  CatalogueEntry entry{*std::move(action), ActionType::kPrune, layer, 0, ShrinksOf(graph, *group, keep), ""};
  entry.sparsity = 1 - static_cast<double>(keep) / static_cast<double>(group->channels);
  entry.name = fmt::format("prune layer{} {:.2f}", layer, entry.sparsity);
  catalogue.entries.push_back(std::move(entry));
}

}  // namespace

Expected<ActionKinds> ParseActionKinds(std::string_view text) {
  if (text == "exact") return ActionKinds();
  if (text == "portable") return ActionKinds{.int8 = true, .prune = true};
  if (text == "all") return ActionKinds{.int8 = true, .prune = true, .region = true, .winograd = true, .bf16 = true};
  ActionKinds kinds{.fuse = false};
  for (const std::string& word : SplitText(text, ',')) {
    if (word == "fuse") {
      kinds.fuse = true;
    } else if (word == "int8") {
      kinds.int8 = true;
    } else if (word == "prune") {
      kinds.prune = true;
    } else if (word == "region") {
      kinds.region = true;
    } else if (word == "winograd") {
      kinds.region = kinds.winograd = true;
    } else if (word == "bf16") {
      kinds.region = kinds.bf16 = true;
    } else {
      return MakeError(ErrorKind::kUsage,
                       "--actions '{}': wanted exact, portable, all, or a comma list of fuse, int8, prune, region, "
                       "winograd, bf16",
                       word);
    }
  }
  return kinds;
}

Catalogue BuildCatalogue(const Model& prepared, int original_layers, std::vector<Action> prologue,
                         const CalibrationOutcome& calibration, const CatalogueOptions& options) {
  const Graph& graph = prepared.graph;
  Catalogue catalogue;
  catalogue.prologue = std::move(prologue);
  catalogue.layers.resize(static_cast<size_t>(original_layers));
  for (int number = 0; number < original_layers; ++number) {
    const NodeId id = FindLayer(graph, number);
    LayerEntry& layer = catalogue.layers[static_cast<size_t>(number)];
    layer.number = number;
    if (id == NodeId::kNone) continue;  // an exact rewrite removed it
    layer = EntryOf(graph, id);
    if (layer.has_bn && options.kinds.fuse) {
      const std::string site = graph.value(graph.node(graph.SingleReader(graph.node(id).output(0))).output(0)).name;
      catalogue.entries.push_back({{"fuse-bn-into-layer", site, {}},
                                   ActionType::kFuseConvBn,
                                   number,
                                   0,
                                   {},
                                   fmt::format("fuse_conv_bn layer{}", number)});
    }
    if (options.kinds.int8) AddQuantize(graph, number, calibration, options, catalogue);
    if (options.kinds.prune) AddPrune(graph, id, calibration, options, catalogue);
  }
  return catalogue;
}

}  // namespace rlc
