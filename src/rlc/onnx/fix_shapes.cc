#include "rlc/onnx/fix_shapes.h"

#include <algorithm>
#include <utility>

#include "rlc/base/format.h"
#include "rlc/onnx/infer_types.h"

namespace rlc {
namespace {

// "N" -> 4
using Sizes = std::map<std::string, int64_t>;

Expected<void> FixInput(Graph& graph, const std::string& name, const std::vector<int64_t>& dims, Sizes& sizes) {
  const auto& inputs = graph.inputs();
  const ValueId id = graph.Find(name);
  if (std::find(inputs.begin(), inputs.end(), id) == inputs.end()) {
    return MakeError(ErrorKind::kUsage, "the model has no input '{}' whose shape could be fixed", name);
  }
  Type type = graph.type(id);
  const auto refuse = [&] {
    return MakeError(ErrorKind::kUsage, "input '{}' is {}, which cannot have the shape {}", name,
                     ToString(graph.type(id)), FormatShape(dims));
  };
  if (!type.is_tensor()) return refuse();
  if (!type.shape) type.shape = Shape(dims.size());
  if (type.shape->size() != dims.size()) return refuse();
  for (size_t i = 0; i < dims.size(); ++i) {
    Dim& dim = (*type.shape)[i];
    if (dims[i] < 0 || (dim.known() && dim.value != dims[i])) return refuse();
    if (!dim.known() && !dim.symbol.empty() && sizes.emplace(dim.symbol, dims[i]).first->second != dims[i]) {
      return MakeError(ErrorKind::kUsage, "input '{}': dimension '{}' would be {} and {}", name, dim.symbol,
                       sizes.at(dim.symbol), dims[i]);
    }
    dim.value = dims[i];
    dim.symbol.clear();
  }
  graph.SetType(id, std::move(type));
  return {};
}

void Substitute(Graph& graph, ValueId id, const Sizes& sizes) {
  Type type = graph.type(id);
  if (!type.is_tensor() || !type.shape) return;
  for (Dim& dim : *type.shape) {
    const auto size = dim.known() ? sizes.end() : sizes.find(dim.symbol);
    if (size == sizes.end()) continue;
    dim.value = size->second;
    dim.symbol.clear();
  }
  graph.SetType(id, std::move(type));
}

// What the outputs are, by inference. Types of the interface are never touched by it, so it is asked about copies.
Expected<std::vector<Type>> InferredOutputs(const Model& model) {
  Graph graph = model.graph;
  std::vector<ValueId> copies;
  for (const ValueId output : model.graph.outputs()) {
    copies.push_back(graph.AddValue(graph.UniqueName("copy")));
    Node node;
    node.op = "Identity";
    node.inputs = {output};
    node.outputs = {copies.back()};
    graph.AddNode(std::move(node));
  }
  RLC_RETURN_IF_ERROR(OnnxTypeInference(model).InferTypes(graph));
  std::vector<Type> types;
  for (const ValueId copy : copies) types.push_back(graph.type(copy));
  return types;
}

}  // namespace

Expected<void> FixShapes(Model& model, const std::map<std::string, std::vector<int64_t>>& shapes) {
  Model fixed = model;
  Graph& graph = fixed.graph;
  Sizes sizes;
  for (const auto& [name, dims] : shapes) RLC_RETURN_IF_ERROR(FixInput(graph, name, dims, sizes));
  for (const ValueId id : graph.inputs()) Substitute(graph, id, sizes);
  for (const ValueId id : graph.outputs()) Substitute(graph, id, sizes);
  RLC_ASSIGN_OR_RETURN(const std::vector<Type> outputs, InferredOutputs(fixed));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].is_tensor() && outputs[i].shape) graph.SetType(graph.outputs()[i], outputs[i]);
  }
  RLC_RETURN_IF_ERROR(OnnxTypeInference(fixed).InferTypes(graph));
  model = std::move(fixed);
  return {};
}

}  // namespace rlc
