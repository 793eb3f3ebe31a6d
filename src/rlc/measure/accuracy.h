// Accuracy of model files on rows of a dataset, as the runtime really executes them, against the baseline on the same
// rows.
#ifndef RLC_MEASURE_ACCURACY_H_
#define RLC_MEASURE_ACCURACY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/statistics.h"
#include "rlc/data/dataset.h"
#include "rlc/data/metrics.h"
#include "rlc/measure/child.h"
#include "rlc/ort/session.h"

namespace rlc {

struct AccuracyOptions {
  std::string metric;  // empty: what suits data and outputs (DefaultMetric)
  OptLevel level = OptLevel::kAll;
  int threads = 1;
  size_t batch_rows = 32;  // when the model's first dimension is free; otherwise, or when that fails, row by row
  ChildLimits limits;      // of one child, which runs up to segment_bytes of inputs
  uint64_t segment_bytes = uint64_t{128} << 20;
  uint64_t kept_bytes = uint64_t{512} << 20;  // of input files, ready for the next candidate; the rest is written anew
  std::vector<std::string> custom_op_libraries;
};

struct Accuracy {
  Estimate drop;                // baseline minus candidate, "points" (0.01 = one point), paired
  Scores scores;                // of the candidate
  uint64_t peak_rss_bytes = 0;  // of the process that ran it, inputs included
};

// Holds rows, labels, and what the baseline said about them. Models run in child processes.
class AccuracyJudge {
 public:
  // Runs the baseline. `classes`: class labels by row of the dataset, empty when there are none. Errors: those of the
  // runs and of the metric. The dataset is shared.
  static Expected<AccuracyJudge> Create(const std::string& baseline_path, const Dataset& data, std::vector<size_t> rows,
                                        const std::vector<int64_t>& classes, const AccuracyOptions& options);
  AccuracyJudge(AccuracyJudge&&) noexcept;
  AccuracyJudge& operator=(AccuracyJudge&&) noexcept;
  ~AccuracyJudge();

  // Error, besides those of the run: outputs that cannot be compared with the baseline's (other shapes, NaN).
  Expected<Accuracy> Judge(const std::string& model_path, StopToken stop = {}) const;

  const Scores& baseline() const;
  std::string metric() const;  // its name
  size_t rows() const;
  // Names data, rows and metric, for TrialKey::data: equal keys, comparable drops.
  const std::string& key() const;

 private:
  struct Impl;
  explicit AccuracyJudge(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlc

#endif  // RLC_MEASURE_ACCURACY_H_
