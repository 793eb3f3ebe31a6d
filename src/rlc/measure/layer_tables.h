// How long each kind of layer takes in each form: measured once on a machine, kept in the trial store, read by the
// surrogate.
#ifndef RLC_MEASURE_LAYER_TABLES_H_
#define RLC_MEASURE_LAYER_TABLES_H_

#include <map>
#include <string>
#include <vector>

#include "rlc/base/clock.h"
#include "rlc/base/error.h"
#include "rlc/base/log.h"
#include "rlc/ir/layers.h"
#include "rlc/ir/model.h"
#include "rlc/measure/store.h"

namespace rlc {

// Milliseconds of one run, by signature and form. Forms: "float" (ORT_ENABLE_ALL), "int8" (u8 activations, s8 weights per
// channel, quantized input and output). Neighbour costs, which a layer has or not depending on the layers beside it, have
// signatures of their own: "quantize N", "dequantize N", "reorder-in ..." (N: elements), form "float".
struct LayerTables {
  std::map<std::string, std::map<std::string, Estimate>> ms;
  const Estimate* Find(const std::string& signature, const std::string& form) const;
};

// Layers as one-node models (with a Relu, as most have). Needs static shapes. Error, kUnavailable: the form does not exist
// for this layer (int8 of a ConvTranspose), or its shapes are not known.
Expected<Model> FloatLayerModel(const LayerShape& shape);
Expected<Model> Int8LayerModel(const LayerShape& shape);
// N float elements to 8 bits, and back.
Expected<Model> QuantizeModel(int64_t elements);
Expected<Model> DequantizeModel(int64_t elements);

struct LayerTableOptions {
  int threads = 1;
  double seconds_each = 0.3;   // timing budget of one table entry
  double child_seconds = 120;  // limit of one child process
};

// Tables for these layers: from the store where it has them, measured (in child processes, and added to the store)
// otherwise. Layers that cannot be measured are left out, with a warning in the log.
Expected<LayerTables> MeasureLayers(const std::vector<LayerShape>& layers, const std::string& machine, TrialStore& store,
                                    const LayerTableOptions& options, const ProgressSink& progress = {},
                                    StopToken stop = {});

}  // namespace rlc

#endif  // RLC_MEASURE_LAYER_TABLES_H_
