// Models made from a seed, for trying things out and for tests: no download, no training.
#ifndef RLC_OPTIMIZE_ZOO_H_
#define RLC_OPTIMIZE_ZOO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// A name ("mobilenet-like", "simple-conv", "resnet-like") or "custom:SPEC". Opset 17, IR 8, one input "input"
// float[N,C,H,W], one output "output". Weights and BatchNorm statistics are seeded; BatchNorm is left unfolded.
//
// SPEC is a comma-separated list: first the input CxHxW, then steps in order:
//   convO[kK][sS][gG]   Conv to O channels, kernel K (3), stride S (1), G groups (1), padding K/2
//   dwK[sS]             depthwise Conv
//   bn relu relu6 hswish silu sigmoid
//   maxK[sS] avgK[sS]   pools, stride S (K)
//   [ ... ]             residual block: the steps inside, plus a shortcut (a 1x1 Conv and BatchNorm when shapes differ)
//   gap                 GlobalAveragePool and Flatten
//   fcO                 Gemm to O features (flattens when needed)
// Example: "custom:1x28x28,conv8k3s2,bn,relu,[conv8,bn,relu,conv8,bn],relu,gap,fc10"
// Error, kUsage: unknown name, or the step that cannot be read or does not fit, by its number and text.
Expected<Model> MakeZooModel(std::string_view name, uint64_t seed);

// Names that MakeZooModel knows, for help texts.
std::vector<std::string> ZooNames();

}  // namespace rlc

#endif  // RLC_OPTIMIZE_ZOO_H_
