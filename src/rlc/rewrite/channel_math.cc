#include "rlc/rewrite/channel_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"

namespace rlc {
namespace {

// Smallest normal number of a type: weights that a fold pushes below it lose bits.
double SmallestNormal(DType dtype) {
  if (dtype == DType::kFloat16) return std::ldexp(1.0, -14);
  if (dtype == DType::kDouble) return std::numeric_limits<double>::min();
  return std::ldexp(1.0, -126);
}

// A weight as `rows` x `length` x `stride` elements with the channel in the middle.
struct ChannelLayout {
  int64_t stride = 1;      // elements after the channel axis
  int64_t length = 1;      // of the channel axis
  int64_t group_rows = 0;  // ConvTranspose: input channels of a group, each group having channels of its own
  int64_t Channel(int64_t row, int64_t index) const {
    return group_rows == 0 ? index : row / group_rows * length + index;
  }
};

ChannelLayout LayoutOf(const Node& layer, const Tensor& weight) {
  const std::vector<int64_t>& dims = weight.dims();
  size_t axis = 0;
  if (layer.op == "ConvTranspose" || layer.op == "MatMul") axis = 1;
  if (layer.op == "Gemm") axis = layer.GetInt("transB", 0) != 0 ? 0 : 1;
  ChannelLayout layout;
  layout.length = dims[axis];
  for (size_t i = axis + 1; i < dims.size(); ++i) layout.stride *= dims[i];
  if (layer.op == "ConvTranspose") layout.group_rows = dims[0] / layer.GetInt("group", 1).value_or(1);
  return layout;
}

// One row of `channels` numbers from a layer's bias; zeros when absent.
Expected<std::vector<double>> BiasRow(const Graph& graph, const Node& layer, int64_t channels) {
  const auto count = static_cast<size_t>(channels);
  if (layer.input(2) == ValueId::kNone) return std::vector<double>(count, 0.0);
  const Tensor* bias = graph.constant(layer.input(2));
  if (bias == nullptr) return MakeError(ErrorKind::kInvalidInput, "its bias is not constant");
  RLC_ASSIGN_OR_RETURN(std::vector<double> values, bias->ToDoubles());
  if (values.size() == 1 && layer.op == "Gemm") values.assign(count, values[0]);
  const bool row = bias->rank() < 2 || bias->dims()[0] == 1;
  if (values.size() != count || !row) {
    return MakeError(ErrorKind::kInvalidInput, "its bias is not one number for each channel");
  }
  if (layer.op == "Gemm") {
    const double beta = static_cast<double>(layer.GetFloat("beta", 1.0F).value_or(1.0F));
    for (double& value : values) value *= beta;
  }
  return values;
}

}  // namespace

std::optional<int64_t> OutputChannels(const Graph& graph, const Node& layer) {
  const Tensor* weight = graph.constant(layer.input(1));
  if (weight == nullptr || !IsFloat(weight->dtype()) || weight->size() == 0) return std::nullopt;
  const std::vector<int64_t>& dims = weight->dims();
  if (layer.Is("Conv") && dims.size() >= 3) return dims[0];
  if (layer.Is("ConvTranspose") && dims.size() >= 3) {
    const int64_t group = layer.GetInt("group", 1).value_or(0);
    if (group < 1 || dims[0] % group != 0) return std::nullopt;
    return dims[1] * group;
  }
  if (dims.size() != 2) return std::nullopt;
  if (layer.Is("Gemm")) return dims[layer.GetInt("transB", 0) != 0 ? 0 : 1];
  if (layer.Is("MatMul")) return dims[1];
  return std::nullopt;
}

std::optional<ChannelAffine> BatchNormAffine(const Graph& graph, const Node& batch_norm) {
  std::vector<double> parameters[4];  // scale, bias, mean, variance
  for (size_t i = 0; i < 4; ++i) {
    const Tensor* tensor = graph.constant(batch_norm.input(i + 1));
    if (tensor == nullptr || tensor->rank() != 1 || !IsFloat(tensor->dtype())) return std::nullopt;
    Expected<std::vector<double>> values = tensor->ToDoubles();
    if (!values || (i > 0 && values->size() != parameters[0].size())) return std::nullopt;
    parameters[i] = *std::move(values);
  }
  const auto epsilon = batch_norm.GetFloat("epsilon", 1e-5F);
  if (!epsilon) return std::nullopt;
  ChannelAffine affine;
  for (size_t c = 0; c < parameters[0].size(); ++c) {
    const double scale = parameters[0][c] / std::sqrt(parameters[3][c] + static_cast<double>(*epsilon));
    affine.scale.push_back(scale);
    affine.shift.push_back(parameters[1][c] - parameters[2][c] * scale);
  }
  return affine;
}

std::optional<std::vector<double>> PerChannel(const Tensor& operand, int rank, int channel_axis, int64_t channels) {
  if (!IsFloat(operand.dtype()) || operand.rank() > rank || operand.size() == 0) return std::nullopt;
  const int offset = rank - operand.rank();
  for (int i = 0; i < operand.rank(); ++i) {
    const int64_t dim = operand.dims()[static_cast<size_t>(i)];
    if (dim != 1 && (i + offset != channel_axis || dim != channels)) return std::nullopt;
  }
  Expected<std::vector<double>> values = operand.ToDoubles();
  if (!values) return std::nullopt;
  if (values->size() == 1) values->assign(static_cast<size_t>(channels), values->front());
  return *std::move(values);
}

Expected<FoldedLayer> FoldAffine(const Graph& graph, const Node& layer, const ChannelAffine& affine) {
  const Tensor& weight = *graph.constant(layer.input(1));
  const auto channels = static_cast<int64_t>(affine.scale.size());
  RLC_ASSIGN_OR_RETURN(std::vector<double> bias, BiasRow(graph, layer, channels));
  for (size_t c = 0; c < bias.size(); ++c) {
    bias[c] = bias[c] * affine.scale[c] + affine.shift[c];
    if (!std::isfinite(bias[c]) || !std::isfinite(affine.scale[c])) {
      return MakeError(ErrorKind::kInvalidInput, "the folded values of channel {} would not be finite", c);
    }
  }
  FoldedLayer folded;
  RLC_ASSIGN_OR_RETURN(folded.bias, Tensor::FromDoubles(weight.dtype(), {channels}, bias));
  folded.weight_changed =
      std::any_of(affine.scale.begin(), affine.scale.end(), [](double scale) { return scale != 1.0; });
  if (!folded.weight_changed) return folded;

  RLC_ASSIGN_OR_RETURN(std::vector<double> values, weight.ToDoubles());
  const ChannelLayout layout = LayoutOf(layer, weight);
  std::vector<double> before(affine.scale.size(), 0.0), after(affine.scale.size(), 0.0);
  const int64_t block = layout.length * layout.stride;
  for (size_t start = 0; start < values.size(); start += static_cast<size_t>(layout.stride)) {
    const auto at = static_cast<int64_t>(start);
    const auto channel = static_cast<size_t>(layout.Channel(at / block, at % block / layout.stride));
    double largest = 0;
    bool finite = true;
    for (size_t i = start; i < start + static_cast<size_t>(layout.stride); ++i) {
      finite = finite && std::isfinite(values[i]);
      largest = std::max(largest, std::abs(values[i]));
      values[i] *= affine.scale[channel];
    }
    if (!finite) return MakeError(ErrorKind::kInvalidInput, "its weight is not finite");
    before[channel] = std::max(before[channel], largest);
    after[channel] = std::max(after[channel], largest * std::abs(affine.scale[channel]));
  }
  // A channel whose largest weight sinks near the bottom of the type keeps only a few of its bits.
  const double bottom = SmallestNormal(weight.dtype()) * 1024;
  for (size_t c = 0; c < after.size(); ++c) {
    if (affine.scale[c] != 0 && before[c] > bottom && after[c] < bottom) {
      return MakeError(ErrorKind::kInvalidInput, "the folded weights of channel {} would lose their precision in {}", c,
                       DTypeName(weight.dtype()));
    }
  }
  RLC_ASSIGN_OR_RETURN(folded.weight, Tensor::FromDoubles(weight.dtype(), weight.dims(), values));
  return folded;
}

std::optional<int64_t> InputChannels(const Graph& graph, const Node& layer) {
  if (!OutputChannels(graph, layer)) return std::nullopt;
  const std::vector<int64_t>& dims = graph.constant(layer.input(1))->dims();
  if (layer.op == "ConvTranspose") return dims[0];
  if (layer.op == "MatMul") return dims[0];
  if (layer.op == "Gemm") return dims[layer.GetInt("transB", 0) != 0 ? 1 : 0];
  const int64_t group = layer.GetInt("group", 1).value_or(0);
  if (group < 1 || dims[0] % group != 0) return std::nullopt;
  return dims[1] * group;
}

namespace {

// Input and output channel of the weight's element `index`.
struct ElementChannels {
  int64_t in = 0, out = 0;
};

class ElementLocator {
 public:
  ElementLocator(const Node& layer, const Tensor& weight) : op_(layer.op), dims_(weight.dims()) {
    for (size_t i = 2; i < dims_.size(); ++i) stride_ *= dims_[i];
    group_ = layer.GetInt("group", 1).value_or(1);
    transposed_ = layer.GetInt("transB", 0) != 0;
  }
  ElementChannels At(int64_t index) const {
    const int64_t row = index / stride_ / dims_[1];
    const int64_t column = index / stride_ % dims_[1];
    if (op_ == "Conv") return {row / (dims_[0] / group_) * dims_[1] + column, row};
    if (op_ == "ConvTranspose") return {row, row / (dims_[0] / group_) * dims_[1] + column};
    return transposed_ ? ElementChannels{column, row} : ElementChannels{row, column};
  }

