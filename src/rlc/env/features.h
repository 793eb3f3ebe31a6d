// The 17 graph features of an observation.
#ifndef RLC_ENV_FEATURES_H_
#define RLC_ENV_FEATURES_H_

#include <array>

#include "rlc/cost/catalogue.h"
#include "rlc/ir/graph.h"

namespace rlc {

inline constexpr int kGraphFeatures = 17;

// Nodes, inputs, outputs, parameters, bytes (counts by log10 against a stated maximum); ratios of nine op types (Conv, Relu,
// BatchNormalization, ...) and of the rest; multi-input, multi-output, depth ratio. Each scaled into [-1, 1] as documented
// in docs/environment.md. `AfterActions` keeps them up with what a candidate changes, without building the graph.
class GraphFeatures {
 public:
  explicit GraphFeatures(const Graph& graph);
  std::array<float, kGraphFeatures> Of(const Catalogue& catalogue, const Candidate& candidate) const;

 private:
  struct Counts {
    double nodes = 0, inputs = 0, outputs = 0, parameters = 0, bytes = 0, depth = 0;
    std::array<double, 9> ops{};
  };
  Counts counts_;
};

}  // namespace rlc

#endif  // RLC_ENV_FEATURES_H_
