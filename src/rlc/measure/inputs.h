// Something to run a model on, when there is no data.
#ifndef RLC_MEASURE_INPUTS_H_
#define RLC_MEASURE_INPUTS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ort/session.h"

namespace rlc {

// Shapes to run with, by input name: what --shape says.
using RunShapes = std::map<std::string, std::vector<int64_t>>;

// One tensor for each input: floats uniform in [0, 1), integers 0 or 1 (safe as indices and masks), bools both. A first
// dimension without a number becomes 1. Error, kUsage: another dimension is not a number and `shapes` does not say it
// (names input and flag), a shape does not fit the input, or is for no input.
Expected<std::vector<NamedTensor>> RandomInputs(std::span<const InterfaceValue> inputs, const RunShapes& shapes,
                                                uint64_t seed);

}  // namespace rlc

#endif  // RLC_MEASURE_INPUTS_H_
