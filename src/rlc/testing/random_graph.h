// Random networks for laws: small, valid, with the patterns that rules look for.
#ifndef RLC_TESTING_RANDOM_GRAPH_H_
#define RLC_TESTING_RANDOM_GRAPH_H_

#include <cstdint>

#include "rlc/ir/graph.h"

namespace rlc {

struct RandomGraphOptions {
  int steps = 10;      // each adds one to six nodes
  bool bodies = true;  // If, with bodies that read outer values
  int opset = 17;      // 7 to 24: operators take the forms of that version
  // Of the input, the weights and most values: kFloat, kFloat16, or kDouble, for which the runtime has no convolutions
  // and pools.
  DType type = DType::kFloat;
  bool free_batch = false;  // the batch has a name instead of a number; run it with 1
};

// One input x [1,C,H,W] with C <= 8, H and W <= 12; types of all values known, unless the batch is free: then only the
// input's is, and inference finds the others. Convolutions (grouped,
// strided, padded), batch normalization, activations, per-channel and scalar arithmetic, pads, pools, reshapes,
// transposes, slices, concatenations, Gemm and MatMul, no-ops, shape arithmetic, shared weights, dead code, values that
// are read twice and outputs in the middle. Weights are scaled so that values stay near 1. The same seed gives the same
// graph.
Graph RandomGraph(uint64_t seed, const RandomGraphOptions& options = {});

// Options drawn from a seed: any opset and type, free batch or not.
RandomGraphOptions RandomOptions(uint64_t seed);

}  // namespace rlc

#endif  // RLC_TESTING_RANDOM_GRAPH_H_
