#include "rlc/ir/layers.h"

#include <algorithm>
#include <utility>

namespace rlc {
namespace {

// Most QuantizeLinear and DequantizeLinear nodes that stand between a constant and its layer.
constexpr int kMaxQuantizeSteps = 4;

// The constant that a weight comes from; kNone when it is computed.
ValueId WeightSource(const Graph& graph, ValueId weight) {
  for (int step = 0; step <= kMaxQuantizeSteps; ++step) {
    if (graph.constant(weight) != nullptr) return weight;
    const Node* producer = graph.producer(weight);
    if (producer == nullptr || !(producer->Is("DequantizeLinear") || producer->Is("QuantizeLinear"))) break;
    weight = producer->input(0);
  }
  return ValueId::kNone;
}

std::optional<std::vector<int64_t>> KnownDims(const Graph& graph, ValueId id) {
  if (id == ValueId::kNone) return std::nullopt;
  const Type& type = graph.type(id);
  return type.is_tensor() && type.shape ? StaticDims(*type.shape) : std::nullopt;
}

int64_t Product(const std::vector<int64_t>& factors) { return ElementCount(factors).value_or(-1); }

// Bound that keeps sums and products of a few sizes within int64.
constexpr int64_t kLimit = int64_t{1} << 30;

bool Within(const std::vector<int64_t>& values, int64_t low) {
  return std::all_of(values.begin(), values.end(), [&](int64_t value) { return value >= low && value < kLimit; });
}

// An attribute with one number for each spatial dimension (or two); nothing when it has another length.
std::optional<std::vector<int64_t>> Spatial(const Node& node, std::string_view name, size_t count, int64_t absent) {
  auto values = node.GetInts(name);
  if (!values) return std::nullopt;
  if (values->empty()) values->assign(count, absent);
  if (values->size() != count || !Within(*values, -kLimit)) return std::nullopt;
  return values;
}

std::optional<std::vector<int64_t>> ExplicitPads(const Node& node, const std::string& auto_pad, size_t spatial) {
  if (auto_pad == "VALID") return std::vector<int64_t>(2 * spatial, 0);
  return Spatial(node, "pads", 2 * spatial, 0);
}

// Splits what auto_pad pads over both sides.
std::pair<int64_t, int64_t> Split(int64_t total, bool more_at_end) {
  total = std::max<int64_t>(total, 0);
  const int64_t less = total / 2;
  return more_at_end ? std::pair(less, total - less) : std::pair(total - less, less);
}

// Sizes of one spatial dimension.
struct Window {
  int64_t kernel, stride, dilation;
  int64_t extent() const { return dilation * (kernel - 1) + 1; }
};

bool Sane(const LayerShape& shape) {
  return Within(shape.kernel, 1) && Within(shape.strides, 1) && Within(shape.dilations, 1) && Within(shape.input, 0) &&
         shape.group >= 1 && shape.group < kLimit;
}

Window WindowOf(const LayerShape& shape, size_t axis) {
  return {shape.kernel[axis], shape.strides[axis], shape.dilations[axis]};
}

// Explicit pads, or those that auto_pad means for this input; -1 where that is not known. False: contradictory.
bool FillConvPads(const Node& node, LayerShape& shape) {
  const size_t spatial = shape.kernel.size();
  const std::string mode = node.GetString("auto_pad", "NOTSET").value_or("NOTSET");
  if (mode == "NOTSET" || mode == "VALID") {
    const auto pads = ExplicitPads(node, mode, spatial);
    if (!pads) return false;
    shape.pads = *pads;
    return true;
  }
  shape.pads.assign(2 * spatial, -1);
  for (size_t i = 0; i < spatial && !shape.input.empty(); ++i) {
    const Window window = WindowOf(shape, i);
    const int64_t in = shape.input[i + 2];
    const int64_t out = (in + window.stride - 1) / window.stride;
    std::tie(shape.pads[i], shape.pads[i + spatial]) =
        Split((out - 1) * window.stride + window.extent() - in, mode == "SAME_UPPER");
  }
  return true;
}

void FillConvOutput(const Graph& graph, const Node& node, LayerShape& shape) {
  if (const auto dims = KnownDims(graph, node.output(0))) shape.output = *dims;
  if (!shape.output.empty() || shape.input.empty()) return;
  const size_t spatial = shape.kernel.size();
  std::vector<int64_t> output = {shape.input[0], shape.out_channels};
  for (size_t i = 0; i < spatial; ++i) {
    const Window window = WindowOf(shape, i);
    const int64_t room = shape.input[i + 2] + shape.pads[i] + shape.pads[i + spatial] - window.extent();
    if (room < 0) return;
    output.push_back(room / window.stride + 1);
  }
  shape.output = std::move(output);
}

// What pads and output of a ConvTranspose are when they follow from each other:
//   output = stride * (input - 1) + output_padding + extent - pads
bool FillTransposedPads(const Graph& graph, const Node& node, LayerShape& shape) {
  const size_t spatial = shape.kernel.size();
  const auto extra = Spatial(node, "output_padding", spatial, 0);
  auto wanted = node.GetInts("output_shape");
  if (!extra || !wanted || !Within(*wanted, 0)) return false;
  const std::string mode = node.GetString("auto_pad", "NOTSET").value_or("NOTSET");
  if (const auto dims = KnownDims(graph, node.output(0))) shape.output = *dims;
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (wanted->empty() && !same) {
    const auto pads = ExplicitPads(node, mode, spatial);
    if (!pads) return false;
    shape.pads = *pads;
  } else {
    shape.pads.assign(2 * spatial, -1);
    if (wanted->size() == spatial + 2) wanted->erase(wanted->begin(), wanted->begin() + 2);
    if (!wanted->empty() && wanted->size() != spatial) return false;
  }
  if (shape.input.empty()) return true;
  std::vector<int64_t> output = {shape.input[0], shape.out_channels};
  for (size_t i = 0; i < spatial; ++i) {
    const Window window = WindowOf(shape, i);
    const int64_t full = window.stride * (shape.input[i + 2] - 1) + (*extra)[i] + window.extent();
    if (shape.pads[i] < 0) {
      const int64_t out = wanted->empty() ? shape.input[i + 2] * window.stride : (*wanted)[i];
      std::tie(shape.pads[i], shape.pads[i + spatial]) = Split(full - out, mode == "SAME_UPPER");
      output.push_back(out);
    } else {
      output.push_back(std::max<int64_t>(full - shape.pads[i] - shape.pads[i + spatial], 0));
    }
  }
  if (shape.output.empty()) shape.output = std::move(output);
  return true;
}

std::optional<LayerShape> DescribeConv(const Graph& graph, const Node& node, const Tensor& weight, LayerShape shape) {
  const bool transposed = node.op == "ConvTranspose";
  if (weight.rank() < 3) return std::nullopt;
  const size_t spatial = static_cast<size_t>(weight.rank()) - 2;
  const auto strides = Spatial(node, "strides", spatial, 1);
  const auto dilations = Spatial(node, "dilations", spatial, 1);
  const auto group = node.GetInt("group", 1);
  if (!strides || !dilations || !group) return std::nullopt;
  shape.kernel.assign(weight.dims().begin() + 2, weight.dims().end());
  shape.strides = *strides;
  shape.dilations = *dilations;
  shape.group = *group;
  // Of a layer whose input has another rank than its weight nothing is known.
  if (!shape.input.empty() && shape.input.size() != spatial + 2) return std::nullopt;
  if (!Sane(shape)) return std::nullopt;
  const int64_t outer = weight.dims()[0];
  const int64_t inner = Product({weight.dims()[1], shape.group});
  shape.in_channels = transposed ? outer : inner;
  shape.out_channels = transposed ? inner : outer;
  if (transposed) {
    if (!FillTransposedPads(graph, node, shape)) return std::nullopt;
  } else {
    if (!FillConvPads(node, shape)) return std::nullopt;
    FillConvOutput(graph, node, shape);
  }
  // Each element of the input (transposed) or output meets the weight's inner channels times the kernel once.
  std::vector<int64_t> factors = transposed ? shape.input : shape.output;
  if (factors.empty()) return shape;
  factors.push_back(weight.dims()[1]);
  factors.insert(factors.end(), shape.kernel.begin(), shape.kernel.end());
  shape.macs = Product(factors);
  return shape;
}

std::optional<LayerShape> DescribeGemm(const Graph& graph, const Node& node, const Tensor& weight, LayerShape shape) {
  const auto trans_a = node.GetInt("transA", 0);
  const auto trans_b = node.GetInt("transB", 0);
  if (weight.rank() != 2 || !trans_a || !trans_b) return std::nullopt;
  shape.in_channels = weight.dims()[*trans_b != 0 ? 1 : 0];
  shape.out_channels = weight.dims()[*trans_b != 0 ? 0 : 1];
  if (!shape.input.empty() && shape.input.size() != 2) return std::nullopt;
  if (const auto dims = KnownDims(graph, node.output(0))) {
    shape.output = *dims;
  } else if (!shape.input.empty()) {
    shape.output = {shape.input[*trans_a != 0 ? 1 : 0], shape.out_channels};
  }
  if (!shape.output.empty()) shape.macs = Product({Product(shape.output), shape.in_channels});
  return shape;
}

std::optional<LayerShape> DescribeMatMul(const Graph& graph, const Node& node, const Tensor& weight, LayerShape shape) {
  if (weight.rank() < 1) return std::nullopt;
  const auto rank = static_cast<size_t>(weight.rank());
  shape.in_channels = weight.dims()[rank == 1 ? 0 : rank - 2];
  shape.out_channels = rank == 1 ? 1 : weight.dims()[rank - 1];
  if (const auto dims = KnownDims(graph, node.output(0))) {
    shape.output = *dims;
  } else if (rank == 2 && shape.input.size() >= 2) {
    shape.output = shape.input;
    shape.output.back() = shape.out_channels;
  } else {
    return shape;
  }
  shape.macs = Product({Product(shape.output), shape.in_channels});
  return shape;
}

std::string Times(const std::vector<int64_t>& values, bool one_if_equal) {
  const bool equal = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  if (one_if_equal && equal && !values.empty()) return std::to_string(values[0]);
  return fmt::format("{}", fmt::join(values, "x"));
}

// Nothing for pads that keep the size at stride 1, which is what most layers have.
std::string PadText(const LayerShape& shape) {
  const size_t spatial = shape.kernel.size();
  bool usual = true;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t half = (WindowOf(shape, i).extent() - 1) / 2;
    usual = usual && shape.pads[i] == half && shape.pads[i + spatial] == half;
  }
  return usual ? "" : fmt::format(" p{}", Times(shape.pads, true));
}

}  // namespace

