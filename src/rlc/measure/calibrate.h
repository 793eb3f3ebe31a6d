// Calibration: runs data through a model and shows chosen intermediate values to whoever wants statistics of them.
#ifndef RLC_MEASURE_CALIBRATE_H_
#define RLC_MEASURE_CALIBRATE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/ir/model.h"
#include "rlc/ort/session.h"

namespace rlc {

// The inputs of batch `index` (from 0), empty when there are no more. Called once for each batch, in order (again from
// the start when values do not fit into memory at once).
using BatchSource = std::function<Expected<std::vector<NamedTensor>>(int64_t index)>;

// Called with each value of each batch, batch by batch. The tensor may be kept, but then its memory stays in use.
using OnTensor = std::function<Expected<void>(const std::string& value, const Tensor& tensor)>;

struct CalibrationOptions {
  int threads = 1;
  // Node by node as written, so that every value is exactly what its name says; kBasic is faster and fuses activations.
  OptLevel level = OptLevel::kBasic;
  // Values of one batch that are held at once; more values are taken in several passes over the data.
  int64_t max_bytes = int64_t{1} << 30;
  StopToken stop;
};

// Streams the batches through `model` and hands over the named values (of the top graph: inputs, outputs, anything
// between). Returns the number of batches. Error, kUsage: a value that the graph does not have; what a run or the
// callback gives.
Expected<int64_t> StreamValues(const Model& model, std::span<const std::string> values, const BatchSource& batches,
                               const OnTensor& on_tensor, const CalibrationOptions& options = {});

}  // namespace rlc

#endif  // RLC_MEASURE_CALIBRATE_H_
