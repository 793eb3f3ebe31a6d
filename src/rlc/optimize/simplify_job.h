// rlc simplify: exact rewrites only, and what they changed.
#ifndef RLC_OPTIMIZE_SIMPLIFY_JOB_H_
#define RLC_OPTIMIZE_SIMPLIFY_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/measure/inputs.h"
#include "rlc/optimize/summary.h"
#include "rlc/rewrite/pipeline.h"

namespace rlc {

struct SimplifyRequest {
  std::string input, output;  // paths, "-" for stdin / stdout
  PipelineOptions pipeline;
  int check = 0;             // compare outputs on this many random inputs; 0: do not run anything
  std::string check_inputs;  // .npz with an array for each input: compare on it, too; empty: none
  RunShapes shapes;          // shapes to run with, for inputs with free dimensions
  // What changes more than the graph's inside, each only on request and before the rewrites.
  RunShapes fix_shapes;           // new shapes of inputs, for good
  bool inline_functions = false;  // model-local functions become part of the graph
  int opset = 0;                  // raise ONNX's operator set to this version; 0: keep it
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
  bool interface_changed = false;  // by fix_shapes, inline_functions or opset
  std::optional<CheckResult> check;

  bool changed() const { return interface_changed || report.changed(); }
};

// Reads, simplifies, checks if asked, writes. A model that is simplified already is written as it was, byte for byte.
// Error kUsage: fix_shapes that do not fit, an opset below the model's. Error kUnavailable: an operator that the opset
// converter cannot convert. Error kCheckFailed: an output differs by more than the class of exact rewrites allows
// (nothing is written).
Expected<SimplifyResult> SimplifyFile(const SimplifyRequest& request);

Json ToJson(const SimplifyResult& result);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_SIMPLIFY_JOB_H_
