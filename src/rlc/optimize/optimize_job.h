// rlc optimize, the main job: learn, search, verify, write, report.
#ifndef RLC_OPTIMIZE_OPTIMIZE_JOB_H_
#define RLC_OPTIMIZE_OPTIMIZE_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rlc/base/clock.h"
#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/base/log.h"
#include "rlc/optimize/build_catalogue.h"
#include "rlc/optimize/data_setup.h"
#include "rlc/search/method.h"

namespace rlc {

struct OptimizeRequest {
  std::string input, output;
  DataRequest data;
  std::string metric;                  // empty: what suits the data
  double max_drop = 0.01;              // accuracy limit, absolute (0.01 = one point)
  std::optional<ActionKinds> actions;  // nothing: exact without data, all with data
  std::string method = "rl";
  std::string policy;              // ONNX file; empty: trained for this model when the method needs one
  double seconds = 120;            // budget of the whole job
  std::optional<int> evaluations;  // budget of measured evaluations; nothing: only time counts
  int64_t timesteps = 10'000;      // of training
  std::optional<double> min_gain;  // a goal: at least this many times faster, else exit code 4
  int threads = 1;
  uint64_t seed = 0;
  std::string plan_path, report_path, html_path;  // empty: beside the output
  std::string store_path;                         // empty: in the user's cache folder
  std::string trainer;                            // path of rlc-train, empty: none
  std::string command;                            // as typed, for the report
  Clock clock, wall_clock;
  StopToken stop;
  ProgressSink progress;
};

struct OptimizeOutcome {
  Json report;               // what report.json holds (docs/report-schema.md)
  bool improved = false;     // the output is faster than the original, outside the noise
  bool goal_missed = false;  // min_gain was named and not reached
  bool interrupted = false;
};

// Writes the output model (always: the best verified one, else the safe one), plan, report.json and report.html. Error:
// what prevents any output at all.
Expected<OptimizeOutcome> OptimizeFile(const OptimizeRequest& request);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_OPTIMIZE_JOB_H_
