#include "rlc/measure/accuracy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/base/hash.h"

namespace rlc {
namespace {

// Row numbers (positions in the judge's rows) that run together, and batches that go to one child together.
using Batch = std::vector<size_t>;
struct Segment {
  std::vector<Batch> batches;
  std::string path;   // of the file with its inputs
  bool kept = false;  // it stays on disk
};

uint64_t BytesPerRow(const Dataset& data) {
  uint64_t bytes = 0;
  for (const InputSpec& input : data.inputs()) {
    uint64_t elements = 1;
    for (size_t i = 0; i < input.shape.size(); ++i) {
      // A size that differs from row to row is not known yet; 512 is a guess for an image's side.
      elements *= input.shape[i] >= 0 ? static_cast<uint64_t>(input.shape[i]) : i == 0 ? 1 : 512;
    }
    bytes += elements * ElementSize(input.type);
  }
  return std::max<uint64_t>(bytes, 1);
}

bool CanBatch(const Dataset& data) {
  return !data.inputs().empty() && std::all_of(data.inputs().begin(), data.inputs().end(), [](const InputSpec& input) {
    return !input.shape.empty() && input.shape.front() < 0;
  });
}

}  // namespace

struct AccuracyJudge::Impl {
  Dataset data;
  std::vector<size_t> rows;
  std::vector<int64_t> classes;  // by position in rows
  AccuracyOptions options;
  TempDir folder;
  std::vector<Segment> segments;
  std::unique_ptr<Metric> metric;
  Labels labels;
  std::optional<ModelOutputs> baseline;
  Scores baseline_scores;
  std::string key;

