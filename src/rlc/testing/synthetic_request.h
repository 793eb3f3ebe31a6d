// A training request that looks like one of a small MobileNet, made from a seed: for tests and benchmarks of everything
// that plays on the surrogate.
#ifndef RLC_TESTING_SYNTHETIC_REQUEST_H_
#define RLC_TESTING_SYNTHETIC_REQUEST_H_

#include <cstdint>

#include "rlc/env/train_request.h"

namespace rlc {

// A chain of `layers` layers with residual links: a Conv, blocks of expansion, depthwise and projection, a Gemm. Each
// Conv has a BatchNormalization to fold and can be quantized; expansions can be pruned. int8 pays for 1x1 layers,
// hardly for depthwise ones; a few layers cost most of the accuracy. The limit is one point, max_steps 2 * layers.
// Equal on every platform: only products of uniform numbers.
TrainRequest SyntheticRequest(int layers, uint64_t seed);

}  // namespace rlc

#endif  // RLC_TESTING_SYNTHETIC_REQUEST_H_
