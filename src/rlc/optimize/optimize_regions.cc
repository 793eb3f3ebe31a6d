// rlc optimize, compiled regions: every layer timed in every form inside the compiled network, the best ones chosen.

#include <algorithm>
#include <set>

#include "rlc/base/format.h"
#include "rlc/kernels/conv_form.h"
#include "rlc/measure/region_profile.h"
#include "rlc/onnx/export.h"
#include "rlc/optimize/latency_tables.h"
#include "rlc/optimize/optimize_run.h"
#include "rlc/rewrite/regions.h"

namespace rlc {
namespace {

// A form must beat oneDNN's direct one by this much, so that noise chooses nothing.
constexpr double kMargin = 0.97;
constexpr double kProfileSeconds = 1.5;  // of one form, all layers

using Forms = std::map<int, std::string>;

std::vector<ConvForm> WantedForms(const ActionKinds& kinds) {
  std::vector<ConvForm> forms = {ConvForm::kDirect};
  if (kinds.winograd) forms.insert(forms.end(), {ConvForm::kWinograd2, ConvForm::kWinograd4});
  if (kinds.bf16) forms.push_back(ConvForm::kBf16);
  return forms;
}

std::vector<int> Convolutions(const Graph& graph) {
  std::vector<int> layers;
  for (const NodeId id : graph.nodes()) {
    if (graph.node(id).Is("Conv") && graph.node(id).layer >= 0) layers.push_back(graph.node(id).layer);
  }
  return layers;
}

// Layers that really are computed in that form: where a kernel cannot, it falls back to the direct one.
std::set<int> LayersComputedAs(ConvForm form, const std::vector<ProfiledStep>& steps) {
  const bool winograd = form == ConvForm::kWinograd2 || form == ConvForm::kWinograd4;
  std::set<int> layers;
  for (const ProfiledStep& step : steps) {
    if (!winograd || step.step.implementation.starts_with("Winograd")) layers.insert(step.step.layer);
  }
  return layers;
}

// The fastest form of each layer among `allowed`; layers for which it is the direct one are left out.
Forms Fastest(const std::map<int, std::map<std::string, double>>& ms, const std::vector<ConvForm>& allowed) {
  Forms forms;
  for (const auto& [layer, by_form] : ms) {
    const auto direct = by_form.find(std::string(ConvFormName(ConvForm::kDirect)));
    if (direct == by_form.end()) continue;
    double best = kMargin * direct->second;
    for (const ConvForm form : allowed) {
      const auto found = by_form.find(std::string(ConvFormName(form)));
      if (form == ConvForm::kDirect || found == by_form.end() || found->second >= best) continue;
      best = found->second;
      forms[layer] = found->first;
    }
  }
  return forms;
}

std::string CountForms(const Forms& forms) {
  std::map<std::string, int> counts;
  for (const auto& [layer, form] : forms) ++counts[form];
  std::string text;
  for (const auto& [form, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, form);
  return text.empty() ? "all direct" : text;
}

void AddVariant(OptimizeRun& run, const std::vector<Action>& before, const Forms& forms, bool exact,
                std::string_view what) {
  const bool known = std::any_of(run.region_variants.begin(), run.region_variants.end(),
                                 [&](const RegionVariant& variant) { return variant.forms == forms; });
  if (known) return;
  RegionVariant variant;
  variant.description = fmt::format("compiled regions, {} ({})", what, CountForms(forms));
  variant.exact = exact;
  variant.forms = forms;
  variant.plan.model_hash = run.hash;
  variant.plan.actions = before;
  Action action{std::string(kCompileRegions), "*", {}};
  Json by_layer = Json::object();
  for (const auto& [layer, form] : forms) by_layer[std::to_string(layer)] = form;
  if (!forms.empty()) action.params.values["forms"] = std::move(by_layer);
  variant.plan.actions.push_back(std::move(action));
  run.region_variants.push_back(std::move(variant));
}

}  // namespace

Expected<void> ChooseForms(OptimizeRun& run) {
  if (!run.kinds.region || run.request.stop.StopRequested()) return {};
  Plan plan;
  if (run.kinds.fuse) plan.actions.push_back({"simplify", "*", {}});
  RLC_ASSIGN_OR_RETURN(const Model plain, ApplyPlan(run.model, plan, run.services->get()));
  RLC_ASSIGN_OR_RETURN(const Model prepared, WithInputShapes(plain, run.data->timing_inputs));
  const std::vector<int> layers = Convolutions(prepared.graph);
  const std::vector<ConvForm> wanted = WantedForms(run.kinds);
  for (size_t i = 0; i < wanted.size() && !run.request.stop.StopRequested(); ++i) {
    const std::string form(ConvFormName(wanted[i]));
    Report(ProgressOf(run), {"compiled regions", static_cast<double>(i), static_cast<double>(wanted.size()), 0, form});
    RegionOptions options;
    for (const int layer : layers) options.forms[layer] = form;
    RLC_ASSIGN_OR_RETURN(const Model compiled, CompileRegions(prepared, options, run.services->get()));
    if (!HasRegions(compiled)) {
      run.warnings.push_back("no part of the model can be compiled into a region");
      return {};
    }
    const std::string path = JoinPath(run.folder->path(), "region_" + form + ".onnx");
    RLC_RETURN_IF_ERROR(WriteModel(compiled, path));
    ChildLimits limits;
    limits.stop = run.request.stop;
    const auto steps = ProfileRegionsInChild(path, kProfileSeconds, limits);
    if (!steps) {
      run.warnings.push_back(fmt::format("layers were not timed as {}: {}", form, steps.error().message));
      continue;
    }
    const std::set<int> as_wanted = LayersComputedAs(wanted[i], *steps);
    for (const auto& [layer, ms] : MsByLayer(*steps)) {
      if (as_wanted.contains(layer)) run.form_ms[layer][form] = ms;
    }
  }
  AddVariant(run, plan.actions, {}, /*exact=*/true, "float");
  if (run.kinds.winograd) {
    AddVariant(run, plan.actions, Fastest(run.form_ms, {ConvForm::kWinograd2, ConvForm::kWinograd4}), true, "float");
  }
  if (run.kinds.bf16) {
    AddVariant(run, plan.actions, Fastest(run.form_ms, wanted), false, "bfloat16 where faster");
    Forms all;
    for (const int layer : layers) all[layer] = ConvFormName(ConvForm::kBf16);
    AddVariant(run, plan.actions, all, false, "bfloat16");
  }
  return {};
}

}  // namespace rlc
