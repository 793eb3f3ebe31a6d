#include "rlc/rewrite/approximate/qdq.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rlc/ir/layers.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"

namespace rlc {
namespace {

// Parameters of a QuantizeLinear or DequantizeLinear with one scale for the whole tensor.
std::optional<std::pair<QuantParams, DType>> TensorParams(const Graph& graph, const Node& node) {
  const Tensor* scale = graph.constant(node.input(1));
  if (scale == nullptr || scale->dtype() != DType::kFloat || scale->size() != 1) return std::nullopt;
  QuantParams params{scale->data<float>()[0], 0};
  DType type = DType::kUint8;  // ONNX's default without a zero point
  if (node.input(2) != ValueId::kNone) {
    const Tensor* zero_point = graph.constant(node.input(2));
    if (zero_point == nullptr || zero_point->size() != 1) return std::nullopt;
    type = zero_point->dtype();
    if (type == DType::kUint8) {
      params.zero_point = zero_point->data<uint8_t>()[0];
    } else if (type == DType::kInt8) {
      params.zero_point = zero_point->data<int8_t>()[0];
    } else {
      return std::nullopt;
    }
  }
  return std::pair{params, type};
}

std::optional<QuantPair> PairAt(const Graph& graph, NodeId quantize) {
  const Node& node = graph.node(quantize);
  if (!node.Is("QuantizeLinear")) return std::nullopt;
  const auto params = TensorParams(graph, node);
  if (!params) return std::nullopt;
  return QuantPair{quantize, node.input(0), node.output(0), params->first, params->second};
}

Tensor ZeroPoints(DType type, std::vector<int64_t> dims, int32_t zero_point, size_t count) {
  if (type == DType::kInt8) {
    return Tensor::Of<int8_t>(std::move(dims), std::vector<int8_t>(count, static_cast<int8_t>(zero_point)));
  }
  return Tensor::Of<uint8_t>(std::move(dims), std::vector<uint8_t>(count, static_cast<uint8_t>(zero_point)));
}

// The node before which everything that reads `value` can be inserted: the one right after its producer.
NodeId PlaceAfter(const Graph& graph, ValueId value) {
  const std::vector<NodeId>& order = graph.nodes();
  const NodeId producer = graph.value(value).producer;
  if (producer == NodeId::kNone) return order.empty() ? NodeId::kNone : order.front();
  const auto next = std::find(order.begin(), order.end(), producer) + 1;
  return next == order.end() ? NodeId::kNone : *next;
}

// A DequantizeLinear of the pair with one scale, or with a scale for each channel.
NodeId FindDequantize(const Graph& graph, const QuantPair& pair, int64_t channels) {
  NodeId found = NodeId::kNone;
  for (const Use& use : graph.value(pair.integer).uses) {
    if (use.input != 0 || !graph.node(use.node).Is("DequantizeLinear")) continue;
    const Tensor* scale = graph.constant(graph.node(use.node).input(1));
    if (scale == nullptr || scale->size() != channels || (channels > 1 && scale->rank() != 1)) continue;
    if (found == NodeId::kNone || graph.Before(use.node, found)) found = use.node;
  }
  return found;
}

Type TypeLike(const Graph& graph, ValueId value, DType elem) {
  const Type& type = graph.type(value);
  return Type::Tensor(elem, type.is_tensor() ? type.shape : std::nullopt);
}

}  // namespace

std::optional<QuantPair> PairOn(const Graph& graph, ValueId value) {
  std::optional<QuantPair> found;
  for (const Use& use : graph.value(value).uses) {
    if (use.input != 0) continue;
    auto pair = PairAt(graph, use.node);
    if (pair && (!found || graph.Before(use.node, found->quantize))) found = pair;
  }
  return found;
}

std::optional<QuantPair> PairBehind(const Graph& graph, ValueId value) {
  const Node* dequantize = ProducerIs(graph, value, "DequantizeLinear");
  if (dequantize == nullptr || dequantize->input(0) == ValueId::kNone) return std::nullopt;
  const NodeId quantize = graph.value(dequantize->input(0)).producer;
  return quantize == NodeId::kNone ? std::nullopt : PairAt(graph, quantize);
}

std::optional<QuantPair> PairOf(const Graph& graph, ValueId value) {
  auto behind = PairBehind(graph, value);
  return behind ? behind : PairOn(graph, value);
}

bool IsDequantizedConstant(const Graph& graph, ValueId value) {
  const Node* dequantize = ProducerIs(graph, value, "DequantizeLinear");
  return dequantize != nullptr && graph.constant(dequantize->input(0)) != nullptr;
}

bool IsQuantizedLayer(const Graph& graph, const Node& node) {
  return IsLayer(graph, node) && IsDequantizedConstant(graph, node.input(1));
}

bool MovesNumbers(const Graph& graph, const Node& node) {
  static constexpr std::array<std::string_view, 8> kOps = {"Flatten", "Identity", "Reshape",   "Slice",
                                                           "Split",   "Squeeze",  "Transpose", "Unsqueeze"};
  if (!node.domain.empty()) return false;
  if (std::find(kOps.begin(), kOps.end(), node.op) != kOps.end()) return true;
  // Integer MaxPool came with opset 12; with indices it has a second output that nobody quantizes.
  return node.Is("MaxPool") && graph.opset() >= 12 && node.outputs.size() == 1;
}

bool HasIntegerForm(const Node& node) {
  static constexpr std::array<std::string_view, 7> kOps = {"Add",       "AveragePool", "Concat", "GlobalAveragePool",
                                                           "LeakyRelu", "Mul",         "Sigmoid"};
  return node.domain.empty() && std::find(kOps.begin(), kOps.end(), node.op) != kOps.end();
}

bool IsBarrier(const Node& node) { return (node.Is("Sum") || node.Is("Max")) && node.inputs.size() == 1; }

ValueId RootOf(const Graph& graph, ValueId value) {
  for (;;) {
    if (const auto pair = PairBehind(graph, value)) {
      value = pair->raw;
      continue;
    }
    const Node* producer = graph.producer(value);
    if (producer == nullptr || producer->input(0) == ValueId::kNone) return value;
    if (!MovesNumbers(graph, *producer) && !IsBarrier(*producer)) return value;
    if (graph.constant(producer->input(0)) != nullptr) return value;
    value = producer->input(0);
  }
}

bool IsAbsorbable(const Graph& graph, const Node& node) {
  if (node.Is("Relu")) return true;
  if (!node.Is("Clip")) return false;
  const auto low = ScalarConstant(graph, node.input(1));
  if (!low || *low != 0) return false;
  if (IsAbsentOrEmpty(graph, node.input(2))) return true;
  const auto high = ScalarConstant(graph, node.input(2));
  return high && *high > 0;
}

bool Subsumes(const Graph& graph, const QuantParams& params, DType type, const Node& activation) {
  const Scheme scheme{type, false};
  if (params.zero_point != scheme.activation_low()) return false;
  if (activation.Is("Relu") || IsAbsentOrEmpty(graph, activation.input(2))) return true;
  const auto high = ScalarConstant(graph, activation.input(2));
  return high &&
         QuantizeNumber(*high, params, scheme.activation_low(), scheme.activation_high()) == scheme.activation_high();
}

ValueId BehindActivation(const Graph& graph, ValueId value) {
  const NodeId reader = graph.SingleReader(value);
  if (reader == NodeId::kNone || !IsAbsorbable(graph, graph.node(reader))) return value;
  return graph.node(reader).input(0) == value ? graph.node(reader).output(0) : value;
}

ValueId EnsureDequantized(Graph& graph, ValueId raw, const QuantParams& params, DType type) {
  auto pair = PairOf(graph, raw);
  if (!pair) {
    const std::string name = graph.value(raw).name;
    const NodeId before = PlaceAfter(graph, raw);
    const ValueId scale = AddConstant(graph, name + "_scale", Tensor::Scalar<float>(params.scale));
    const ValueId zero = AddConstant(graph, name + "_zero_point", ZeroPoints(type, {}, params.zero_point, 1));
    Insert(graph, before, "QuantizeLinear", {raw, scale, zero}, {}, name + "_quantized", TypeLike(graph, raw, type));
    pair = PairOn(graph, raw);
    RLC_CHECK(pair.has_value());
  }
  if (const NodeId found = FindDequantize(graph, *pair, 1); found != NodeId::kNone) return graph.node(found).output(0);
  const Node quantize = graph.node(pair->quantize);
  return Insert(graph, PlaceAfter(graph, pair->integer), "DequantizeLinear",
                {pair->integer, quantize.input(1), quantize.input(2)}, {}, graph.value(pair->raw).name + "_dequantized",
                TypeLike(graph, pair->raw, DType::kFloat));
}

ValueId EnsureDequantizedPerChannel(Graph& graph, const QuantPair& pair, int64_t channels, int64_t axis) {
  if (const NodeId found = FindDequantize(graph, pair, channels); found != NodeId::kNone) {
    if (graph.node(found).GetInt("axis", 1) == axis) return graph.node(found).output(0);
  }
  const std::string name = graph.value(pair.raw).name;
  const auto count = static_cast<size_t>(channels);
  const ValueId scale =
      AddConstant(graph, name + "_scales", Tensor::Of<float>({channels}, std::vector<float>(count, pair.params.scale)));
  const ValueId zero =
      AddConstant(graph, name + "_zero_points", ZeroPoints(pair.type, {channels}, pair.params.zero_point, count));
  return Insert(graph, PlaceAfter(graph, pair.integer), "DequantizeLinear", {pair.integer, scale, zero},
                {Attribute{"axis", axis, {}}}, name + "_float", TypeLike(graph, pair.raw, DType::kFloat));
}

void AbsorbActivation(Graph& graph, ValueId before) {
  const NodeId activation = graph.SingleReader(before);
  RLC_CHECK(activation != NodeId::kNone && IsAbsorbable(graph, graph.node(activation)));
  TakeOver(graph, graph.value(before).producer, activation);
}

}  // namespace rlc
