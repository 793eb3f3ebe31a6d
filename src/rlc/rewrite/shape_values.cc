#include "rlc/rewrite/shape_values.h"

#include <algorithm>

#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"

namespace rlc {
namespace {

constexpr size_t kMaxElements = 64;
// Nodes looked at for one value: more than any exporter writes, little enough for graphs built to be slow.
constexpr int kMaxNodes = 256;

// Ops whose first output has the shape of their first input, whatever the values.
bool KeepsShapeOfInput(const Node& node) {
  static constexpr std::string_view kOps[] = {"Abs",
                                              "Acos",
                                              "Asin",
                                              "Atan",
                                              "Cast",
                                              "Ceil",
                                              "Celu",
                                              "Clip",
                                              "Cos",
                                              "Cosh",
                                              "CumSum",
                                              "Elu",
                                              "Erf",
                                              "Exp",
                                              "Floor",
                                              "Gelu",
                                              "HardSigmoid",
                                              "HardSwish",
                                              "Identity",
                                              "IsInf",
                                              "IsNaN",
                                              "LeakyRelu",
                                              "Log",
                                              "LogSoftmax",
                                              "LayerNormalization",
                                              "BatchNormalization",
                                              "InstanceNormalization",
                                              "Mish",
                                              "Neg",
                                              "Not",
                                              "Dropout",
                                              "Reciprocal",
                                              "Relu",
                                              "Round",
                                              "Selu",
                                              "Sigmoid",
                                              "Sign",
                                              "Sin",
                                              "Sinh",
                                              "Softmax",
                                              "Softplus",
                                              "Softsign",
                                              "Sqrt",
                                              "Tan",
                                              "Tanh",
                                              "ThresholdedRelu"};
  return node.domain.empty() && std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

std::optional<ShapeValue> Read(const Graph& graph, ValueId value, int& budget);

std::optional<ShapeValue> ReadShape(const Graph& graph, const Node& node) {
  const int64_t rank = graph.type(node.input(0)).rank();
  if (rank < 0 || rank > static_cast<int64_t>(kMaxElements)) return std::nullopt;
  int64_t start = node.GetInt("start", 0).value_or(0);
  int64_t end = node.GetInt("end", rank).value_or(rank);
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, 0, rank);
  ShapeValue shape;
  for (int64_t axis = start; axis < end; ++axis) shape.elements.push_back(SizeOf(graph, node.input(0), axis));
  return shape;
}

std::optional<ShapeValue> ReadGather(const Graph& graph, const Node& node, int& budget) {
  auto data = Read(graph, node.input(0), budget);
  const Tensor* indices = graph.constant(node.input(1));
  if (!data || data->scalar || indices == nullptr || indices->rank() > 1 || indices->size() > 64) return std::nullopt;
  const auto axis = node.GetInt("axis", 0);
  if (!axis || (*axis != 0 && *axis != -1)) return std::nullopt;
  const auto list = indices->ToInt64s();
  if (!list) return std::nullopt;
  ShapeValue result;
  result.scalar = indices->rank() == 0;
  for (const int64_t index : *list) {
    const auto place = NormalizeAxis(index, static_cast<int64_t>(data->elements.size()));
    if (!place) return std::nullopt;
    result.elements.push_back(data->elements[static_cast<size_t>(*place)]);
  }
  return result;
}

std::optional<ShapeValue> ReadSliced(const Graph& graph, const Node& node, int& budget) {
  auto data = Read(graph, node.input(0), budget);
  const auto form = ReadSlice(graph, node);
  if (!data || data->scalar || !form || form->starts.size() != 1 || form->steps[0] != 1) return std::nullopt;
  const auto size = static_cast<int64_t>(data->elements.size());
  const auto place = [&](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size); };
  const int64_t start = place(form->starts[0]);
  const int64_t end = std::max(start, place(std::clamp(form->ends[0], -size - 1, size)));
  ShapeValue result;
  result.elements.assign(data->elements.begin() + start, data->elements.begin() + end);
  return result;
}

std::optional<ShapeValue> ReadConcat(const Graph& graph, const Node& node, int& budget) {
  ShapeValue result;
  for (const ValueId input : node.inputs) {
    const auto part = Read(graph, input, budget);
    if (!part || part->scalar) return std::nullopt;
    result.elements.insert(result.elements.end(), part->elements.begin(), part->elements.end());
    if (result.elements.size() > kMaxElements) return std::nullopt;
  }
  return result;
}

// A single element changes between rank 0 and 1; other axes are not followed.
std::optional<ShapeValue> ReadRankChange(const Graph& graph, const Node& node, int& budget) {
  auto data = Read(graph, node.input(0), budget);
  const auto axes = ReadAxes(graph, node, 13);
  if (!data || data->elements.size() != 1 || !axes) return std::nullopt;
  const bool squeezes = node.op == "Squeeze";
  const bool one_axis = *axes ? (*axes)->size() == 1 : squeezes;
  if (!one_axis || data->scalar == squeezes) return std::nullopt;
  data->scalar = squeezes;
  return data;
}

std::optional<ShapeValue> Read(const Graph& graph, ValueId value, int& budget) {
  if (value == ValueId::kNone || budget <= 0) return std::nullopt;
  if (const Tensor* tensor = graph.constant(value)) {
    if (tensor->rank() > 1 || tensor->size() > static_cast<int64_t>(kMaxElements)) return std::nullopt;
    if (!IsInteger(tensor->dtype())) return std::nullopt;
    const auto list = tensor->ToInt64s();
    if (!list) return std::nullopt;
    ShapeValue result;
    result.scalar = tensor->rank() == 0;
    for (const int64_t number : *list) result.elements.push_back({number, ValueId::kNone, 0});
    return result;
  }
  const Node* node = graph.producer(value);
  if (node == nullptr || !node->domain.empty() || graph.value(value).output != 0) return std::nullopt;
  --budget;
  if (node->op == "Shape") return ReadShape(graph, *node);
  if (node->op == "Gather") return ReadGather(graph, *node, budget);
  if (node->op == "Slice") return ReadSliced(graph, *node, budget);
  if (node->op == "Concat") return ReadConcat(graph, *node, budget);
  if (node->op == "Squeeze" || node->op == "Unsqueeze") return ReadRankChange(graph, *node, budget);
  // A size that did not fit into int32 would have no tensor that has it (PaddlePaddle casts there and back).
  const auto to = static_cast<DType>(node->op == "Cast" ? node->GetInt("to", 0).value_or(0) : 0);
  const bool integer_cast = to == DType::kInt64 || to == DType::kInt32;
  if (node->op == "Identity" || integer_cast) return Read(graph, node->input(0), budget);
  return std::nullopt;
}

}  // namespace

