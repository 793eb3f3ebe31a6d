// The verdict in words.

#include "rlc/report/verdict.h"

#include "rlc/base/format.h"
#include "rlc/report/figures.h"
#include "rlc/report/report.h"

namespace rlc {

Expected<VerdictWords> WordVerdict(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const Json* verdict, GetObject(report, "verdict"));
  RLC_ASSIGN_OR_RETURN(const bool improved, GetBool(*verdict, "improved"));
  RLC_ASSIGN_OR_RETURN(const Estimate speedup, ReadNeededEstimate(*verdict, "speedup"));
  RLC_ASSIGN_OR_RETURN(const std::optional<Estimate> drop, ReadEstimate(*verdict, "drop"));
  RLC_ASSIGN_OR_RETURN(const double max_drop, GetDouble(*verdict, "max_drop"));
  RLC_ASSIGN_OR_RETURN(const std::string metric, GetString(*verdict, "metric"));
  RLC_ASSIGN_OR_RETURN(const std::string reason, GetString(*verdict, "reason"));
  RLC_ASSIGN_OR_RETURN(const bool exact_only, GetBool(*verdict, "exact_only"));
  RLC_ASSIGN_OR_RETURN(const bool interrupted, GetBool(*verdict, "interrupted"));
  VerdictWords words;
  words.good = improved;
  if (improved) {
    words.headline =
        fmt::format("{:.2f}x faster than the original under ONNX Runtime's full optimization", speedup.value);
    words.details.push_back(
        fmt::format("speed-up {} at 95 % confidence, {} rounds", SpeedupText(speedup), speedup.samples));
    if (drop) {
      words.details.push_back(fmt::format("accuracy drop ({}) {} on {} held-out samples, limit {}", metric,
                                          PointsText(*drop), drop->samples, FormatPoints(max_drop)));
    }
    if (exact_only) words.details.push_back("exact rewrites only: the same function up to float rounding");
  } else {
    words.headline = "No gain found: the original file is written unchanged";
  }
  if (!reason.empty()) words.details.push_back(reason);
  if (verdict->contains("goal")) {
    RLC_ASSIGN_OR_RETURN(const Json* goal, GetObject(*verdict, "goal"));
    RLC_ASSIGN_OR_RETURN(const bool missed, GetBool(*goal, "missed"));
    RLC_ASSIGN_OR_RETURN(const double wanted, GetDouble(*goal, "min_gain"));
    if (missed) words.details.push_back(fmt::format("the goal of {:.2f}x was missed", wanted));
  }
  if (interrupted) words.details.push_back("interrupted: this is the best that was found until then");
  return words;
}

Expected<std::string> RenderVerdict(const Json& report) {
  RLC_ASSIGN_OR_RETURN(const VerdictWords words, WordVerdict(report));
  std::string text = words.headline + "\n";
  for (const std::string& detail : words.details) text += "  " + detail + "\n";
  return text;
}

}  // namespace rlc
