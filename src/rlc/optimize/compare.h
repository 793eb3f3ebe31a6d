// Do two models compute the same? Runs both on the same inputs, optimizations off.
#ifndef RLC_OPTIMIZE_COMPARE_H_
#define RLC_OPTIMIZE_COMPARE_H_

#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/measure/inputs.h"
#include "rlc/ort/session.h"

namespace rlc {

// Relative RMS deviation that rounding may cause in an exact rewrite of a deep float32 network; wrong algebra is orders
// of magnitude above it.
inline constexpr double kExactTolerance = 1e-4;

struct OutputDeviation {
  std::string name;
  double relative_rms = 0;  // the largest over the runs; infinity: other type, shape or NaN places, unequal integers
};

// Runs both models (bytes of self-contained ONNX files) on `runs` random inputs. Error: one of them does not load or
// run.
Expected<std::vector<OutputDeviation>> CompareModels(std::string_view before, std::string_view after,
                                                     const RunShapes& shapes, int runs, uint64_t seed);

// Relative RMS of one output against another; infinity when they cannot be compared.
double Deviation(const Tensor& reference, const Tensor& actual);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_COMPARE_H_
