#include "optimize_options.h"

#include "rlc/base/interrupt.h"
#include "rlc/optimize/doctor_job.h"

namespace rlc {

Expected<void> ParseBudget(const std::string& text, OptimizeRequest& request) {
  constexpr std::string_view kEvaluations = "evals";
  for (const std::string& part : SplitText(text, ',')) {
    if (part.ends_with(kEvaluations)) {
      RLC_ASSIGN_OR_RETURN(const int64_t count,
                           ParseInt(part.substr(0, part.size() - kEvaluations.size()), "--budget"));
      if (count < 1 || count > 1'000'000)
        return MakeError(ErrorKind::kUsage, "--budget '{}': wanted 1 to 1000000 evals", part);
      request.evaluations = static_cast<int>(count);
    } else {
      RLC_ASSIGN_OR_RETURN(request.seconds, ParseDuration(part, "--budget"));
      if (request.seconds <= 0) return MakeError(ErrorKind::kUsage, "--budget '{}': no time at all", part);
    }
  }
  // Only evaluations were named: time does not end the search.
  constexpr double kNoLimit = 7 * 24 * 3600.0;
  if (request.evaluations && text.find(',') == std::string::npos) request.seconds = kNoLimit;
  return {};
}

void OptimizeOptions::Declare(CLI::App& app) {
  app.add_option("--max-drop", max_drop, "largest accuracy drop: 1%, 0.5% or 0.005")->capture_default_str();
  app.add_option("--metric", request.metric, "top1, agreement, rms or cmd:'PROGRAM' (default: what suits the data)");
  app.add_option(
      "--actions", actions,
      "exact, portable, all, or a list of fuse, int8, prune, region, winograd, bf16 (default: portable; exact without "
      "--data)");
  app.add_option("--timesteps", request.timesteps, "of training, for method rl")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--store", request.store_path, "trial store (default: in the user's cache folder)");
  data.Declare(app);
  AddCommonOptions(app, common, "jqst");
}

Expected<void> OptimizeOptions::Fill() {
  RLC_ASSIGN_OR_RETURN(request.data, data.Parse(common.seed));
  RLC_ASSIGN_OR_RETURN(request.max_drop, ParseFraction(max_drop, "--max-drop"));
  if (!actions.empty()) {
    RLC_ASSIGN_OR_RETURN(request.actions, ParseActionKinds(actions));
  }
  RLC_RETURN_IF_ERROR(ParseBudget(budget, request));
  request.threads = common.threads;
  request.seed = common.seed;
  request.trainer = FindTrainer();
  request.clock = SteadyClock();
  request.wall_clock = SystemClock();
  request.stop = StopToken::OfProcess();
  request.progress = MakeProgressSink(common);
  return {};
}

}  // namespace rlc