 private:
  const std::string& op_;
  const std::vector<int64_t>& dims_;
  int64_t stride_ = 1, group_ = 1;
  bool transposed_ = false;
};

}  // namespace

Expected<FoldedLayer> FoldInputAffine(const Graph& graph, const Node& layer, const ChannelAffine& affine) {
  const Tensor& weight = *graph.constant(layer.input(1));
  const int64_t channels = *OutputChannels(graph, layer);
  RLC_ASSIGN_OR_RETURN(std::vector<double> bias, BiasRow(graph, layer, channels));
  RLC_ASSIGN_OR_RETURN(std::vector<double> values, weight.ToDoubles());
  const double alpha = layer.op == "Gemm" ? static_cast<double>(layer.GetFloat("alpha", 1.0F).value_or(1.0F)) : 1.0;
  const double bottom = SmallestNormal(weight.dtype()) * 1024;
  const ElementLocator locator(layer, weight);
  std::vector<double> before(affine.scale.size(), 0.0), after(affine.scale.size(), 0.0);
  for (size_t i = 0; i < values.size(); ++i) {
    const ElementChannels place = locator.At(static_cast<int64_t>(i));
    const auto in = static_cast<size_t>(place.in);
    if (!std::isfinite(values[i])) return MakeError(ErrorKind::kInvalidInput, "its weight is not finite");
    bias[static_cast<size_t>(place.out)] += alpha * values[i] * affine.shift[in];
    before[in] = std::max(before[in], std::abs(values[i]));
    values[i] *= affine.scale[in];
    after[in] = std::max(after[in], std::abs(values[i]));
  }
  for (size_t c = 0; c < after.size(); ++c) {
    if (!std::isfinite(after[c]) || !std::isfinite(affine.scale[c]) || !std::isfinite(affine.shift[c])) {
      return MakeError(ErrorKind::kInvalidInput, "the folded values of channel {} would not be finite", c);
    }
    if (affine.scale[c] != 0 && before[c] > bottom && after[c] < bottom) {
      return MakeError(ErrorKind::kInvalidInput, "the folded weights of channel {} would lose their precision in {}", c,
                       DTypeName(weight.dtype()));
    }
  }
  FoldedLayer folded;
  folded.weight_changed =
      std::any_of(affine.scale.begin(), affine.scale.end(), [](double scale) { return scale != 1.0; });
  RLC_ASSIGN_OR_RETURN(folded.bias, Tensor::FromDoubles(weight.dtype(), {channels}, bias));
  RLC_ASSIGN_OR_RETURN(folded.weight, Tensor::FromDoubles(weight.dtype(), weight.dims(), values));
  const auto finite = [](const Tensor& tensor) {
    const auto numbers = tensor.ToDoubles();
    return numbers && std::all_of(numbers->begin(), numbers->end(), [](double v) { return std::isfinite(v); });
  };
  if (!finite(folded.bias) || !finite(folded.weight)) {
    return MakeError(ErrorKind::kInvalidInput, "the folded values would not be finite");
  }
  return folded;
}

void InstallFolded(Graph& graph, NodeId layer, const FoldedLayer& folded) {
  const bool shifted = graph.node(layer).input(2) != ValueId::kNone ||
                       std::any_of(folded.bias.bytes().begin(), folded.bias.bytes().end(),
                                   [](std::byte byte) { return byte != std::byte{0}; });
  const std::string stem = graph.value(graph.node(layer).input(1)).name;
  if (folded.weight_changed) {
    ReplaceInput(graph, layer, 1, AddConstant(graph, stem, folded.weight));
  }
  if (!shifted) return;
  const ValueId old = graph.node(layer).input(2);
  const std::string bias_name = old == ValueId::kNone ? stem + "_bias" : graph.value(old).name;
  ReplaceInput(graph, layer, 2, AddConstant(graph, bias_name, folded.bias));
  if (graph.node(layer).Is("MatMul")) graph.SetOp(layer, "Gemm");
  if (graph.node(layer).Is("Gemm")) graph.RemoveAttribute(layer, "beta");
}

}  // namespace rlc
