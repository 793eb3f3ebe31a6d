#include "rlc/rewrite/match.h"

#include <algorithm>
#include <cmath>

namespace rlc {

std::optional<double> ScalarConstant(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.constant(value);
  if (tensor == nullptr || tensor->size() != 1) return std::nullopt;
  const Expected<std::vector<double>> elements = tensor->ToDoubles();
  if (!elements) return std::nullopt;
  const bool wide = tensor->dtype() == DType::kInt64 || tensor->dtype() == DType::kUint64;
  if (wide && std::abs(elements->front()) > 0x1p53) return std::nullopt;  // the double may be another number
  return elements->front();
}

bool IsAll(const Graph& graph, ValueId value, double wanted) {
  const Tensor* tensor = graph.constant(value);
  if (tensor == nullptr || tensor->size() == 0) return false;
  const Expected<std::vector<double>> elements = tensor->ToDoubles();
  return elements && std::all_of(elements->begin(), elements->end(), [&](double e) { return e == wanted; });
}

std::optional<std::vector<int64_t>> IntsConstant(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.constant(value);
  if (tensor == nullptr || tensor->rank() > 1 || !IsInteger(tensor->dtype())) return std::nullopt;
  Expected<std::vector<int64_t>> elements = tensor->ToInt64s();
  if (!elements) return std::nullopt;
  return *std::move(elements);
}

bool IsAbsentOrEmpty(const Graph& graph, ValueId value) {
  if (value == ValueId::kNone) return true;
  const Tensor* tensor = graph.constant(value);
  return tensor != nullptr && tensor->size() == 0;
}

std::optional<std::vector<int64_t>> StaticShape(const Graph& graph, ValueId value) {
  if (value == ValueId::kNone) return std::nullopt;
  const Type& type = graph.type(value);
  if (!type.is_tensor() || !type.shape) return std::nullopt;
  return StaticDims(*type.shape);
}

DType ElementType(const Graph& graph, ValueId value) {
  if (value == ValueId::kNone || !graph.type(value).is_tensor()) return DType::kUndefined;
  return graph.type(value).elem;
}

bool SameShape(const Graph& graph, ValueId a, ValueId b) {
  const Type& left = graph.type(a);
  const Type& right = graph.type(b);
  if (left.rank() < 0 || left.rank() != right.rank()) return false;
  for (size_t i = 0; i < left.shape->size(); ++i) {
    if (!(*left.shape)[i].SameAs((*right.shape)[i])) return false;
  }
  return true;
}

bool BroadcastsInto(const Shape& b, const Shape& a) {
  if (b.size() > a.size()) return false;
  const size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    if (b[i].value != 1 && !b[i].SameAs(a[offset + i])) return false;
  }
  return true;
}

bool KeepsShape(const Graph& graph, ValueId constant, ValueId value) {
  const Tensor* tensor = graph.constant(constant);
  if (tensor == nullptr) return false;
  if (tensor->rank() == 0) return true;
  const Type& type = graph.type(value);
  if (type.rank() < 0) return false;
  Shape shape;
  for (const int64_t dim : tensor->dims()) shape.push_back(Dim::Of(dim));
  return BroadcastsInto(shape, *type.shape);
}

std::optional<int64_t> NormalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

const Node* ProducerIs(const Graph& graph, ValueId value, std::string_view op) {
  if (value == ValueId::kNone) return nullptr;
  const Node* producer = graph.producer(value);
  return producer != nullptr && producer->Is(op) && graph.value(value).output == 0 ? producer : nullptr;
}

NodeId ProducerId(const Graph& graph, ValueId value) {
  return value == ValueId::kNone ? NodeId::kNone : graph.value(value).producer;
}

bool OnlyReaderIs(const Graph& graph, ValueId value, NodeId reader) { return graph.SingleReader(value) == reader; }

bool OutputsUnread(const Graph& graph, const Node& node, size_t first) {
  for (size_t i = first; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != ValueId::kNone && graph.HasReaders(node.outputs[i])) return false;
  }
  return true;
}

bool IsInferenceDropout(const Graph& graph, const Node& node) {
  const int opset = graph.opset();
  if (opset < 7) return node.GetInt("is_test", 0) == 1;
  if (opset < 12 || node.input(2) == ValueId::kNone) return true;
  const std::optional<double> training = ScalarConstant(graph, node.input(2));
  return training == 0.0;
}

bool IsInferenceBatchNorm(const Graph& graph, const Node& node) {
  const int opset = graph.opset();
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != ValueId::kNone) return false;
  }
  // Before opset 9, spatial=0 gives each pixel its own statistics; before 7, is_test tells the mode.
  if (opset < 9 && node.GetInt("spatial", 1) != 1) return false;
  if (opset < 7) return node.GetInt("is_test", 0) == 1;
  return opset < 14 || node.GetInt("training_mode", 0) == 0;
}

bool IsRandom(const Graph& graph, const Node& node) {
  static constexpr std::string_view kRandom[] = {"RandomNormal",      "RandomNormalLike", "RandomUniform",
                                                 "RandomUniformLike", "Multinomial",      "Bernoulli"};
  if (!node.domain.empty()) return false;
  if (std::find(std::begin(kRandom), std::end(kRandom), node.op) != std::end(kRandom)) return true;
  return node.op == "Dropout" && !IsInferenceDropout(graph, node);
}

bool TouchesQuantization(const Graph& graph, ValueId value) {
  const auto quantizes = [](const Node& node) { return node.Is("QuantizeLinear") || node.Is("DequantizeLinear"); };
  const Node* producer = graph.producer(value);
  if (producer != nullptr && quantizes(*producer)) return true;
  const std::vector<Use>& uses = graph.value(value).uses;
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return quantizes(graph.node(use.node)); });
}

}  // namespace rlc
