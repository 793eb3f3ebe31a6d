// rlc simplify: exact rewrites only, and what they changed.
#ifndef RLC_OPTIMIZE_SIMPLIFY_JOB_H_
#define RLC_OPTIMIZE_SIMPLIFY_JOB_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/optimize/summary.h"
#include "rlc/rewrite/pipeline.h"

namespace rlc {

struct SimplifyRequest {
  std::string input, output;  // paths, "-" for stdin / stdout
  PipelineOptions pipeline;
  int check = 0;  // compare outputs on this many random inputs; 0: do not run anything
  std::map<std::string, std::vector<int64_t>> shapes;  // shapes to run with, for inputs with free dimensions
  uint64_t seed = 0;
  bool external_data = false;
};

struct CheckResult {
  int runs = 0;
  double largest_relative_rms = 0;  // over all outputs and runs; integers and strings must be equal
};

struct SimplifyResult {
  ModelSummary before, after;
  PipelineReport report;
  std::optional<CheckResult> check;
};

// Reads, simplifies, checks if asked, writes. A model that is simplified already is written as it was, byte for byte.
// Error kCheckFailed: an output differs by more than the class of exact rewrites allows (nothing is written).
Expected<SimplifyResult> SimplifyFile(const SimplifyRequest& request);

Json ToJson(const SimplifyResult& result);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_SIMPLIFY_JOB_H_
