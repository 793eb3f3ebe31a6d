// Compiled regions: the parts of a model that rlc runs itself, as calls of model-local functions.
//
//   y = Relu(Conv(x, w, b))   ->   y = rlc.Region0<program="...">(x, w, b)
//   with   function rlc.Region0(x, w, b) => (y) { c = Conv(x, w, b)   y = Relu(c) }
//
// A runtime without our library inlines the function, whose body is the plain subgraph; with librlc_ops.so registered,
// the operator of the same name runs the program instead.
#ifndef RLC_REWRITE_REGIONS_H_
#define RLC_REWRITE_REGIONS_H_

#include <map>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/json.h"
#include "rlc/ir/model.h"
#include "rlc/rewrite/pipeline.h"

namespace rlc {

inline constexpr std::string_view kRegionDomain = "rlc";
inline constexpr std::string_view kCompileRegions = "compile-regions";  // the action, with the site "*"
// librlc_ops.so registers Region0 ... Region255; more would silently be inlined.
inline constexpr size_t kMostRegions = 256;

struct RegionOptions {
  // How a layer is computed, by its number (ConvFormName); those not named are "direct".
  std::map<int, std::string> forms;
};

// {"3": "winograd4"}. Error: a key that is no layer number, or a value that is no string.
Expected<std::map<int, std::string>> FormsFromJson(const Json& json);

// Nodes that may become one region each: connected, every node one that rlc compiles, no way out of the set and back
// in, at least one layer. In topological order. Types must have been inferred.
std::vector<std::vector<NodeId>> FindRegions(const Graph& graph);

// Compiles all of them (the first 256). The IR version is raised to 8 if need be. Error, kInvalidInput: an unknown
// form, a layer that is not there, or the model has regions already; kUnavailable: `services` cannot add functions.
Expected<Model> CompileRegions(const Model& model, const RegionOptions& options, const Services& services);

// True if the model calls compiled regions.
bool HasRegions(const Model& model);

}  // namespace rlc

#endif  // RLC_REWRITE_REGIONS_H_
