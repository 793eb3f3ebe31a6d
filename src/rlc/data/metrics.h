// How good a model's outputs are, row by row, so that a candidate can be compared with the baseline on the same rows.
//
//   top1        1 if the class with the highest score is the label          needs labels
//   agreement   1 if it is the class that the baseline model chose
//   rms         minus the relative RMS deviation from the baseline's outputs, all outputs taken together
//   cmd:PROGRAM a program of the user's prints one number, higher = better
//
// The accuracy drop is in absolute points (0.01 = one point): mean score of the baseline minus that of the candidate.
// With `rms` it is the mean relative deviation.
#ifndef RLC_DATA_METRICS_H_
#define RLC_DATA_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/process.h"
#include "rlc/base/statistics.h"
#include "rlc/data/array.h"

namespace rlc {

// A model's outputs, row by row, collected batch by batch.
class ModelOutputs {
 public:
  explicit ModelOutputs(std::vector<std::string> names) : names_(std::move(names)), columns_(names_.size()) {}

  // What one run over `rows` samples gave, in the order of the names. An output whose first dimension is `rows` is
  // split along it; any other (detectors) belongs to its row as a whole, for which `rows` must be 1, else error.
  Expected<void> Append(std::span<const Array> batch, std::size_t rows);

  std::size_t rows() const { return rows_; }
  const std::vector<std::string>& names() const { return names_; }
  // Without batch axis, if the output was split.
  const Array& Row(std::size_t output, std::size_t row) const { return columns_[output][row]; }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<Array>> columns_;  // [output][row]
  std::size_t rows_ = 0;
};

// The output that looks like class scores: float, per row one number per class, at least 2 (further dimensions of size
// 1 allowed); the first such. Nothing if none.
std::optional<std::size_t> ClassScoreOutput(const ModelOutputs& outputs);

// Index of the largest element; the first of equals. Nothing if there is a NaN or no element.
std::optional<int64_t> ArgMax(const Array& scores);

// Labels that belong to the rows of the outputs, one each: classes for top1; any array for cmd.
struct Labels {
  std::span<const int64_t> classes = {};
  std::optional<Array> array = std::nullopt;
};

struct Scores {
  double value = 0;                        // mean of the rows, or the program's number; higher is better
  std::vector<double> rows = {};           // per row; empty for cmd
  std::vector<double> pseudo_values = {};  // cmd with groups: delete-a-group jackknife; else empty
};

class Metric {
 public:
  virtual ~Metric() = default;
  virtual std::string name() const = 0;  // as typed: "top1", "cmd:./map.py"
  virtual bool needs_labels() const = 0;
  // `baseline` are the outputs of the original model for the same rows. Errors, kInvalidInput: labels missing or out of
  // range, outputs without class scores, outputs that differ from the baseline's in number or shape; kUnavailable: the
  // program fails, prints something else than a number, or takes too long.
  virtual Expected<Scores> Score(const ModelOutputs& outputs, const ModelOutputs& baseline,
                                 const Labels& labels) const = 0;
};

struct CommandOptions {
  ProcessLimits limits = {.seconds = 600};
  // With g > 1 groups the program runs g times more, each time without one group of rows, which gives an interval; with
  // 0 the drop's interval is unbounded.
  int groups = 0;
};

// "top1", "agreement", "rms", "cmd:PROGRAM [arguments]". The program is run by sh -c with the path of an .npz file as
// its last argument: the outputs by name (rows stacked; `name.0`, `name.1` ... when their shapes differ), and `labels`
// if there are any. Error, kUsage: no such metric.
Expected<std::unique_ptr<Metric>> MakeMetric(std::string_view text, const CommandOptions& options = {});

// What is used when the user names none: top1 with labels and class scores; agreement with class scores; else rms.
std::string DefaultMetric(const ModelOutputs& baseline, bool has_class_labels);

// Baseline minus candidate with its paired interval. Unit "points", for rms too. Precondition, checked: scores of the
// same metric on the same rows.
Estimate AccuracyDrop(const Scores& baseline, const Scores& candidate, const BootstrapOptions& options = {});

}  // namespace rlc

#endif  // RLC_DATA_METRICS_H_
