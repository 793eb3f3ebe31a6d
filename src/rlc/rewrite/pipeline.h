// Runs exact rewrites over a graph until none of them applies.
#ifndef RLC_REWRITE_PIPELINE_H_
#define RLC_REWRITE_PIPELINE_H_

#include <functional>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {

// Services of higher layers. `types` is needed; rules that ask for shapes see what it inferred last.
struct Services {
  TypeInference* types = nullptr;
  ConstantEvaluator* evaluator = nullptr;
  // Raises the operator set (rlc/onnx/convert.h), for the action "raise-opset". Empty: such plans are refused.
  std::function<Expected<Model>(const Model&, int)> convert_opset;
  // Adds the model-local function DOMAIN.NAME with that body and those attributes (rlc/onnx/add_function.h), for the
  // action "compile-regions". Empty: such plans are refused.
  std::function<Expected<void>(Model&, const std::string& domain, const std::string& name, const Graph& body,
                               const std::vector<std::string>& attributes)>
      add_function;
};

struct PipelineOptions {
  std::vector<std::string> only;  // rule ids; empty: all exact ones
  std::vector<std::string> skip;
  int64_t fold_limit = 1 << 20;  // bytes by which one fold may make the constants larger
  int64_t growth_limit = -1;     // the same for all folds together; -1: a sixteenth of the model's constants and 2 KB
  bool fold = true;              // false: no constant folding
};

// One rewrite that was made, or refused.
struct RewriteEvent {
  std::string rule, site, reason;  // reason: only for refusals
};

struct PipelineReport {
  std::vector<RewriteEvent> applied;  // in order
  std::vector<RewriteEvent> refused;  // near misses in the final graph
  int rounds = 0;
  bool changed() const { return !applied.empty(); }
};

// Applies the exact rules to a fixed point. A round asks the rules that look at the whole graph, then goes over the
// nodes in topological order and asks every other rule at each; then types are inferred anew. Bodies of If, Loop and
// Scan are simplified in the same way. Rounds are capped. Only inferred types are believed, never those that the file
// records or declares for outputs; the interface keeps its declared types. Error: unknown rule id in the options
// (kUsage), or a graph that contradicts itself.
Expected<PipelineReport> Simplify(Graph& graph, const Services& services, const PipelineOptions& options = {});
// The same for a model. One whose functions redefine ONNX's own operators is left as it is: no node means what it says.
Expected<PipelineReport> Simplify(Model& model, const Services& services, const PipelineOptions& options = {});

// The same for one rule, over all its sites ("*").
Expected<PipelineReport> ApplyEverywhere(Graph& graph, const Rewrite& rule, const Services& services);

}  // namespace rlc

#endif  // RLC_REWRITE_PIPELINE_H_