std::optional<ShapeValue> ReadShapeValue(const Graph& graph, ValueId value) {
  int budget = kMaxNodes;
  return Read(graph, value, budget);
}

ShapeElement SizeOf(const Graph& graph, ValueId value, int64_t axis) {
  for (int steps = 0; steps < 1000; ++steps) {
    const Type& type = graph.type(value);
    if (axis < type.rank()) {
      const Dim& dim = (*type.shape)[static_cast<size_t>(axis)];
      if (dim.known()) return {dim.value, ValueId::kNone, 0};
    }
    const Node* producer = graph.producer(value);
    if (producer == nullptr || !KeepsShapeOfInput(*producer) || graph.value(value).output != 0) break;
    if (producer->input(0) == ValueId::kNone) break;
    value = producer->input(0);
  }
  return {std::nullopt, value, axis};
}

bool SameElement(const Graph& graph, const ShapeElement& a, const ShapeElement& b) {
  if (!a.known() || !b.known()) return false;
  if (a.number || b.number) return a.number == b.number;
  if (a.source == b.source && a.axis == b.axis) return true;
  const auto dim = [&](const ShapeElement& element) -> const Dim* {
    const Type& type = graph.type(element.source);
    return element.axis < type.rank() ? &(*type.shape)[static_cast<size_t>(element.axis)] : nullptr;
  };
  const Dim* left = dim(a);
  const Dim* right = dim(b);
  return left != nullptr && right != nullptr && left->SameAs(*right);
}

}  // namespace rlc
