#include "rlc/rewrite/shape_values.h"

#include <algorithm>
#include <map>
#include <utility>

#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"

namespace rlc {
namespace {

constexpr size_t kMaxElements = 64;
// Nodes looked at for one value: more than any exporter writes, little enough for graphs built to be slow.
constexpr int kMaxNodes = 256;
constexpr int kMaxSteps = 1000;  // the same for tracing one size

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

// One size of one value.
struct Place {
  ValueId value = ValueId::kNone;
  int64_t axis = 0;
};

bool Broadcasts(const Node& node) {
  static constexpr std::string_view kOps[] = {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max"};
  return std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

// The inputs of a broadcasting node that decide about the size of its result along `axis`; empty when not known.
std::vector<Place> Deciding(const Graph& graph, const Node& node, int64_t axis) {
  int64_t rank = 0;
  for (const ValueId input : node.inputs) {
    if (input == ValueId::kNone || graph.type(input).rank() < 0) return {};
    rank = std::max<int64_t>(rank, graph.type(input).rank());
  }
  std::vector<Place> places;
  for (const ValueId input : node.inputs) {
    const Shape& shape = *graph.type(input).shape;
    const int64_t place = axis - rank + static_cast<int64_t>(shape.size());
    if (place >= 0 && shape[static_cast<size_t>(place)].value != 1) places.push_back({input, place});
  }
  return places;
}

// Where Transpose, Concat, Slice, Reshape and the Reduce ops take a size from that they do not change.
std::vector<Place> Moved(const Graph& graph, const Node& node, int64_t axis) {
  const ValueId x = node.input(0);
  const int rank = graph.type(x).rank();
  const auto touches = [&](const std::vector<int64_t>& axes) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](int64_t a) { return NormalizeAxis(a, rank).value_or(axis) == axis; });
  };
  if (node.op == "Transpose") {
    const auto perm = ReadPermutation(graph, node);
    if (perm && axis < static_cast<int64_t>(perm->size())) return {{x, (*perm)[static_cast<size_t>(axis)]}};
  } else if (node.op == "Reshape") {
    const auto form = ReadReshape(graph, node);
    const bool there = form && axis < static_cast<int64_t>(form->target.size()) && axis < rank;
    if (there && form->zero_copies && form->target[static_cast<size_t>(axis)] == 0) return {{x, axis}};
  } else if (node.op == "Gather" && rank > 0 && graph.type(node.input(1)).rank() >= 0) {
    const auto along = NormalizeAxis(node.GetInt("axis", 0).value_or(rank), rank);
    const int64_t indices = graph.type(node.input(1)).rank();
    if (along && axis < *along) return {{x, axis}};
    if (along && axis >= *along + indices && axis < rank + indices - 1) return {{x, axis - indices + 1}};
  } else if (rank > axis && node.op == "Concat") {
    const auto along = node.GetInt("axis", graph.opset() < 4 ? 1 : 0);
    if (along && !touches({*along})) return {{x, axis}};
  } else if (rank > axis && node.op == "Slice") {
    const auto form = ReadSlice(graph, node);
    if (form && !touches(form->axes)) return {{x, axis}};
  } else if (rank > axis && node.op.starts_with("Reduce") && node.GetInt("keepdims", 1) == 1) {
    const auto axes = ReadAxes(graph, node, AxesInputSince(node));
    if (axes && *axes && !(*axes)->empty() && !touches(**axes)) return {{x, axis}};
  }
  return {};
}

// Rows come from the first input, batches too where the second is a matrix.
std::vector<Place> MatMulOrigins(const Graph& graph, const Node& node, int64_t axis) {
  const int64_t left = graph.type(node.inputs[0]).rank(), right = graph.type(node.inputs[1]).rank();
  if (left < 2 || right < 2) return {};
  const int64_t place = axis - std::max(left, right) + left;
  if (place == left - 2) return {{node.inputs[0], place}};
  if (right == 2 && axis < left - 2) return {{node.inputs[0], axis}};
  return {};
}

// The sizes that the size of the node's first output along `axis` is equal to.
std::vector<Place> OriginsOf(const Graph& graph, const Node& node, int64_t axis) {
  const ValueId x = node.input(0);
  if (!node.domain.empty() || x == ValueId::kNone) return {};
  if (KeepsShapeOfInput(node)) return {{x, axis}};
  if (Broadcasts(node) && graph.opset() >= 7) return Deciding(graph, node, axis);
  const bool batched = node.op == "Conv" || node.op == "ConvTranspose" || node.op.ends_with("ePool") ||
                       node.op.ends_with("xPool") || node.op == "LpPool" || node.op == "GlobalLpPool";
  if (axis == 0 && batched) return {{x, 0}};
  if (axis == 0 && node.op == "Gemm" && node.GetInt("transA", 0) == 0) return {{x, 0}};
  if (node.op == "MatMul" && node.inputs.size() == 2) return MatMulOrigins(graph, node, axis);
  return Moved(graph, node, axis);
}

class SizeTracer {
 public:
  explicit SizeTracer(const Graph& graph) : graph_(graph) {}

