#include "rlc/data/command_metric.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/base/process.h"
#include "rlc/data/npz.h"

namespace rlc {
namespace {

// [n, ...] out of n arrays of one type and shape.
Array Stack(const std::vector<Array>& rows) {
  std::vector<int64_t> shape = rows[0].shape();
  shape.insert(shape.begin(), 1);
  std::vector<Array> with_axis;
  with_axis.reserve(rows.size());
  for (const Array& row : rows) with_axis.push_back(row.Reshaped(shape));
  return Concatenate(with_axis);
}

// What the program gets to read for these rows.
std::vector<NamedArray> FileContents(const ModelOutputs& outputs, const Labels& labels,
                                     std::span<const std::size_t> rows) {
  std::vector<NamedArray> contents;
  for (std::size_t output = 0; output < outputs.names().size(); ++output) {
    const std::string& name = outputs.names()[output];
    std::vector<Array> arrays;
    for (const std::size_t row : rows) arrays.push_back(outputs.Row(output, row));
    const bool alike = std::all_of(arrays.begin(), arrays.end(), [&](const Array& array) {
      return array.type() == arrays[0].type() && array.shape() == arrays[0].shape();
    });
    if (alike) {
      contents.push_back({name, Stack(arrays)});
      continue;
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) contents.push_back({fmt::format("{}.{}", name, i), arrays[i]});
  }
  if (labels.array) {
    contents.push_back({"labels", StoredArray(*labels.array).Gather(rows)});
  } else if (!labels.classes.empty()) {
    std::vector<int64_t> classes;
    for (const std::size_t row : rows) classes.push_back(labels.classes[row]);
    contents.push_back({"labels", Array::Of({static_cast<int64_t>(classes.size())}, classes)});
  }
  return contents;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

class CommandMetric final : public Metric {
 public:
  CommandMetric(std::string command, const CommandOptions& options) : command_(std::move(command)), options_(options) {}

  std::string name() const override { return "cmd:" + command_; }
  bool needs_labels() const override { return false; }

  Expected<Scores> Score(const ModelOutputs& outputs, const ModelOutputs&, const Labels& labels) const override {
    if (outputs.rows() == 0) return MakeError(ErrorKind::kInvalidInput, "no samples to measure accuracy on");
    RLC_CHECK(!labels.array || static_cast<std::size_t>(labels.array->rows()) == outputs.rows());
    RLC_CHECK(labels.classes.empty() || labels.classes.size() == outputs.rows());
    RLC_RETURN_IF_ERROR(CheckNames(outputs, labels));
    std::vector<std::size_t> all(outputs.rows());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Scores scores;
    RLC_ASSIGN_OR_RETURN(scores.value, Run(outputs, labels, all));
    const std::size_t groups = std::min(all.size(), static_cast<std::size_t>(std::max(options_.groups, 0)));
    if (groups < 2) return scores;
    for (std::size_t group = 0; group < groups; ++group) {
      std::vector<std::size_t> others;
      std::copy_if(all.begin(), all.end(), std::back_inserter(others),
                   [&](std::size_t row) { return row % groups != group; });
      RLC_ASSIGN_OR_RETURN(const double without, Run(outputs, labels, others));
      const auto g = static_cast<double>(groups);
      scores.pseudo_values.push_back(g * scores.value - (g - 1) * without);
    }
    return scores;
  }

 private:
  static Expected<void> CheckNames(const ModelOutputs& outputs, const Labels& labels) {
    const std::vector<std::string>& names = outputs.names();
    const bool has_labels = labels.array || !labels.classes.empty();
    if (!has_labels || std::find(names.begin(), names.end(), "labels") == names.end()) return {};
    return MakeError(ErrorKind::kInvalidInput,
                     "the model has an output named 'labels', which the labels would replace");
  }

  Expected<double> Run(const ModelOutputs& outputs, const Labels& labels, std::span<const std::size_t> rows) const {
    RLC_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create("rlc-metric"));
    const std::string path = JoinPath(folder.path(), "outputs.npz");
    RLC_RETURN_IF_ERROR(WriteNpz(path, FileContents(outputs, labels, rows)));
    // The path as $1, so that no character of it means anything to the shell.
    const ProcessSpec spec = {.argv = {"sh", "-c", command_ + " \"$1\"", "sh", path}, .limits = options_.limits};
    RLC_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(spec));
    if (result.end == ProcessEnd::kStopped) return MakeError(ErrorKind::kInterrupted, "{} was interrupted", name());
    if (!result.Succeeded()) return MakeError(ErrorKind::kUnavailable, "metric {} {}", name(), result.Describe());
    const auto number = ParseNumber(Trimmed(result.out), name());
    if (!number) {
      return MakeError(ErrorKind::kUnavailable, "metric {} printed '{}', wanted one number and nothing else", name(),
                       Trimmed(result.out).substr(0, 100));
    }
    return *number;
  }

  std::string command_;
  CommandOptions options_;
};

}  // namespace

std::unique_ptr<Metric> MakeCommandMetric(std::string command, const CommandOptions& options) {
  return std::make_unique<CommandMetric>(std::move(command), options);
}

}  // namespace rlc
