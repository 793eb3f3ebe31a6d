#include "rlc/measure/calibrate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "rlc/onnx/export.h"

namespace rlc {
namespace {

// Sizes that the first batch gives to named dimensions, and a guess for nameless ones.
struct Sizes {
  std::map<std::string, int64_t> symbols;
  int64_t rows = 1;
};

Sizes SizesOf(const Graph& graph, std::span<const NamedTensor> batch) {
  Sizes sizes;
  for (const NamedTensor& input : batch) {
    const ValueId id = graph.Find(input.name);
    const std::vector<int64_t>& dims = input.tensor.dims();
    if (!dims.empty()) sizes.rows = std::max(sizes.rows, dims.front());
    if (id == ValueId::kNone || !graph.type(id).shape || graph.type(id).shape->size() != dims.size()) continue;
    for (size_t i = 0; i < dims.size(); ++i) {
      const Dim& dim = (*graph.type(id).shape)[i];
      if (!dim.known() && !dim.symbol.empty()) sizes.symbols[dim.symbol] = dims[i];
    }
  }
  return sizes;
}

int64_t EstimateBytes(const Type& type, const Sizes& sizes) {
  constexpr int64_t kUnknown = int64_t{64} << 20;
  if (!type.is_tensor() || !type.shape) return kUnknown;
  std::vector<int64_t> dims;
  for (const Dim& dim : *type.shape) {
    const auto symbol = sizes.symbols.find(dim.symbol);
    dims.push_back(dim.known() ? dim.value : symbol != sizes.symbols.end() ? symbol->second : sizes.rows);
  }
  return ByteSize(type.elem, dims).value_or(kUnknown);
}

// Values that are taken in one pass over the data.
std::vector<std::vector<std::string>> Passes(const Graph& graph, const std::vector<std::string>& values,
                                             const Sizes& sizes, int64_t max_bytes) {
  std::vector<std::vector<std::string>> passes;
  int64_t held = 0;
  for (const std::string& value : values) {
    const int64_t bytes = EstimateBytes(graph.type(graph.Find(value)), sizes);
    if (passes.empty() || held + bytes > max_bytes) {
      passes.emplace_back();
      held = 0;
    }
    held += bytes;
    passes.back().push_back(value);
  }
  return passes;
}

Expected<Session> SessionFor(const Model& model, const std::vector<std::string>& values,
                             const CalibrationOptions& options) {
  Model extended = model;
  Graph& graph = extended.graph;
  for (const std::string& value : values) {
    const ValueId id = graph.Find(value);
    if (!graph.is_output(id)) graph.AddOutput(id);
  }
  RLC_ASSIGN_OR_RETURN(const std::string bytes, SerializeModel(extended));
  SessionOptions session;
  session.level = options.level;
  session.threads = options.threads;
  session.flush_denormals = false;
  return Session::FromBytes(bytes, "calibration", session);
}

// One pass; `values` may be empty (then only inputs are shown). Returns the number of batches.
Expected<int64_t> Stream(const Model& model, const std::vector<std::string>& values,
                         const std::set<std::string>& inputs, const BatchSource& batches, const OnTensor& on_tensor,
                         const CalibrationOptions& options) {
  std::optional<Session> session;
  if (!values.empty()) {
    RLC_ASSIGN_OR_RETURN(session, SessionFor(model, values, options));
  }
  for (int64_t index = 0;; ++index) {
    if (options.stop.StopRequested()) return MakeError(ErrorKind::kInterrupted, "calibration was interrupted");
    RLC_ASSIGN_OR_RETURN(const std::vector<NamedTensor> batch, batches(index));
    if (batch.empty()) return index;
    for (const NamedTensor& input : batch) {
      if (inputs.contains(input.name)) RLC_RETURN_IF_ERROR(on_tensor(input.name, input.tensor));
    }
    if (!session) continue;
    RLC_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, session->Run(batch, values));
    for (size_t i = 0; i < values.size(); ++i) RLC_RETURN_IF_ERROR(on_tensor(values[i], tensors[i]));
  }
}

}  // namespace

Expected<int64_t> StreamValues(const Model& model, std::span<const std::string> values, const BatchSource& batches,
                               const OnTensor& on_tensor, const CalibrationOptions& options) {
  const Graph& graph = model.graph;
  std::vector<std::string> computed;
  std::set<std::string> inputs, seen;
  for (const std::string& name : values) {
    const ValueId id = graph.Find(name);
    if (id == ValueId::kNone) return MakeError(ErrorKind::kUsage, "the model has no value '{}' to calibrate", name);
    if (!seen.insert(name).second) continue;
    switch (graph.value(id).kind) {
      case Value::Kind::kInput:
        inputs.insert(name);
        break;
      case Value::Kind::kNode:
        computed.push_back(name);
        break;
      default:
        return MakeError(ErrorKind::kUsage, "'{}' is a constant; there is nothing to calibrate", name);
    }
  }
  RLC_ASSIGN_OR_RETURN(const std::vector<NamedTensor> first, batches(0));
  if (first.empty()) return 0;
  auto passes = Passes(graph, computed, SizesOf(graph, first), options.max_bytes);
  if (passes.empty()) passes.emplace_back();
  int64_t count = 0;
  for (const std::vector<std::string>& pass : passes) {
    RLC_ASSIGN_OR_RETURN(count, Stream(model, pass, inputs, batches, on_tensor, options));
    inputs.clear();  // shown once
  }
  return count;
}

}  // namespace rlc
