// The 17 graph features of an observation.
#ifndef RLC_ENV_FEATURES_H_
#define RLC_ENV_FEATURES_H_

#include <array>
#include <string_view>

#include "rlc/base/error.h"
#include "rlc/base/json.h"
#include "rlc/cost/catalogue.h"
#include "rlc/ir/graph.h"

namespace rlc {

inline constexpr int kGraphFeatures = 17;
inline constexpr std::array<std::string_view, 9> kFeatureOps = {
    "Conv", "Relu", "BatchNormalization", "Add", "MaxPool", "GlobalAveragePool", "Gemm", "Clip", "Concat"};

// In this order: nodes, inputs, outputs, parameters, bytes (counts by log10 against a stated maximum); the share of
// each op of kFeatureOps (what is missing to 1 is the rest); the share of nodes with several inputs from nodes, of
// nodes with several outputs, and depth (longest path) per node. Scaled into [-1, 1] as docs/environment.md says.
class GraphFeatures {
 public:
  struct Counts {
    double nodes = 0, inputs = 0, outputs = 0, parameters = 0, bytes = 0, depth = 0, multi_input = 0, multi_output = 0;
    std::array<double, kFeatureOps.size()> ops{};
    bool operator==(const Counts&) const = default;
  };

  explicit GraphFeatures(const Graph& graph);
  explicit GraphFeatures(const Counts& counts) : counts_(counts) {}

  // Of the graph after a candidate's actions, by what they change: a fold takes a BatchNormalization away, quantization
  // adds its QuantizeLinear and DequantizeLinear and leaves a quarter of the layer's bytes, pruning shrinks parameters.
  std::array<float, kGraphFeatures> Of(const Catalogue& catalogue, const Candidate& candidate) const;

  const Counts& counts() const { return counts_; }
  Json ToJson() const;
  static Expected<GraphFeatures> FromJson(const Json& json);

 private:
  Counts counts_;
};

}  // namespace rlc

#endif  // RLC_ENV_FEATURES_H_
