#include "rlc/rewrite/plan.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "rlc/rewrite/inferred_types.h"
#include "rlc/rewrite/regions.h"

namespace rlc {
namespace {

Expected<void> RunSimplify(Model& model, const Action& action, const Services& services) {
  PipelineOptions options;
  const Json& values = action.params.values;
  RLC_RETURN_IF_ERROR(RefuseUnknownFields(values, {"only", "skip"}));
  if (values.contains("only")) {
    RLC_ASSIGN_OR_RETURN(options.only, GetStrings(values, "only"));
  }
  if (values.contains("skip")) {
    RLC_ASSIGN_OR_RETURN(options.skip, GetStrings(values, "skip"));
  }
  RLC_RETURN_IF_ERROR(Simplify(model, services, options));
  return {};
}

Expected<void> RaiseOpset(Model& model, const Action& action, const Services& services) {
  int target = 0;
  const char* end = action.site.data() + action.site.size();
  const auto [rest, error] = std::from_chars(action.site.data(), end, target);
  if (error != std::errc() || rest != end || target < 1) {
    return MakeError(ErrorKind::kInvalidInput, "site '{}' is no operator set version", action.site);
  }
  if (model.graph.opset() >= target) return {};
  if (!services.convert_opset) return MakeError(ErrorKind::kUnavailable, "nothing here can convert operator sets");
  RLC_ASSIGN_OR_RETURN(model, services.convert_opset(model, target));
  return {};
}

Expected<void> RunCompileRegions(Model& model, const Action& action, const Services& services) {
  RegionOptions options;
  RLC_RETURN_IF_ERROR(RefuseUnknownFields(action.params.values, {"forms"}));
  if (action.params.values.contains("forms")) {
    RLC_ASSIGN_OR_RETURN(options.forms, FormsFromJson(action.params.values.at("forms")));
  }
  RLC_ASSIGN_OR_RETURN(model, CompileRegions(model, options, services));
  return {};
}

Expected<void> RunOne(Model& model, const Rewrite& rule, const Action& action, const Services& services) {
  Graph& graph = model.graph;
  const bool whole = rule.info().whole_graph;
  const NodeId anchor = whole ? NodeId::kNone : rule.FindAnchor(graph, action.site);
  if (anchor == NodeId::kNone && !whole) {
    return MakeError(ErrorKind::kInvalidInput,
                     "the graph has no site '{}'; the plan is for another model or in another order", action.site);
  }
  InferredTypes types(graph, /*body=*/false);
  RLC_RETURN_IF_ERROR(types.Refresh(graph, services.types));
  RewriteContext context;
  context.evaluator = services.evaluator;
  context.ir_version = model.ir_version;
  const Outcome outcome = rule.At(graph, anchor, action.params, context);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    return MakeError(ErrorKind::kInvalidInput, "refused because {}", refusal->reason);
  }
  const auto* edit = std::get_if<Edit>(&outcome);
  if (edit == nullptr) {
    return MakeError(ErrorKind::kInvalidInput, "there is nothing to rewrite at '{}'; the plan is for another model",
                     action.site);
  }
  (*edit)(graph);
  RLC_RETURN_IF_ERROR(types.Refresh(graph, services.types));
  types.Restore(graph);
  return {};
}

Expected<void> ApplyAction(Model& model, const Action& action, const Services& services) {
  if (action.rewrite == "simplify") {
    if (action.site != "*") return MakeError(ErrorKind::kInvalidInput, "simplify has the site '*' only");
    return RunSimplify(model, action, services);
  }
  if (action.rewrite == "raise-opset") return RaiseOpset(model, action, services);
  if (action.rewrite == kCompileRegions) {
    if (action.site != "*") return MakeError(ErrorKind::kInvalidInput, "compile-regions has the site '*' only");
    return RunCompileRegions(model, action, services);
  }
  const Rewrite* rule = FindRewrite(action.rewrite);
  if (rule == nullptr) {
    return MakeError(ErrorKind::kInvalidInput, "there is no rewrite '{}'; the plan may be from a newer version",
                     action.rewrite);
  }
  if (action.site != "*") return RunOne(model, *rule, action, services);
  if (rule->info().exactness != Exactness::kExact) {
    return MakeError(ErrorKind::kInvalidInput, "only exact rewrites can have the site '*'");
  }
  RLC_RETURN_IF_ERROR(ApplyEverywhere(model.graph, *rule, services));
  return {};
}

}  // namespace

std::string Action::Name() const {
  std::string name = rewrite + "@" + site;
  const auto append = [&](std::string_view key) {
    const auto found = params.values.find(key);
    if (found == params.values.end()) return;
    if (found->is_string()) name += " " + found->get<std::string>();
    if (found->is_number()) name += fmt::format(" {}", found->get<double>());
  };
  for (const std::string_view key : {"scheme", "sparsity", "implementation"}) append(key);
  return name;
}

Expected<Model> ApplyPlan(const Model& model, const Plan& plan, const Services& services) {
  Model result = model;
  for (size_t i = 0; i < plan.actions.size(); ++i) {
    const auto done = ApplyAction(result, plan.actions[i], services);
    if (!done) {
      return WithContext(done.error(), fmt::format("plan, action {} ({})", i, plan.actions[i].Name()));
    }
  }
  return result;
}

}  // namespace rlc
