// Plans: everything that turns a given model into the optimized one.
#ifndef RLC_REWRITE_PLAN_H_
#define RLC_REWRITE_PLAN_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"
#include "rlc/rewrite/pipeline.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {

// One step. rewrite "simplify" with site "*": all exact rules to a fixed point (params.values may hold "only" and
// "skip"). rewrite "raise-opset", site "13": the model in that operator set (services.convert_opset); nothing if it is
// there already. "compile-regions", site "*": rlc/rewrite/regions.h; params.values may hold "forms", an object of form
// names by layer number. Any rewrite with site "*": that rule over all its sites. Otherwise one rewrite at one site.
struct Action {
  std::string rewrite;
  std::string site;
  Params params;

  // "quantize-layer@layer3 u8s8": stable, readable, the name shown everywhere.
  std::string Name() const;
};

struct Plan {
  std::string model_hash;  // of the file it was made for (rlc/base/hash.h), lower-case hex
  std::vector<Action> actions;
  Json provenance = Json::object();  // tool version, machine, data, seed: never read when applying
};

// Reads PATH; large arrays come from the safetensors file beside it, looked up and checked by content hash.
Expected<Plan> ReadPlan(const std::string& path);
// Parses the JSON part; `arrays` by content hash. Outside bytes: bounded, every field checked.
Expected<Plan> ParsePlan(std::string_view json, const std::map<std::string, Tensor>& arrays);
// Writes PATH and, if there are large arrays, PATH with ".safetensors" for ".json". Both atomically.
Expected<void> WritePlan(const Plan& plan, const std::string& path);

// A pure function of model and plan: same bytes out for same bytes in. Error: an action whose site or rewrite does not
// exist or that its guard refuses (names the action's place in the plan). Unlike Simplify, skips nothing silently.
Expected<Model> ApplyPlan(const Model& model, const Plan& plan, const Services& services);

}  // namespace rlc

#endif  // RLC_REWRITE_PLAN_H_
