// How long each kind of layer takes in each form: measured once on a machine, kept in the trial store, read by the
// surrogate.
#ifndef RLC_MEASURE_LAYER_TABLES_H_
#define RLC_MEASURE_LAYER_TABLES_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/base/log.h"
#include "rlc/base/statistics.h"
#include "rlc/ir/layers.h"
#include "rlc/measure/store.h"

namespace rlc {

// Milliseconds of one run, by signature and form. Layers have LayerSignature(); forms "float" and "int8" (u8
// activations, s8 weights per channel, input and output quantized). What a change of form costs between two layers has
// signatures of its own, by the tensor's shape: form "quantize" (float to 8 bits) and "dequantize" (back).
//
// Each is the time of the node inside a network: the runtime's own layouts (blocked for float, channels last for
// integers) are kept at the borders of a layer and changed, with the type, at the borders of a form.
struct LayerTables {
  std::map<std::string, std::map<std::string, Estimate>> ms;
  // Null when it was not measured.
  const Estimate* Find(const std::string& signature, const std::string& form) const;
};

// Key of the border costs: "border [1,64,56,56]".
std::string BorderSignature(const std::vector<int64_t>& dims);

struct LayerTableOptions {
  int threads = 1;
  double seconds_each = 0.2;   // timing budget of one entry
  double child_seconds = 300;  // limit of one child process, which times several
  StopToken stop;
};

// Tables for these layers and the borders at their inputs and outputs: from the store where it has them, measured in
// child processes (and added to the store) otherwise. What cannot be measured (shapes not known, no such kernel) is
// left out, with a message in the log. Error: kInterrupted; no runtime; a store that cannot be used.
Expected<LayerTables> MeasureLayers(std::span<const LayerShape> layers, const std::string& machine, TrialStore& store,
                                    const LayerTableOptions& options, const ProgressSink& progress = {});

}  // namespace rlc

#endif  // RLC_MEASURE_LAYER_TABLES_H_
