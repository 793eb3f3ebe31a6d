#include "rlc/ir/region_ops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "rlc/base/format.h"

namespace rlc {
namespace {

using Reason = std::optional<std::string>;

constexpr int64_t kLargest = 1 << 20;  // of a kernel, stride, dilation or pad
constexpr int64_t kMostDimensions = 5;

const Shape* ShapeOf(const Graph& graph, ValueId value) {
  const Type& type = graph.type(value);
  return type.is_tensor() && type.shape ? &*type.shape : nullptr;
}

size_t RankOf(const Graph& graph, ValueId value) { return ShapeOf(graph, value)->size(); }

// Each dimension of `b`, counted from the last, is 1 or provably that of `a`.
bool BroadcastsTo(const Shape& b, const Shape& a) {
  if (b.size() > a.size()) return false;
  for (size_t i = 1; i <= b.size(); ++i) {
    const Dim& mine = b[b.size() - i];
    if (mine.value != 1 && !mine.SameAs(a[a.size() - i])) return false;
  }
  return true;
}

bool IsFloatTensor(const Tensor* tensor) { return tensor != nullptr && tensor->dtype() == DType::kFloat; }

Reason CheckConv(const Graph& graph, const Node& node, const ConstantOf& constant) {
  const Tensor* weights = constant(node.input(1));
  if (!IsFloatTensor(weights) || weights->rank() != 4) return "its weights are not a constant float[O,I,H,W]";
  if (RankOf(graph, node.inputs[0]) != 4) return "its input has not four dimensions";
  const auto& dims = weights->dims();
  if (!ReadWindow(node, {dims[2], dims[3]})) return "its pads depend on the input's size, or its attributes are odd";
  const auto group = node.GetInt("group", 1);
  if (!group || *group < 1 || dims[0] % *group != 0 || dims[0] < 1 || dims[1] < 1) return "its group is odd";
  const ValueId bias = node.input(2);
  if (bias != ValueId::kNone) {
    const Tensor* tensor = constant(bias);
    if (!IsFloatTensor(tensor) || tensor->size() != dims[0]) return "its bias is not constant";
  }
  return std::nullopt;
}

// Runtimes differ in what becomes of a last window that would begin in the pads: none may be there.
bool CeilIsClear(const Graph& graph, const Node& node, const SpatialWindow& window) {
  const Shape& shape = *ShapeOf(graph, node.inputs[0]);
  for (size_t i = 0; i < 2; ++i) {
    const Dim& dim = shape[2 + i];
    if (!dim.known()) return false;
    const int64_t room = dim.value + window.pads[i] + window.pads[2 + i] - window.kernel[i];
    if (room < 0) return false;
    const int64_t last = (room + window.strides[i] - 1) / window.strides[i] * window.strides[i];
    if (last >= dim.value + window.pads[i]) return false;
  }
  return true;
}

Reason CheckPool(const Graph& graph, const Node& node, const ConstantOf&) {
  if (RankOf(graph, node.inputs[0]) != 4) return "its input has not four dimensions";
  if (node.outputs.size() > 1) return "it has a second output";
  const auto window = ReadWindow(node);
  if (!window) return "its pads depend on the input's size, or its attributes are odd";
  if (window->dilations != std::vector<int64_t>{1, 1}) return "its window is dilated";
  const bool ceil = node.GetInt("ceil_mode", 0) != 0;
  if (ceil && node.GetInt("count_include_pad", 0) != 0) return "ceil_mode is set, and pads count";
  if (ceil && !CeilIsClear(graph, node, *window)) return "ceil_mode is set, and runtimes differ in its last window";
  for (size_t i = 0; i < 4; ++i) {
    if (window->pads[i] >= window->kernel[i % 2]) return "a window may lie in the pads altogether";
  }
  return std::nullopt;
}

Reason CheckBatchNorm(const Graph& graph, const Node& node, const ConstantOf& constant) {
  if (RankOf(graph, node.inputs[0]) != 4) return "its input has not four dimensions";
  if (node.inputs.size() != 5 || graph.opset() < 9) return "it is of an old form";
  if (node.GetInt("training_mode", 0) != 0) return "it is in training mode";
  if (!node.GetFloat("epsilon", 1e-5F)) return "its attributes are odd";
  const Dim& channels = (*ShapeOf(graph, node.inputs[0]))[1];
  for (size_t i = 1; i < 5; ++i) {
    const Tensor* tensor = constant(node.inputs[i]);
    if (!IsFloatTensor(tensor) || tensor->size() != channels.value) return "its statistics are not constant";
  }
  return std::nullopt;
}

Reason CheckBinary(const Graph& graph, const Node& node, const ConstantOf& constant) {
  const Shape& a = *ShapeOf(graph, node.inputs[0]);
  const Shape& b = *ShapeOf(graph, node.inputs[1]);
  if (constant(node.inputs[0]) != nullptr && constant(node.inputs[1]) != nullptr) return "both operands are constant";
  const bool commutes = node.op == "Add" || node.op == "Mul";
  if (BroadcastsTo(b, a) && constant(node.inputs[0]) == nullptr) return std::nullopt;
  if (commutes && BroadcastsTo(a, b) && constant(node.inputs[1]) == nullptr) return std::nullopt;
  return "its operands' shapes are not known to broadcast";
}

Reason CheckConcat(const Graph& graph, const Node& node, const ConstantOf&) {
  const auto rank = static_cast<int64_t>(RankOf(graph, node.inputs[0]));
  const auto axis = node.GetInt("axis", std::numeric_limits<int64_t>::max());
  if (!axis || *axis < -rank || *axis >= rank) return "its axis is not one of its input's";
  if (rank != 4 || (*axis != 1 && *axis != -3)) return "it does not join channels";
  if (node.inputs.size() > 64) return "it has more than 64 inputs";
  return std::nullopt;
}

Reason CheckReduceMean(const Graph& graph, const Node& node, const ConstantOf& constant) {
  if (RankOf(graph, node.inputs[0]) != 4) return "its input has not four dimensions";
  const auto axes = ReadAxes(node, 4, constant);
  if (axes != std::vector<int64_t>{2, 3}) return "it does not average over height and width";
  return std::nullopt;
}

Reason CheckGemm(const Graph& graph, const Node& node, const ConstantOf& constant) {
  if (RankOf(graph, node.inputs[0]) != 2) return "its input is not a matrix";
  const Tensor* weights = constant(node.input(1));
  if (!IsFloatTensor(weights) || weights->rank() != 2) return "its weights are not a constant matrix";
  if (node.op == "MatMul") return std::nullopt;
  if (node.GetInt("transA", 0) != 0 || node.GetFloat("alpha", 1) != 1.0F || node.GetFloat("beta", 1) != 1.0F) {
    return "it scales, or turns its input";
  }
  const auto turned = node.GetInt("transB", 0);
  if (!turned) return "transB is odd";
  const ValueId bias = node.input(2);
  if (bias == ValueId::kNone) return std::nullopt;
  const Tensor* tensor = constant(bias);
  const int64_t out = weights->dims()[*turned != 0 ? 0 : 1];
  if (!IsFloatTensor(tensor) || tensor->size() != out || tensor->rank() > 2) return "its bias is not a constant row";
  if (tensor->rank() == 2 && tensor->dims()[0] != 1) return "its bias is not a constant row";
  return std::nullopt;
}

Reason CheckFlatten(const Graph&, const Node& node, const ConstantOf&) {
  if (node.GetInt("axis", 1) != 1) return "its axis is not 1";
  return std::nullopt;
}

Reason CheckReshape(const Graph&, const Node& node, const ConstantOf& constant) {
  const Tensor* shape = node.inputs.size() == 2 ? constant(node.inputs[1]) : nullptr;
  if (shape == nullptr || shape->dtype() != DType::kInt64) return "its shape is not constant";
  if (shape->rank() != 1 || shape->size() < 1 || shape->size() > kMostDimensions) return "its shape is odd";
  if (node.GetInt("allowzero", 0) != 0) return "allowzero is set";
  return std::nullopt;
}

Reason CheckSoftmax(const Graph& graph, const Node& node, const ConstantOf&) {
  const int64_t absent = graph.opset() >= 13 ? -1 : 1;
  const auto axis = node.GetInt("axis", absent);
  if (RankOf(graph, node.inputs[0]) != 2 || (axis != 1 && axis != -1)) return "it is not over the rows of a matrix";
  return std::nullopt;
}

Reason CheckClip(const Graph& graph, const Node& node, const ConstantOf& constant) {
  if (!ReadClip(graph, node, constant)) return "its bounds are not constant";
  return std::nullopt;
}

Reason CheckFloats(const Graph&, const Node& node, const ConstantOf&) {
  for (const char* name : {"alpha", "beta"}) {
    if (!node.GetFloat(name, 0)) return "its attributes are odd";
  }
  return std::nullopt;
}

Reason CheckGelu(const Graph&, const Node& node, const ConstantOf&) {
  if (node.GetString("approximate", "none") != "none") return "it is the approximate one";
  return std::nullopt;
}

Reason Always(const Graph&, const Node&, const ConstantOf&) { return std::nullopt; }

struct Row {
  size_t data_inputs;  // leading inputs that must be float tensors of known rank; 0: all
  Reason (*check)(const Graph&, const Node&, const ConstantOf&);
};

const std::map<std::string_view, Row>& Table() {
  static const std::map<std::string_view, Row> table = {
      {"Add", {2, CheckBinary}},      {"AveragePool", {1, CheckPool}},    {"BatchNormalization", {1, CheckBatchNorm}},
      {"Clip", {1, CheckClip}},       {"Concat", {0, CheckConcat}},       {"Conv", {1, CheckConv}},
      {"Div", {2, CheckBinary}},      {"Flatten", {1, CheckFlatten}},     {"Gelu", {1, CheckGelu}},
      {"Gemm", {1, CheckGemm}},       {"GlobalAveragePool", {1, Always}}, {"HardSigmoid", {1, CheckFloats}},
      {"HardSwish", {1, Always}},     {"LeakyRelu", {1, CheckFloats}},    {"MatMul", {1, CheckGemm}},
      {"MaxPool", {1, CheckPool}},    {"Mul", {2, CheckBinary}},          {"ReduceMean", {1, CheckReduceMean}},
      {"Relu", {1, Always}},          {"Reshape", {1, CheckReshape}},     {"Sigmoid", {1, Always}},
      {"Softmax", {1, CheckSoftmax}}, {"Sub", {2, CheckBinary}},          {"Tanh", {1, Always}},
  };
  return table;
}

Reason CheckValue(const Graph& graph, ValueId value) {
  if (value == ValueId::kNone) return "an input is absent";
  if (graph.type(value).elem != DType::kFloat) return "it does not compute with float tensors";
  const Shape* shape = ShapeOf(graph, value);
  if (shape == nullptr) return "the rank of a value is not known";
  if (shape->empty() || static_cast<int64_t>(shape->size()) > kMostDimensions)
    return "a value has no dimension, or more than five";
  const bool empty = std::any_of(shape->begin(), shape->end(), [](const Dim& dim) { return dim.value == 0; });
  if (empty) return "a value has no elements";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyNotInRegion(const Graph& graph, const Node& node, const ConstantOf& constant) {
  const auto row = Table().find(node.op);
  if (!node.domain.empty() || row == Table().end()) return "rlc has no kernel for " + node.op;
  const size_t count = row->second.data_inputs == 0 ? node.inputs.size() : row->second.data_inputs;
  if (count == 0 || node.inputs.size() < count || node.outputs.empty()) return "it has too few inputs or outputs";
  for (size_t i = 0; i < count; ++i) {
    if (Reason reason = CheckValue(graph, node.inputs[i])) return reason;
  }
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != ValueId::kNone) return "it has a second output";
  }
  const bool pool = node.op == "GlobalAveragePool";
  if (pool && RankOf(graph, node.inputs[0]) != 4) return "its input has not four dimensions";
  return row->second.check(graph, node, constant);
}

std::optional<SpatialWindow> ReadWindow(const Node& node, const std::vector<int64_t>& kernel) {
  const auto auto_pad = node.GetString("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return std::nullopt;
  auto given = node.GetInts("kernel_shape", kernel);
  auto strides = node.GetInts("strides", {1, 1});
  auto dilations = node.GetInts("dilations", {1, 1});
  auto pads = node.GetInts("pads", {0, 0, 0, 0});
  if (!given || !strides || !dilations || !pads) return std::nullopt;
  if (!kernel.empty() && *given != kernel) return std::nullopt;
  if (given->size() != 2 || strides->size() != 2 || dilations->size() != 2 || pads->size() != 4) return std::nullopt;
  if (auto_pad == "VALID") pads = std::vector<int64_t>(4, 0);
  const auto within = [](const std::vector<int64_t>& list, int64_t lowest) {
    return std::all_of(list.begin(), list.end(), [&](int64_t x) { return x >= lowest && x <= kLargest; });
  };
  if (!within(*given, 1) || !within(*strides, 1) || !within(*dilations, 1) || !within(*pads, 0)) return std::nullopt;
  return SpatialWindow{*std::move(given), *std::move(strides), *std::move(dilations), *std::move(pads)};
}

int64_t PooledSize(int64_t input, int64_t kernel, int64_t stride, int64_t pad_before, int64_t pad_after, bool ceil) {
  const int64_t room = input + pad_before + pad_after - kernel;
  return room < 0 ? 0 : (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

std::optional<Bounds> ReadClip(const Graph& graph, const Node& node, const ConstantOf& constant) {
  constexpr float kMost = std::numeric_limits<float>::max();
  if (graph.opset() < 11) {
    const auto low = node.GetFloat("min", -kMost), high = node.GetFloat("max", kMost);
    if (!low || !high) return std::nullopt;
    return Bounds{*low, *high};
  }
  Bounds bounds{-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
  const auto read = [&](size_t index, float& bound) {
    if (node.input(index) == ValueId::kNone) return true;
    const Tensor* tensor = constant(node.input(index));
    if (!IsFloatTensor(tensor) || tensor->size() != 1) return false;
    bound = tensor->data<float>()[0];
    return bound == bound;
  };
  if (!read(1, bounds.low) || !read(2, bounds.high)) return std::nullopt;
  return bounds;
}

std::optional<std::vector<int64_t>> ReadAxes(const Node& node, int64_t rank, const ConstantOf& constant) {
  std::vector<int64_t> axes;
  if (node.input(1) != ValueId::kNone) {
    const Tensor* tensor = constant(node.input(1));
    if (tensor == nullptr) return std::nullopt;
    auto values = tensor->ToInt64s();
    if (!values) return std::nullopt;
    axes = *std::move(values);
  } else {
    auto values = node.GetInts("axes");
    if (!values) return std::nullopt;
    axes = *std::move(values);
  }
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) return std::nullopt;
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace rlc