  ShapeElement Trace(Place at) {
    while (budget_-- > 0) {
      const Type& type = graph_.type(at.value);
      if (at.axis < type.rank()) {
        const Dim& dim = (*type.shape)[static_cast<size_t>(at.axis)];
        if (dim.known()) return {dim.value, ValueId::kNone, 0, 1};
      }
      const Node* producer = graph_.producer(at.value);
      if (producer == nullptr || graph_.value(at.value).output != 0) break;
      const std::vector<Place> origins = OriginsOf(graph_, *producer, at.axis);
      if (origins.empty()) break;
      if (origins.size() > 1) return TraceAll(at, origins);
      at = origins[0];
    }
    return {std::nullopt, at.value, at.axis, 1};
  }

 private:
  // Where several inputs meet: what they agree on, else the place itself. Remembered, or sums of sums would take
  // exponential time.
  ShapeElement TraceAll(const Place& at, const std::vector<Place>& origins) {
    const auto key = std::pair(at.value, at.axis);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    ShapeElement result = Trace(origins[0]);
    for (size_t i = 1; i < origins.size(); ++i) {
      if (!SameElement(graph_, result, Trace(origins[i]))) {
        result = {std::nullopt, at.value, at.axis, 1};
        break;
      }
    }
    known_[key] = result;
    return result;
  }

  const Graph& graph_;
  std::map<std::pair<ValueId, int64_t>, ShapeElement> known_;
  int budget_ = kMaxSteps;
};

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

// Products with numbers, element by element; of lists of the same length or with a single element.
std::optional<ShapeValue> ReadProduct(const Graph& graph, const Node& node, int& budget) {
  if (node.inputs.size() != 2 || graph.opset() < 7) return std::nullopt;
  auto left = Read(graph, node.inputs[0], budget);
  auto right = Read(graph, node.inputs[1], budget);
  if (!left || !right || left->scalar != right->scalar || left->elements.size() != right->elements.size()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < left->elements.size(); ++i) {
    ShapeElement& a = left->elements[i];
    const ShapeElement& b = right->elements[i];
    if (!a.known() || !b.known() || (!a.number && !b.number)) return std::nullopt;
    const ShapeElement& size = a.number ? b : a;
    const int64_t number = a.number ? *a.number : *b.number;
    ShapeElement product = size;
    int64_t& target = product.number ? *product.number : product.factor;
    if (number < 0 || target < 0 || __builtin_mul_overflow(target, number, &target)) return std::nullopt;
    a = product;
  }
  return left;
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
    for (const int64_t number : *list) result.elements.push_back({number, ValueId::kNone, 0, 1});
    return result;
  }
  const Node* node = graph.producer(value);
  if (node == nullptr || !node->domain.empty() || graph.value(value).output != 0) return std::nullopt;
  --budget;
  if (node->op == "Shape") return ReadShape(graph, *node);
  if (node->op == "Gather") return ReadGather(graph, *node, budget);
  if (node->op == "Slice") return ReadSliced(graph, *node, budget);
  if (node->op == "Concat") return ReadConcat(graph, *node, budget);
  if (node->op == "Mul") return ReadProduct(graph, *node, budget);
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

ShapeElement SizeOf(const Graph& graph, ValueId value, int64_t axis) { return SizeTracer(graph).Trace({value, axis}); }

bool SameElement(const Graph& graph, const ShapeElement& a, const ShapeElement& b) {
  if (!a.known() || !b.known()) return false;
  if (a.number || b.number) return a.number == b.number;
  if (a.factor != b.factor) return false;
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
