#include "rlc/data/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "rlc/base/format.h"
#include "rlc/data/command_metric.h"

namespace rlc {
namespace {

constexpr std::string_view kCommandPrefix = "cmd:";

// One number per class: [C] or [C,1,1]; float; at least two classes.
bool IsClassScores(const Array& row) {
  const std::vector<int64_t>& shape = row.shape();
  return IsFloatType(row.type()) && !shape.empty() && shape[0] >= 2 && row.size() == shape[0];
}

std::string RowShapes(const ModelOutputs& outputs) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < outputs.names().size(); ++i) {
    texts.push_back(fmt::format("'{}' {} {}", outputs.names()[i], ElementTypeName(outputs.Row(i, 0).type()),
                                FormatShape(outputs.Row(i, 0).shape())));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Expected<std::size_t> FindClassScores(const ModelOutputs& outputs, std::string_view metric) {
  const std::optional<std::size_t> output = ClassScoreOutput(outputs);
  if (output) return *output;
  return MakeError(
      ErrorKind::kInvalidInput,
      "metric {} needs an output with one float per class; per sample the model gives {}; use --metric rms or cmd:",
      metric, RowShapes(outputs));
}

Expected<void> CheckSameRows(const ModelOutputs& outputs, const ModelOutputs& baseline) {
  if (outputs.rows() == 0) return MakeError(ErrorKind::kInvalidInput, "no samples to measure accuracy on");
  if (outputs.rows() != baseline.rows() || outputs.names() != baseline.names()) {
    return MakeError(ErrorKind::kInvalidInput, "outputs [{}] of {} samples cannot be compared with [{}] of {}",
                     fmt::join(outputs.names(), ", "), outputs.rows(), fmt::join(baseline.names(), ", "),
                     baseline.rows());
  }
  return {};
}

Scores ScoresOf(std::vector<double> rows) {
  Scores scores;
  scores.value = Mean(rows);
  scores.rows = std::move(rows);
  return scores;
}

class Top1 final : public Metric {
 public:
  std::string name() const override { return "top1"; }
  bool needs_labels() const override { return true; }

  Expected<Scores> Score(const ModelOutputs& outputs, const ModelOutputs& baseline,
                         const Labels& labels) const override {
    RLC_RETURN_IF_ERROR(CheckSameRows(outputs, baseline));
    // The baseline says which output it is: a candidate must not be judged by another one.
    RLC_ASSIGN_OR_RETURN(const std::size_t output, FindClassScores(baseline, name()));
    if (labels.classes.size() != outputs.rows()) {
      return MakeError(ErrorKind::kInvalidInput, "metric top1 needs one label per sample: {} labels for {} samples",
                       labels.classes.size(), outputs.rows());
    }
    std::vector<double> rows(outputs.rows());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const int64_t classes = baseline.Row(output, row).size();
      const int64_t label = labels.classes[row];
      if (label < 0 || label >= classes) {
        return MakeError(ErrorKind::kInvalidInput, "label {} is out of range: the model has {} classes, 0 to {}", label,
                         classes, classes - 1);
      }
      rows[row] = ArgMax(outputs.Row(output, row)) == label ? 1 : 0;
    }
    return ScoresOf(std::move(rows));
  }
};

class Agreement final : public Metric {
 public:
  std::string name() const override { return "agreement"; }
  bool needs_labels() const override { return false; }

  Expected<Scores> Score(const ModelOutputs& outputs, const ModelOutputs& baseline, const Labels&) const override {
    RLC_RETURN_IF_ERROR(CheckSameRows(outputs, baseline));
    RLC_ASSIGN_OR_RETURN(const std::size_t output, FindClassScores(baseline, name()));
    std::vector<double> rows(outputs.rows());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      // Two NaNs agree: the candidate is as broken as the baseline there, not more.
      rows[row] = ArgMax(outputs.Row(output, row)) == ArgMax(baseline.Row(output, row)) ? 1 : 0;
    }
    return ScoresOf(std::move(rows));
  }
};

class Rms final : public Metric {
 public:
  std::string name() const override { return "rms"; }
  bool needs_labels() const override { return false; }

