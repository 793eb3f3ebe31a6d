// The user's data, fitted to a model: samples, splits, labels, and one input to time with.
#ifndef RLC_OPTIMIZE_DATA_SETUP_H_
#define RLC_OPTIMIZE_DATA_SETUP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/data/dataset.h"
#include "rlc/data/splits.h"
#include "rlc/ir/model.h"
#include "rlc/measure/calibrate.h"
#include "rlc/measure/inputs.h"
#include "rlc/ort/session.h"

namespace rlc {

struct DataRequest {
  std::string path;        // --data; empty: random inputs
  std::string preprocess;  // for folders of images
  RunShapes shapes;        // --shape
  SplitOptions splits;
  size_t random_samples = 64;  // when there is no data
};

struct DataSetup {
  Dataset dataset;
  Splits splits;
  std::vector<int64_t> classes;            // by row of the dataset; empty: no class labels
  std::vector<NamedTensor> timing_inputs;  // one sample, batch 1 (or the model's fixed batch)

  bool random() const { return dataset.is_random(); }
  // Rows in batches of at most `rows_each` for StreamValues; one row each when the model's batch is fixed to 1.
  BatchSource Batches(std::vector<size_t> rows, size_t rows_each) const;
};

// Error: data that does not fit the model (names the input, found, wanted), a free dimension that neither data nor
// --shape says, a fixed batch other than 1 (re-export, or --shape cannot help).
Expected<DataSetup> SetUpData(const Model& model, const DataRequest& request);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_DATA_SETUP_H_
