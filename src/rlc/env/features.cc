#include "rlc/env/features.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rlc {
namespace {

// Largest counts that are told apart; log10(1 + count) is scaled so that 0 gives -1 and the maximum gives 1.
constexpr double kMostNodes = 1e5, kMostPorts = 1e2, kMostParameters = 1e10, kMostBytes = 1e11;

float ScaleCount(double count, double most) {
  return static_cast<float>(std::clamp(2 * std::log10(1 + std::max(count, 0.0)) / std::log10(1 + most) - 1, -1.0, 1.0));
}

// A share in [0, 1] becomes [-1, 1].
float ScaleShare(double part, double whole) {
  return static_cast<float>(whole > 0 ? std::clamp(2 * part / whole - 1, -1.0, 1.0) : -1.0);
}

double LongestPath(const Graph& graph) {
  std::vector<int> depth(graph.node_limit(), 0);
  int longest = 0;
  for (NodeId id : graph.nodes()) {
    int deepest = 0;
    for (ValueId input : graph.node(id).inputs) {
      if (input == ValueId::kNone) continue;
      const NodeId producer = graph.value(input).producer;
      if (producer != NodeId::kNone) deepest = std::max(deepest, depth[static_cast<size_t>(producer)]);
    }
    depth[static_cast<size_t>(id)] = deepest + 1;
    longest = std::max(longest, deepest + 1);
  }
  return longest;
}

}  // namespace

GraphFeatures::GraphFeatures(const Graph& graph) {
  counts_.inputs = static_cast<double>(graph.inputs().size());
  counts_.outputs = static_cast<double>(graph.outputs().size());
  for (ValueId id : graph.initializers()) {
    if (const Tensor* tensor = graph.constant(id)) {
      counts_.parameters += static_cast<double>(tensor->size());
      counts_.bytes += static_cast<double>(tensor->bytes().size());
    }
  }
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.Is("Constant")) continue;
    ++counts_.nodes;
    for (size_t op = 0; op < kFeatureOps.size(); ++op) counts_.ops[op] += node.Is(kFeatureOps[op]) ? 1 : 0;
    const auto computed = std::count_if(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return input != ValueId::kNone && graph.value(input).producer != NodeId::kNone;
    });
    counts_.multi_input += computed > 1 ? 1 : 0;
    counts_.multi_output += node.outputs.size() > 1 ? 1 : 0;
  }
  counts_.depth = LongestPath(graph);
}

std::array<float, kGraphFeatures> GraphFeatures::Of(const Catalogue& catalogue, const Candidate& candidate) const {
  Counts now = counts_;
  const double per_layer = catalogue.layers.empty() ? 0 : 1.0 / static_cast<double>(catalogue.layers.size());
  for (int number : candidate) {
    const CatalogueEntry& entry = catalogue.entries[static_cast<size_t>(number)];
    switch (entry.type) {
      case ActionType::kFuseConvBn:
        --now.nodes;
        --now.ops[2];
        break;
      case ActionType::kQuantize:
        now.nodes += 3;
        now.bytes -= 0.75 * per_layer * counts_.bytes;
        break;
      case ActionType::kPrune:
        for (const Shrink& shrink : entry.shrinks) {
          now.parameters -= (1 - shrink.factor) * per_layer * counts_.parameters;
          now.bytes -= (1 - shrink.factor) * per_layer * counts_.bytes;
        }
        break;
    }
  }
  std::array<float, kGraphFeatures> features{};
  size_t next = 0;
  features[next++] = ScaleCount(now.nodes, kMostNodes);
  features[next++] = ScaleCount(now.inputs, kMostPorts);
  features[next++] = ScaleCount(now.outputs, kMostPorts);
  features[next++] = ScaleCount(now.parameters, kMostParameters);
  features[next++] = ScaleCount(now.bytes, kMostBytes);
  for (double count : now.ops) features[next++] = ScaleShare(count, now.nodes);
  features[next++] = ScaleShare(now.multi_input, now.nodes);
  features[next++] = ScaleShare(now.multi_output, now.nodes);
  features[next++] = ScaleShare(now.depth, now.nodes);
  RLC_CHECK_EQ(next, features.size());
  return features;
}

Json GraphFeatures::ToJson() const {
  return {{"nodes", counts_.nodes},
          {"inputs", counts_.inputs},
          {"outputs", counts_.outputs},
          {"parameters", counts_.parameters},
          {"bytes", counts_.bytes},
          {"depth", counts_.depth},
          {"multi_input", counts_.multi_input},
          {"multi_output", counts_.multi_output},
          {"ops", counts_.ops}};
}

Expected<GraphFeatures> GraphFeatures::FromJson(const Json& json) {
  Counts counts;
  RLC_ASSIGN_OR_RETURN(counts.nodes, GetDouble(json, "nodes"));
  RLC_ASSIGN_OR_RETURN(counts.inputs, GetDouble(json, "inputs"));
  RLC_ASSIGN_OR_RETURN(counts.outputs, GetDouble(json, "outputs"));
  RLC_ASSIGN_OR_RETURN(counts.parameters, GetDouble(json, "parameters"));
  RLC_ASSIGN_OR_RETURN(counts.bytes, GetDouble(json, "bytes"));
  RLC_ASSIGN_OR_RETURN(counts.depth, GetDouble(json, "depth"));
  RLC_ASSIGN_OR_RETURN(counts.multi_input, GetDouble(json, "multi_input"));
  RLC_ASSIGN_OR_RETURN(counts.multi_output, GetDouble(json, "multi_output"));
  RLC_ASSIGN_OR_RETURN(const std::vector<double> ops, GetDoubles(json, "ops"));
  if (ops.size() != counts.ops.size()) {
    return MakeError(ErrorKind::kInvalidInput, "graph features: {} op counts, wanted {}", ops.size(),
                     counts.ops.size());
  }
  std::copy(ops.begin(), ops.end(), counts.ops.begin());
  return GraphFeatures(counts);
}

}  // namespace rlc
