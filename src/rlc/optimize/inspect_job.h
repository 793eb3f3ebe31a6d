// rlc inspect: what is in a model, and what the runtime makes of it.
#ifndef RLC_OPTIMIZE_INSPECT_JOB_H_
#define RLC_OPTIMIZE_INSPECT_JOB_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/optimize/summary.h"
#include "rlc/ort/runtime_graph.h"
#include "rlc/rewrite/pipeline.h"

namespace rlc {

struct InspectRequest {
  std::string input;
  bool graph = false;                     // text form of the graph
  std::optional<OptLevel> runtime_level;  // what ONNX Runtime makes of it at this level
  std::string save_runtime_graph;         // path; empty: not saved
};

struct LayerRow {
  int number = -1;
  std::string name, signature;
  int64_t macs = -1;
  std::string ran_as;  // with runtime_level: "QLinearConv (int8)", ...
};

struct InspectResult {
  ModelSummary summary;
  std::vector<std::string> inputs, outputs;  // "x float[1,3,N,N]"
  std::vector<LayerRow> layers;
  std::map<std::string, int> could_apply;  // exact rules and how often they apply, run to a fixed point
  ModelSummary simplified;
  std::string graph_text;
  std::optional<ModelSummary> runtime;  // of the runtime's own graph
  std::string runtime_version;
};

Expected<InspectResult> InspectFile(const InspectRequest& request);

Json ToJson(const InspectResult& result);
std::string ToText(const InspectResult& result);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_INSPECT_JOB_H_
