// Calibration: one pass of data through a model, and what quantization and pruning need of it.
#ifndef RLC_OPTIMIZE_CALIBRATE_MODEL_H_
#define RLC_OPTIMIZE_CALIBRATE_MODEL_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/ir/model.h"
#include "rlc/measure/fingerprint.h"
#include "rlc/optimize/data_setup.h"
#include "rlc/prune/importance.h"
#include "rlc/quant/calibration.h"
#include "rlc/quant/observer.h"

namespace rlc {

struct CalibrationRequest {
  Scheme scheme;
  RangeOptions range;
  size_t most_rows = 512;  // of the calibration split: more change ranges little
  int threads = 1;
  StopToken stop;
};

struct CalibrationOutcome {
  Calibration calibration;
  ChannelEnergy energy;
  size_t rows = 0;
};

// Streams rows of the calibration split through `model`. Values whose samples are not finite are an error that names
// them.
Expected<CalibrationOutcome> CalibrateModel(const Model& model, const DataSetup& data,
                                            const CalibrationRequest& request);

// The scheme that this machine's integer kernels want.
Scheme SchemeFor(const Machine& machine);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_CALIBRATE_MODEL_H_