  Expected<Scores> Score(const ModelOutputs& outputs, const ModelOutputs& baseline, const Labels&) const override {
    RLC_RETURN_IF_ERROR(CheckSameRows(outputs, baseline));
    std::vector<double> rows(outputs.rows());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      std::vector<double> reference;
      std::vector<double> actual;
      bool same_shapes = true;
      for (std::size_t output = 0; output < outputs.names().size(); ++output) {
        const Array& a = baseline.Row(output, row);
        const Array& b = outputs.Row(output, row);
        same_shapes = same_shapes && a.shape() == b.shape();
        Append(a, reference);
        Append(b, actual);
      }
      // Another number of detections, say, is as wrong as it gets.
      rows[row] = same_shapes ? -RelativeRms(reference, actual) : -std::numeric_limits<double>::infinity();
    }
    return ScoresOf(std::move(rows));
  }

 private:
  static void Append(const Array& array, std::vector<double>& values) {
    const std::vector<double> more = array.ToDoubles();
    values.insert(values.end(), more.begin(), more.end());
  }
};

// Quantile of Student's t, from that of the normal: expansion in 1/degrees (Abramowitz and Stegun 26.7.5), good to
// 1 % from 4 degrees on.
double StudentQuantile(double probability, double degrees) {
  const double z = NormalQuantile(probability);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  const double z7 = z5 * z * z;
  return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * degrees * degrees * degrees);
}

Estimate DropOfPseudoValues(const Scores& baseline, const Scores& candidate, double confidence) {
  const std::size_t groups = baseline.pseudo_values.size();
  std::vector<double> differences(groups);
  for (std::size_t i = 0; i < groups; ++i) differences[i] = baseline.pseudo_values[i] - candidate.pseudo_values[i];
  const double error = StandardDeviation(differences) / std::sqrt(static_cast<double>(groups));
  const double half = error * StudentQuantile(0.5 + confidence / 2, static_cast<double>(groups - 1));
  const double drop = baseline.value - candidate.value;
  return {drop, drop - half, drop + half, groups, "points"};
}

}  // namespace

Expected<void> ModelOutputs::Append(std::span<const Array> batch, std::size_t rows) {
  RLC_CHECK_EQ(batch.size(), names_.size());
  RLC_CHECK(rows >= 1);
  const auto count = static_cast<int64_t>(rows);
  const auto is_split = [&](const Array& array) { return !array.shape().empty() && array.shape()[0] == count; };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (is_split(batch[i]) || rows == 1) continue;
    return MakeError(ErrorKind::kInvalidInput,
                     "output '{}' has shape {} for {} samples, so they cannot be told apart; run one sample at a time",
                     names_[i], FormatShape(batch[i].shape()), rows);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_split(batch[i])) {
      columns_[i].push_back(batch[i]);
      continue;
    }
    const std::vector<int64_t> sample(batch[i].shape().begin() + 1, batch[i].shape().end());
    for (int64_t row = 0; row < count; ++row) columns_[i].push_back(batch[i].Rows(row, 1).Reshaped(sample));
  }
  rows_ += rows;
  return {};
}

std::optional<std::size_t> ClassScoreOutput(const ModelOutputs& outputs) {
  for (std::size_t output = 0; output < outputs.names().size() && outputs.rows() > 0; ++output) {
    if (IsClassScores(outputs.Row(output, 0))) return output;
  }
  return std::nullopt;
}

std::optional<int64_t> ArgMax(const Array& scores) {
  const std::vector<double> values = scores.ToDoubles();
  if (values.empty() || std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    return std::nullopt;
  }
  return std::max_element(values.begin(), values.end()) - values.begin();
}

Expected<std::unique_ptr<Metric>> MakeMetric(std::string_view text, const CommandOptions& options) {
  if (text == "top1") return std::make_unique<Top1>();
  if (text == "agreement") return std::make_unique<Agreement>();
  if (text == "rms") return std::make_unique<Rms>();
  if (text.starts_with(kCommandPrefix) && text.size() > kCommandPrefix.size()) {
    return MakeCommandMetric(std::string(text.substr(kCommandPrefix.size())), options);
  }
  return MakeError(ErrorKind::kUsage, "--metric: '{}' is not known; known are top1, agreement, rms and cmd:PROGRAM",
                   text);
}

std::string DefaultMetric(const ModelOutputs& baseline, bool has_class_labels) {
  if (!ClassScoreOutput(baseline)) return "rms";
  return has_class_labels ? "top1" : "agreement";
}

Estimate AccuracyDrop(const Scores& baseline, const Scores& candidate, const BootstrapOptions& options) {
  if (!baseline.rows.empty()) {
    RLC_CHECK_EQ(baseline.rows.size(), candidate.rows.size());
    return PairedDifference(baseline.rows, candidate.rows, options);
  }
  RLC_CHECK_EQ(baseline.pseudo_values.size(), candidate.pseudo_values.size());
  if (baseline.pseudo_values.size() >= 2) return DropOfPseudoValues(baseline, candidate, options.confidence);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {baseline.value - candidate.value, -kInfinity, kInfinity, 1, "points"};
}

}  // namespace rlc
