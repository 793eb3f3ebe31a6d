// Measurements in a child process: a model that crashes, hangs or eats all memory costs an error with a reason, not the
// search.
//
// The child is this program itself, re-executed with the hidden subcommand `measure-child`, or another program that was
// named with SetMeasureProgram. Whoever owns main() hands over:
//
//   if (IsMeasureChild(argc, argv)) return MeasureChildMain(argc, argv);
//
// Request and reply are JSON in files (bulk data in files that they name), so nothing that a library prints disturbs.
#ifndef RLC_MEASURE_CHILD_PROCESS_H_
#define RLC_MEASURE_CHILD_PROCESS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/base/json.h"

namespace rlc {

inline constexpr std::string_view kMeasureChildCommand = "measure-child";

bool IsMeasureChild(int argc, char** argv);
// The child's whole life: argv = {program, "measure-child", request file, reply file}. Returns the exit code.
int MeasureChildMain(int argc, char** argv);

// What a child can do; "time", "run" and "energy" are there (child.h), and "profile" (region_profile.h). Others
// register in the main() that hands over, before it does. The function runs in the child.
using MeasureJob = std::function<Expected<Json>(const Json& request)>;
void RegisterMeasureJob(const std::string& name, MeasureJob job);

// The program to start, with the arguments before "measure-child". Default: the running executable. For hosts that are
// not rlc (Python).
void SetMeasureProgram(std::vector<std::string> argv);

struct ChildLimits {
  double seconds = 120;       // wall time, then it is killed
  uint64_t memory_bytes = 0;  // address space; 0: as much as the machine has memory. Not kept in sanitizer builds.
  StopToken stop;
};

struct ChildReply {
  Json result;
  double wall_seconds = 0;
  uint64_t peak_rss_bytes = 0;
};

// Starts a child for one job and waits. Only one child of this user measures at a time on a machine (a lock file in the
// cache folder; waiting for it does not count as the child's time): two at once would disturb each other. The child
// uses the runtime that this process uses. Error: the job's own, or how the child ended, in words (kUnavailable;
// kInterrupted when stopped), with `what` in front.
Expected<ChildReply> RunMeasureChild(const std::string& job, const Json& request, const std::string& what,
                                     const ChildLimits& limits = {});

}  // namespace rlc

#endif  // RLC_MEASURE_CHILD_PROCESS_H_
