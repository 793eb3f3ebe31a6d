// Measurements in a child process: a model that crashes, hangs or eats all memory costs an error with a reason, not the
// search.
//
// The child is this program itself, re-executed with the hidden subcommand `measure-child`, or another program that was
// named with SetMeasureProgram. Whoever owns main() hands over:
//
//   if (argc > 1 && std::string_view(argv[1]) == kMeasureChildCommand) return MeasureChildMain(argc, argv);
//
// Request and reply are JSON in files (bulk data in files that they name), so nothing that a library prints disturbs.
#ifndef RLC_MEASURE_CHILD_H_
#define RLC_MEASURE_CHILD_H_

#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/base/json.h"
#include "rlc/measure/timing.h"

namespace rlc {

inline constexpr std::string_view kMeasureChildCommand = "measure-child";

// The child's whole life: argv = {program, "measure-child", request file, reply file}. Returns the exit code.
int MeasureChildMain(int argc, char** argv);

// The program to start, with the arguments before "measure-child". Default: the running executable. For hosts that
// are not rlc (Python).
void SetMeasureProgram(std::vector<std::string> argv);

struct ChildLimits {
  double seconds = 120;        // wall time, then it is killed
  uint64_t memory_bytes = 0;   // address space; 0: none (and none in sanitizer builds, which need terabytes)
  StopToken stop;
};

struct ChildReply {
  Json result;
  double wall_seconds = 0;
  uint64_t peak_rss_bytes = 0;
};

// Starts a child for one job and waits. Only one child of this user measures at a time on a machine (a lock file in the
// cache folder): two at once would disturb each other. Error: the job's own error, or how the child ended, in words
// (kUnavailable; kInterrupted when stopped), with `what` in front.
Expected<ChildReply> RunMeasureChild(const std::string& job, const Json& request, const std::string& what,
                                     const ChildLimits& limits = {});

// TimeModels in a child.
Expected<TimingResult> TimeModelsInChild(std::span<const TimedModel> models, std::span<const NamedTensor> inputs,
                                         const TimingOptions& options, const ChildLimits& limits = {});

// One pass of a model over many rows in a child.
struct RunRequest {
  std::string model_path;
  OptLevel level = OptLevel::kAll;
  int threads = 1;
  std::string inputs_path;               // .safetensors: one array for each input, first axis = rows
  std::vector<std::string> outputs;      // empty: all
  int64_t batch_rows = 32;               // when the model's first dimension is free; else one (or its fixed size) at a time
  std::vector<std::string> custom_op_libraries;
};
struct RunReply {
  std::vector<NamedTensor> outputs;      // first axis = rows
  uint64_t peak_rss_bytes = 0;           // of the child
};
Expected<RunReply> RunModelInChild(const RunRequest& request, const ChildLimits& limits = {});

}  // namespace rlc

#endif  // RLC_MEASURE_CHILD_H_
