// rlc diff: what is different between two models.
#ifndef RLC_OPTIMIZE_DIFF_JOB_H_
#define RLC_OPTIMIZE_DIFF_JOB_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/json.h"
#include "rlc/ir/model.h"
#include "rlc/optimize/summary.h"

namespace rlc {

// Something that both models, or one of them, have under a name. Empty: this model does not have it.
struct Difference {
  std::string name;
  std::string before, after;
};

struct DiffResult {
  ModelSummary before, after;
  std::vector<Difference> model;      // IR version, opsets, functions, metadata
  std::vector<Difference> interface;  // inputs and outputs, with types, and their order
  std::vector<Difference> nodes;      // by name of the first output, as text; in the order of the models
  std::vector<Difference> constants;  // by name; type, shape and a hash of the contents
  // Nothing at all differs, as far as rlc looks: not names and doc strings of nodes and values, or the order of
  // independent nodes and of the list of operator sets.
  bool same() const { return model.empty() && interface.empty() && nodes.empty() && constants.empty(); }
};

DiffResult Diff(const Model& before, const Model& after);
// Errors: those of ReadModel.
Expected<DiffResult> DiffFiles(const std::string& before, const std::string& after);

Json ToJson(const DiffResult& result);
std::string ToText(const DiffResult& result);  // "-" and "+" lines, then the table of operators

}  // namespace rlc

#endif  // RLC_OPTIMIZE_DIFF_JOB_H_
