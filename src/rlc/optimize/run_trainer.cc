#include "rlc/optimize/run_trainer.h"

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/base/process.h"

namespace rlc {
namespace {

// Lines of curve.csv: timesteps is the first column, mean_gain the fifth.
std::vector<std::pair<double, double>> ReadCurve(const std::string& path) {
  std::vector<std::pair<double, double>> curve;
  const auto text = ReadFile(path);
  if (!text) return curve;
  for (const std::string& line : SplitText(*text, '\n')) {
    const std::vector<std::string> cells = SplitText(line, ',');
    constexpr size_t kGainColumn = 4;
    if (cells.size() <= kGainColumn) continue;
    const auto timesteps = ParseNumber(cells[0], "timesteps"), gain = ParseNumber(cells[kGainColumn], "gain");
    if (timesteps && gain) curve.emplace_back(*timesteps, *gain);
  }
  return curve;
}

std::string LastLine(const std::string& text) {
  std::string last;
  for (const std::string& line : SplitText(text, '\n')) {
    if (!line.empty() && line.front() != '{') last = line;
  }
  return last.empty() ? "it said nothing" : last;
}

// Progress objects that the trainer prints, one for each line.
class ProgressReader {
 public:
  explicit ProgressReader(const ProgressSink& sink) : sink_(sink) {}
  void operator()(std::string_view text) {
    pending_.append(text);
    for (size_t end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
      const auto line = ParseJson(pending_.substr(0, end), "progress");
      pending_.erase(0, end + 1);
      if (!line) continue;
      const auto done = GetDouble(*line, "timesteps"), total = GetDouble(*line, "total"),
                 gain = GetDouble(*line, "gain");
      if (done && total && gain) {
        Report(sink_, {"train", *done, *total, 0, fmt::format("mean gain {} (estimate)", FormatPercent(*gain))});
      }
    }
  }

 private:
  const ProgressSink& sink_;
  std::string pending_;
};

}  // namespace

Expected<TrainedPolicy> RunTrainer(const std::string& trainer, const TrainRequest& request, const std::string& folder,
                                   double seconds, StopToken stop, const ProgressSink& progress) {
  if (trainer.empty()) {
    return MakeError(
        ErrorKind::kUnavailable,
        "rlc-train was not found beside rlc or in PATH; build it, set RLC_TRAIN, give --policy FILE, or use --method "
        "greedy");
  }
  RLC_RETURN_IF_ERROR(MakeFolders(folder));
  const std::string request_path = JoinPath(folder, "request.json");
  RLC_RETURN_IF_ERROR(WriteFileAtomically(request_path, DumpJson(ToJson(request))));
  ProcessSpec spec;
  spec.argv = {trainer, request_path, folder};
  spec.limits.seconds = seconds;
  spec.limits.stop = stop;
  spec.limits.stop_grace_seconds = 5;
  ProgressReader reader(progress);
  spec.on_stderr = [&](std::string_view text) { reader(text); };
  RLC_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(spec));
  if (stop.StopRequested()) return MakeError(ErrorKind::kInterrupted, "interrupted while training");
  if (!result.Succeeded()) {
    return MakeError(ErrorKind::kUnavailable, "{} {}: {}", trainer, result.Describe(), LastLine(result.err));
  }
  TrainedPolicy trained;
  trained.policy_path = JoinPath(folder, "policy.onnx");
  RLC_ASSIGN_OR_RETURN(const Json summary, ReadJsonFile(JoinPath(folder, "summary.json")));
  RLC_ASSIGN_OR_RETURN(trained.summary, TrainSummaryFromJson(summary));
  trained.curve = ReadCurve(JoinPath(folder, "curve.csv"));
  return trained;
}

}  // namespace rlc
