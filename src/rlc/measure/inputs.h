// Something to run a model on, when there is no data.
#ifndef RLC_MEASURE_INPUTS_H_
#define RLC_MEASURE_INPUTS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/ort/session.h"

namespace rlc {

// Shapes to run with, by input name: what --shape says.
using RunShapes = std::map<std::string, std::vector<int64_t>>;

// What values random inputs may have.
struct InputRanges {
  bool signed_floats = false;  // normal with mean 0 and deviation 1; else uniform in [0, 1)
  // Integers are drawn below this number, by input name; others are 0 or 1 (safe as indices and masks).
  std::map<std::string, int64_t> bounds = {};
};

// One tensor for each input, bools both. A first dimension without a number becomes 1. Error, kUsage: another dimension
// is not a number and `shapes` does not say it (names input and flag), a shape does not fit the input, or is for no
// input.
Expected<std::vector<NamedTensor>> RandomInputs(std::span<const InterfaceValue> inputs, const RunShapes& shapes,
                                                uint64_t seed, const InputRanges& ranges = {});

// The bounds that the graph's use of its integer inputs gives: what it looks up in a table (Gather) has as many values
// as the table has rows, and bytes that it computes with (pixels) have all 256 or 128.
std::map<std::string, int64_t> IntegerBounds(const Graph& graph);

}  // namespace rlc

#endif  // RLC_MEASURE_INPUTS_H_
