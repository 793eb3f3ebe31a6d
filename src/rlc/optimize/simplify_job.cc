#include "rlc/optimize/simplify_job.h"

#include <utility>

#include "rlc/base/file.h"
#include "rlc/data/npz.h"
#include "rlc/measure/tensor_array.h"
#include "rlc/onnx/convert.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/fix_shapes.h"
#include "rlc/onnx/import.h"
#include "rlc/onnx/inline_functions.h"
#include "rlc/optimize/compare.h"
#include "rlc/optimize/services.h"

namespace rlc {
namespace {

Expected<std::vector<NamedTensor>> OwnInputs(const Model& model, const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path));
  std::vector<NamedTensor> inputs;
  for (const ValueId id : model.graph.inputs()) {
    const Value& input = model.graph.value(id);
    if (input.kind == Value::Kind::kOverridable && !file.Has(input.name)) continue;
    RLC_ASSIGN_OR_RETURN(const StoredArray stored, file.Get(input.name));
    inputs.push_back({input.name, ToTensor(stored.Load())});
  }
  return inputs;
}

Expected<CheckResult> CheckSame(const Model& before, const Model& after, const SimplifyRequest& request) {
  CompareInputs inputs = {.random_runs = request.check,
                          .shapes = request.shapes,
                          .bounds = IntegerBounds(before.graph),
                          .seed = request.seed};
  if (!request.check_inputs.empty()) {
    RLC_ASSIGN_OR_RETURN(std::vector<NamedTensor> own, OwnInputs(before, request.check_inputs));
    inputs.own.push_back(std::move(own));
  }
  RLC_ASSIGN_OR_RETURN(const std::string old_bytes, SerializeModel(before));
  RLC_ASSIGN_OR_RETURN(const std::string new_bytes, SerializeModel(after));
  RLC_ASSIGN_OR_RETURN(const auto deviations, CompareModels(old_bytes, new_bytes, inputs));
  const OutputDeviation largest = Largest(deviations);
  if (largest.relative_rms > kExactTolerance) {
    return MakeError(ErrorKind::kCheckFailed,
                     "{}: {}; nothing was written. Please report this model; --skip RULE leaves a rule out, --explain "
                     "lists what was applied",
                     request.input, DescribeDeviation(largest));
  }
  return CheckResult{inputs.runs(), largest.relative_rms};
}

// A file as it is, with no more of it in memory than a piece.
Expected<void> CopyFile(const std::string& from, const std::string& to) {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  RLC_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(from));
  RLC_ASSIGN_OR_RETURN(AtomicFile copy, AtomicFile::Create(to));
  for (std::span<const std::byte> left = file->bytes(); !left.empty();) {
    const auto piece = left.first(std::min(left.size(), kPieceBytes));
    RLC_RETURN_IF_ERROR(copy.Write(piece));
    file->DropPages(piece);
    left = left.subspan(piece.size());
  }
  return copy.Commit();
}

// What the user wants changed besides the graph's inside. True: something was.
Expected<bool> ChangeInterface(Model& model, const SimplifyRequest& request) {
  bool changed = false;
  if (request.inline_functions && !model.functions.empty()) {
    RLC_ASSIGN_OR_RETURN(model, InlineFunctions(model));
    changed = true;
  }
  if (const int opset = model.graph.opset(); request.opset > 0 && request.opset != opset) {
    if (request.opset < opset) {
      return MakeError(ErrorKind::kUsage, "{} has opset {}, and rlc only raises it: --opset {} is lower", request.input,
                       opset, request.opset);
    }
    RLC_ASSIGN_OR_RETURN(model, ConvertOpset(model, request.opset));
    changed = true;
  }
  if (!request.fix_shapes.empty()) {
    RLC_RETURN_IF_ERROR(FixShapes(model, request.fix_shapes));
    changed = true;
  }
  return changed;
}

}  // namespace

Expected<SimplifyResult> SimplifyFile(const SimplifyRequest& request) {
  RLC_ASSIGN_OR_RETURN(Model model, ReadModel(request.input));
  SimplifyResult result;
  result.before = Summarize(model);
  std::optional<Model> original;
  if (request.check > 0 || !request.check_inputs.empty()) original = model;
  RLC_ASSIGN_OR_RETURN(result.interface_changed, ChangeInterface(model, request));
  StandardServices services(model);
  RLC_ASSIGN_OR_RETURN(result.report, Simplify(model, services.get(), request.pipeline));
  result.after = Summarize(model);
  if (original) {
    RLC_ASSIGN_OR_RETURN(result.check, CheckSame(*original, model, request));
  }
  const bool whole = request.input != "-" && !model.external_data && !request.external_data;
  if (!result.changed() && whole && CopyFile(request.input, request.output)) return result;
  RLC_RETURN_IF_ERROR(WriteModel(model, request.output, {.external_data = request.external_data}));
  return result;
}

Json ToJson(const SimplifyResult& result) {
  const auto events = [](const std::vector<RewriteEvent>& list) {
    Json json = Json::array();
    for (const RewriteEvent& event : list) {
      Json row = {{"rule", event.rule}, {"site", event.site}};
      if (!event.reason.empty()) row["reason"] = event.reason;
      json.push_back(std::move(row));
    }
    return json;
  };
  Json json = {{"before", ToJson(result.before)},
               {"after", ToJson(result.after)},
               {"changed", result.changed()},
               {"rounds", result.report.rounds},
               {"applied", events(result.report.applied)},
               {"refused", events(result.report.refused)}};
  if (result.check) {
    json["check"] = {{"runs", result.check->runs}, {"largest_relative_rms", result.check->largest_relative_rms}};
  }
  return json;
}

}  // namespace rlc