  void MakeSegments(size_t batch_rows);
  Expected<void> WriteSegment(const Segment& segment) const;
  Expected<ModelOutputs> Outputs(const std::string& model_path, StopToken stop, uint64_t* peak) const;
  Expected<void> RunBaseline(const std::string& path);
  std::string MakeKey() const;
};

void AccuracyJudge::Impl::MakeSegments(size_t batch_rows) {
  segments.clear();
  const uint64_t row_bytes = BytesPerRow(data);
  const uint64_t segment_rows = std::max<uint64_t>(options.segment_bytes / row_bytes, batch_rows);
  uint64_t total = 0, in_segment = 0;
  for (size_t first = 0; first < rows.size(); first += batch_rows) {
    const size_t count = std::min(batch_rows, rows.size() - first);
    if (segments.empty() || in_segment + count > segment_rows) {
      segments.push_back(
          {{}, JoinPath(folder.path(), "inputs" + std::to_string(segments.size()) + ".safetensors"), false});
      in_segment = 0;
    }
    Batch batch;
    for (size_t i = first; i < first + count; ++i) batch.push_back(rows[i]);
    segments.back().batches.push_back(std::move(batch));
    in_segment += count;
    total += count * row_bytes;
    segments.back().kept = total <= options.kept_bytes;
  }
}

Expected<void> AccuracyJudge::Impl::WriteSegment(const Segment& segment) const {
  if (FileExists(segment.path)) return {};
  std::vector<std::vector<NamedArray>> batches;
  for (const Batch& batch : segment.batches) {
    RLC_ASSIGN_OR_RETURN(std::vector<NamedArray> arrays, data.Batch(batch));
    batches.push_back(std::move(arrays));
  }
  return WriteBatches(segment.path, batches);
}

Expected<ModelOutputs> AccuracyJudge::Impl::Outputs(const std::string& model_path, StopToken stop,
                                                    uint64_t* peak) const {
  std::optional<ModelOutputs> outputs;
  for (const Segment& segment : segments) {
    RLC_RETURN_IF_ERROR(WriteSegment(segment));
    RunRequest request;
    request.model_path = model_path;
    request.level = options.level;
    request.threads = options.threads;
    request.batches_path = segment.path;
    request.custom_op_libraries = options.custom_op_libraries;
    ChildLimits limits = options.limits;
    limits.stop = stop;
    const auto reply = RunModelInChild(request, limits);
    if (!segment.kept) std::remove(segment.path.c_str());
    if (!reply) return Unexpected(reply.error());
    if (!outputs) outputs.emplace(reply->names);
    for (size_t i = 0; i < reply->batches.size(); ++i) {
      RLC_RETURN_IF_ERROR(outputs->Append(reply->batches[i], segment.batches[i].size()));
    }
    if (peak != nullptr) *peak = std::max(*peak, reply->peak_rss_bytes);
  }
  return *std::move(outputs);
}

// Batched where the model allows it: a free first dimension does not always mean that any size works, nor that each
// output has one part for each row.
Expected<void> AccuracyJudge::Impl::RunBaseline(const std::string& path) {
  if (CanBatch(data) && options.batch_rows > 1) {
    MakeSegments(options.batch_rows);
    if (auto outputs = Outputs(path, options.limits.stop, nullptr)) {
      baseline = *std::move(outputs);
      return {};
    } else if (outputs.error().kind == ErrorKind::kInterrupted) {
      return Unexpected(outputs.error());
    }
    for (const Segment& segment : segments) std::remove(segment.path.c_str());
  }
  MakeSegments(1);
  RLC_ASSIGN_OR_RETURN(baseline, Outputs(path, options.limits.stop, nullptr));
  return {};
}

std::string AccuracyJudge::Impl::MakeKey() const {
  Hasher hasher;
  hasher.AddText(data.Hash()).AddText(metric->name()).AddText(OptLevelName(options.level)).AddInt(rows.size());
  for (const size_t row : rows) hasher.AddInt(row);
  return metric->name() + " " + hasher.Hex().substr(0, 16);
}

AccuracyJudge::AccuracyJudge(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AccuracyJudge::AccuracyJudge(AccuracyJudge&&) noexcept = default;
AccuracyJudge& AccuracyJudge::operator=(AccuracyJudge&&) noexcept = default;
AccuracyJudge::~AccuracyJudge() = default;

Expected<AccuracyJudge> AccuracyJudge::Create(const std::string& baseline_path, const Dataset& data,
                                              std::vector<size_t> rows, const std::vector<int64_t>& classes,
                                              const AccuracyOptions& options) {
  if (rows.empty()) return MakeError(ErrorKind::kInvalidInput, "there is no sample to judge accuracy on");
  RLC_ASSIGN_OR_RETURN(TempDir folder, TempDir::Create("rlc-accuracy"));
  auto impl = std::unique_ptr<Impl>(
      new Impl{data, std::move(rows), {}, options, std::move(folder), {}, nullptr, {}, std::nullopt, {}, {}});
  if (!classes.empty()) {
    for (const size_t row : impl->rows) impl->classes.push_back(classes[row]);
  }
  impl->labels.classes = impl->classes;
  if (data.has_labels()) impl->labels.array = data.labels().Gather(impl->rows);
  RLC_RETURN_IF_ERROR(impl->RunBaseline(baseline_path));
  const std::string name =
      options.metric.empty() ? DefaultMetric(*impl->baseline, !impl->classes.empty()) : options.metric;
  RLC_ASSIGN_OR_RETURN(impl->metric, MakeMetric(name));
  RLC_ASSIGN_OR_RETURN(impl->baseline_scores, impl->metric->Score(*impl->baseline, *impl->baseline, impl->labels));
  impl->key = impl->MakeKey();
  return AccuracyJudge(std::move(impl));
}

Expected<Accuracy> AccuracyJudge::Judge(const std::string& model_path, StopToken stop) const {
  Accuracy accuracy;
  RLC_ASSIGN_OR_RETURN(const ModelOutputs outputs, impl_->Outputs(model_path, stop, &accuracy.peak_rss_bytes));
  RLC_ASSIGN_OR_RETURN(accuracy.scores, impl_->metric->Score(outputs, *impl_->baseline, impl_->labels));
  accuracy.drop = AccuracyDrop(impl_->baseline_scores, accuracy.scores);
  if (!std::isfinite(accuracy.drop.value)) {
    return MakeError(ErrorKind::kInvalidInput,
                     "{}: its outputs have another shape than the baseline's, or are not finite where those are",
                     BaseName(model_path));
  }
  return accuracy;
}

const Scores& AccuracyJudge::baseline() const { return impl_->baseline_scores; }
std::string AccuracyJudge::metric() const { return impl_->metric->name(); }
size_t AccuracyJudge::rows() const { return impl_->rows.size(); }
const std::string& AccuracyJudge::key() const { return impl_->key; }

}  // namespace rlc
