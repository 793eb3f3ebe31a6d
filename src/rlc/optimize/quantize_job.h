// rlc quantize: calibrated int8, all layers or some.
#ifndef RLC_OPTIMIZE_QUANTIZE_JOB_H_
#define RLC_OPTIMIZE_QUANTIZE_JOB_H_

#include <optional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/optimize/calibrate_model.h"
#include "rlc/optimize/data_setup.h"
#include "rlc/ort/runtime_graph.h"
#include "rlc/rewrite/plan.h"

namespace rlc {

struct QuantizeRequest {
  std::string input, output;
  std::string plan_path;  // empty: OUT with .plan.json
  DataRequest data;
  std::optional<Scheme> scheme;  // nothing: what this machine's kernels want
  RangeOptions range;
  std::vector<std::string> include;  // layers by number, node name or output name; empty: all
  std::vector<std::string> exclude;
  int threads = 1;
  StopToken stop;
};

struct QuantizedLayer {
  int number = -1;
  std::string name;
  bool planned = false;  // int8
  std::string refused;   // why it stays float, when it was asked for
  std::string ran_as;    // what the runtime runs, read back from it
  bool as_planned = false;
};

struct QuantizeResult {
  std::vector<QuantizedLayer> layers;
  Scheme scheme;
  size_t calibration_rows = 0;
  bool random_data = false;
  std::string runtime;  // version that was asked what runs
};

// The plan that quantizes the chosen layers of a model: raise the opset if needed, simplify, quantize. `refused` gets
// one entry for each chosen layer that cannot be quantized.
struct QuantizePlan {
  Plan plan;
  std::vector<QuantizedLayer> layers;
  size_t calibration_rows = 0;
};
Expected<QuantizePlan> PlanQuantization(const Model& model, const DataSetup& data, const QuantizeRequest& request,
                                        const Scheme& scheme);

// What comes before quantization in every plan: opset 13 for per-channel scales, then all exact rewrites.
std::vector<Action> QuantizationPrologue(const Model& model);

// Reads, calibrates, quantizes, reads back what the runtime makes of it, writes model and plan.
// Error kCheckFailed: a layer does not run as planned; nothing is written. kUsage: a layer name that does not exist.
Expected<QuantizeResult> QuantizeFile(const QuantizeRequest& request);

Json ToJson(const QuantizeResult& result);
std::string ToText(const QuantizeResult& result);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_QUANTIZE_JOB_H_
