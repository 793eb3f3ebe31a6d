// Tables for the surrogate: what each layer of a model costs in each form, and what each action costs in accuracy.
#ifndef RLC_OPTIMIZE_LATENCY_TABLES_H_
#define RLC_OPTIMIZE_LATENCY_TABLES_H_

#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/log.h"
#include "rlc/cost/surrogate.h"
#include "rlc/measure/accuracy.h"
#include "rlc/measure/layer_tables.h"
#include "rlc/optimize/data_setup.h"

namespace rlc {

// The model with the inputs' shapes fixed to those of `inputs`, and types inferred from them: so that layers of models
// with free dimensions have sizes. Never written anywhere.
Expected<Model> WithInputShapes(const Model& model, std::span<const NamedTensor> inputs);

// One row for each layer number of the catalogue; NaN where nothing could be measured. `prepared` has static shapes.
Expected<std::vector<LayerTimes>> MeasureLayerTimes(const Model& prepared, const Catalogue& catalogue,
                                                    const std::string& machine, TrialStore& store,
                                                    const LayerTableOptions& options, const ProgressSink& progress);

struct SensitivityRequest {
  const Model* model = nullptr;  // the original
  const Catalogue* catalogue = nullptr;
  const AccuracyJudge* judge = nullptr;  // on some rows of the search split
  Services services;
  double seconds = 30;  // entries that the time does not suffice for get their type's mean
  Clock clock;
  StopToken stop;
  ProgressSink progress;
};

// Accuracy drop of each entry alone, by catalogue number, beyond that of the prologue alone. An entry whose model fails
// counts as a drop of 1.
Expected<std::vector<double>> MeasureSensitivities(const SensitivityRequest& request);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_LATENCY_TABLES_H_
