#include "rlc/optimize/latency_tables.h"

#include <algorithm>
#include <limits>

#include "rlc/base/file.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/infer_types.h"

namespace rlc {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double Milliseconds(const LayerTables& tables, const std::string& signature, const std::string& form) {
  const Estimate* estimate = tables.Find(signature, form);
  return estimate == nullptr ? kUnknown : estimate->value;
}

// Entries in an order that covers the network evenly, so that a time limit leaves no part of it unknown.
std::vector<size_t> SpreadOrder(size_t count) {
  std::vector<size_t> order;
  for (size_t stride = 4; stride >= 1; --stride) {
    for (size_t i = 0; i < count; i += stride) {
      if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
    }
  }
  return order;
}

Expected<double> DropOf(const SensitivityRequest& request, const Candidate& candidate, const std::string& path) {
  const Plan plan = ToPlan(*request.catalogue, candidate, "");
  RLC_ASSIGN_OR_RETURN(const Model applied, ApplyPlan(*request.model, plan, request.services));
  RLC_RETURN_IF_ERROR(WriteModel(applied, path));
  RLC_ASSIGN_OR_RETURN(const Accuracy accuracy, request.judge->Judge(path, request.stop));
  return accuracy.drop.value;
}

void FillUnmeasured(const Catalogue& catalogue, std::vector<double>& drops) {
  for (const ActionType type : {ActionType::kFuseConvBn, ActionType::kPrune, ActionType::kQuantize}) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < drops.size(); ++i) {
      if (catalogue.entries[i].type == type && drops[i] == drops[i]) sum += drops[i], ++count;
    }
    for (size_t i = 0; i < drops.size(); ++i) {
      if (catalogue.entries[i].type == type && drops[i] != drops[i]) drops[i] = count > 0 ? sum / count : 0.0;
    }
  }
}

}  // namespace

Expected<Model> WithInputShapes(const Model& model, std::span<const NamedTensor> inputs) {
  Model fixed = model;
  for (const NamedTensor& input : inputs) {
    const ValueId id = fixed.graph.Find(input.name);
    if (id == ValueId::kNone) continue;
    Shape shape;
    for (int64_t dim : input.tensor.dims()) shape.push_back(Dim::Of(dim));
    fixed.graph.SetType(id, Type::Tensor(input.tensor.dtype(), std::move(shape)));
  }
  // The outputs' recorded dimensions were those of free inputs.
  for (ValueId id : fixed.graph.outputs()) {
    Type type = fixed.graph.type(id);
    if (!type.is_tensor() || !type.shape) continue;
    for (Dim& dim : *type.shape) {
      if (!dim.known()) dim = Dim{};
    }
    fixed.graph.SetType(id, std::move(type));
  }
  OnnxTypeInference types(model);
  RLC_RETURN_IF_ERROR(types.InferTypes(fixed.graph));
  return fixed;
}

Expected<std::vector<LayerTimes>> MeasureLayerTimes(const Model& prepared, const Catalogue& catalogue,
                                                    const std::string& machine, TrialStore& store,
                                                    const LayerTableOptions& options, const ProgressSink& progress) {
  std::vector<LayerShape> shapes(catalogue.layers.size());
  std::vector<LayerShape> known;
  for (size_t layer = 0; layer < shapes.size(); ++layer) {
    const NodeId id = FindLayer(prepared.graph, static_cast<int>(layer));
    if (id == NodeId::kNone) continue;
    if (const auto shape = DescribeLayer(prepared.graph, id)) shapes[layer] = *shape, known.push_back(*shape);
  }
  RLC_ASSIGN_OR_RETURN(const LayerTables tables, MeasureLayers(known, machine, store, options, progress));
  std::vector<LayerTimes> times;
  for (const LayerShape& shape : shapes) {
    if (shape.op.empty()) {
      times.push_back({kUnknown, kUnknown, kUnknown, kUnknown});
      continue;
    }
    const std::string signature = LayerSignature(shape);
    times.push_back({Milliseconds(tables, signature, "float"), Milliseconds(tables, signature, "int8"),
                     Milliseconds(tables, BorderSignature(shape.input), "quantize"),
                     Milliseconds(tables, BorderSignature(shape.output), "dequantize")});
  }
  return times;
}

Expected<std::vector<double>> MeasureSensitivities(const SensitivityRequest& request) {
  const size_t count = request.catalogue->entries.size();
  RLC_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create("rlc-sensitivity"));
  const std::string path = JoinPath(folder.path(), "candidate.onnx");
  RLC_ASSIGN_OR_RETURN(const double alone, DropOf(request, {}, path));
  std::vector<double> drops(count, kUnknown);
  const double started = request.clock();
  size_t done = 0;
  for (const size_t entry : SpreadOrder(count)) {
    if (request.stop.StopRequested() || request.clock() - started > request.seconds) break;
    const auto drop = DropOf(request, Normalized(*request.catalogue, {static_cast<int>(entry)}), path);
    if (!drop && drop.error().kind == ErrorKind::kInterrupted) break;
    drops[entry] = drop ? *drop - alone : 1.0;
    Report(request.progress,
           {"sensitivity", static_cast<double>(++done), static_cast<double>(count), request.clock(), ""});
  }
  FillUnmeasured(*request.catalogue, drops);
  return drops;
}

}  // namespace rlc