bool IsLayer(const Graph& graph, const Node& node) {
  const bool op = node.Is("Conv") || node.Is("ConvTranspose") || node.Is("Gemm") || node.Is("MatMul");
  return op && WeightSource(graph, node.input(1)) != ValueId::kNone;
}

int NumberLayers(Graph& graph) {
  int count = 0;
  for (const NodeId id : graph.nodes()) graph.SetLayer(id, IsLayer(graph, graph.node(id)) ? count++ : -1);
  return count;
}

NodeId FindLayer(const Graph& graph, int number) {
  if (number < 0) return NodeId::kNone;
  for (const NodeId id : graph.nodes()) {
    if (graph.node(id).layer == number) return id;
  }
  return NodeId::kNone;
}

std::optional<LayerShape> DescribeLayer(const Graph& graph, NodeId layer) {
  const Node& node = graph.node(layer);
  if (!IsLayer(graph, node)) return std::nullopt;
  const ValueId source = WeightSource(graph, node.input(1));
  const Tensor& weight = *graph.constant(source);
  LayerShape shape;
  shape.op = node.op;
  shape.weight_name = graph.value(source).name;
  if (const auto dims = KnownDims(graph, node.input(0))) shape.input = *dims;
  if (node.op == "Gemm") return DescribeGemm(graph, node, weight, std::move(shape));
  if (node.op == "MatMul") return DescribeMatMul(graph, node, weight, std::move(shape));
  return DescribeConv(graph, node, weight, std::move(shape));
}

std::string LayerSignature(const LayerShape& shape) {
  std::string text = shape.op;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  if (!shape.kernel.empty()) {
    text += fmt::format(" {}/{}", Times(shape.kernel, false), Times(shape.strides, true));
    if (Times(shape.dilations, true) != "1") text += " d" + Times(shape.dilations, true);
    text += PadText(shape) + fmt::format(" g{}", shape.group);
  }
  const std::string input = shape.input.empty() ? "?" : fmt::format("[{}]", fmt::join(shape.input, ","));
  return text + fmt::format(" {}->{} @{}", shape.in_channels, shape.out_channels, input);
}

}  // namespace rlc
