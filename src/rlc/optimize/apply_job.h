// rlc apply: replays a plan.
#ifndef RLC_OPTIMIZE_APPLY_JOB_H_
#define RLC_OPTIMIZE_APPLY_JOB_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/rewrite/plan.h"

namespace rlc {

struct ApplyResult {
  size_t actions = 0;
  int nodes_before = 0, nodes_after = 0;
};

// Reads model and plan, applies, writes. Error: the plan was made for another file (compares the content hash), or does
// not apply (names the action).
// `without_regions`: leaves out the plan's compiled regions, for runtimes without functions.
Expected<ApplyResult> ApplyFile(const std::string& model_path, const std::string& plan_path, const std::string& output,
                                bool without_regions = false);

// Content hash of a model file, as plans record it.
Expected<std::string> HashModelFile(const std::string& path);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_APPLY_JOB_H_
