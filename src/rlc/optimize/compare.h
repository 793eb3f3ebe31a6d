// Do two models compute the same? Runs both on the same inputs, optimizations off.
#ifndef RLC_OPTIMIZE_COMPARE_H_
#define RLC_OPTIMIZE_COMPARE_H_

#include <cstdint>
#include <map>
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
// An output that is smaller than this (RMS) is compared as if it had this size: rounding in the layers before it does
// not shrink with it.
inline constexpr double kExactFloor = 0.01;

struct OutputDeviation {
  std::string name;
  double relative_rms = 0;  // the largest over the runs; infinity: other type, shape or NaN places, unequal integers
};

// What to compare on. Random runs have floats in [0, 1) and with both signs in turn.
struct CompareInputs {
  int random_runs = 0;
  RunShapes shapes = {};
  std::map<std::string, int64_t> bounds = {};  // of integers, see IntegerBounds
  uint64_t seed = 0;
  std::vector<std::vector<NamedTensor>> own = {};     // the user's, one more run each
  std::vector<std::string> custom_op_libraries = {};  // for the second model

  int runs() const { return random_runs + static_cast<int>(own.size()); }
};

// Runs both models (bytes of self-contained ONNX files). Error: one of them does not load or run.
Expected<std::vector<OutputDeviation>> CompareModels(std::string_view before, std::string_view after,
                                                     const CompareInputs& inputs);

// The output that deviates most; without outputs there is none that deviates.
OutputDeviation Largest(const std::vector<OutputDeviation>& deviations);

// "output 'y' deviates by 0.012 (relative RMS, at most 1e-04 expected)".
std::string DescribeDeviation(const OutputDeviation& output);

// Relative RMS of one output against another (with kExactFloor); infinity when they cannot be compared.
double Deviation(const Tensor& reference, const Tensor& actual);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_COMPARE_H_
