// Three steps: what the layer is (DescribeQuantizable), its integers (Decide, all that can fail), the edit.
//
// Refuses: opset below 13 (DequantizeLinear has no axis there); an unfolded BatchNormalization behind the layer, which
// would stand between the integer kernel and its QuantizeLinear; layers without an integer kernel; values without a
// range in the parameters.
#include "rlc/rewrite/approximate/quantize_layer.h"

#include <map>
#include <string>
#include <utility>

#include "rlc/ir/layers.h"
#include "rlc/quant/calibration.h"
#include "rlc/rewrite/approximate/layer_site.h"
#include "rlc/rewrite/approximate/qdq.h"
#include "rlc/rewrite/approximate/quantizable.h"
#include "rlc/rewrite/approximate/settle.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"

namespace rlc {
namespace {

constexpr int kFirstOpset = 13;

using Ranges = std::map<std::string, QuantParams>;

struct Settings {
  Scheme scheme;
  Ranges ranges;
};

Expected<Settings> ReadSettings(const Params& params) {
  Settings settings;
  RLC_ASSIGN_OR_RETURN(const std::string scheme, GetString(params.values, "scheme"));
  RLC_ASSIGN_OR_RETURN(settings.scheme, ParseScheme(scheme));
  RLC_ASSIGN_OR_RETURN(const Json* ranges, GetObject(params.values, "ranges"));
  for (const auto& [name, range] : ranges->items()) {
    auto parsed = QuantParamsFromJson(range, settings.scheme);
    if (!parsed) return WithContext(std::move(parsed).error(), fmt::format("the range of {}", name));
    settings.ranges.emplace(name, *parsed);
  }
  return settings;
}

Expected<QuantParams> RangeOf(const Graph& graph, ValueId value, const Settings& settings) {
  if (const auto pair = PairOf(graph, value)) {
    if (pair->type == settings.scheme.activation) return pair->params;
    return MakeError(ErrorKind::kInvalidInput, "{} is quantized to another type", graph.value(value).name);
  }
  const auto found = settings.ranges.find(graph.value(value).name);
  if (found != settings.ranges.end()) return found->second;
  return MakeError(ErrorKind::kInvalidInput, "its parameters hold no range for {}", graph.value(value).name);
}

struct Decision {
  QuantizableLayer layer;
  Settings settings;
  QuantParams input, output;
  QuantizedWeight weight;
};

Expected<Decision> Decide(const Graph& graph, NodeId node, const Params& params) {
  Decision decision;
  RLC_ASSIGN_OR_RETURN(decision.layer, DescribeQuantizable(graph, node));
  const QuantizableLayer& layer = decision.layer;
  if (graph.opset() < kFirstOpset) {
    return MakeError(ErrorKind::kInvalidInput, "the model has opset {}, int8 with a scale per channel needs {}",
                     graph.opset(), kFirstOpset);
  }
  if (layer.batch_norm != NodeId::kNone) {
    return MakeError(ErrorKind::kInvalidInput, "a BatchNormalization follows: fold the BatchNormalization first");
  }
  RLC_ASSIGN_OR_RETURN(decision.settings, ReadSettings(params));
  // A pair right before the layer wins over that of the root: it is what the layer reads.
  const auto present = PairOf(graph, graph.node(node).input(0));
  RLC_ASSIGN_OR_RETURN(decision.input,
                       RangeOf(graph, present ? graph.node(node).input(0) : layer.input_root, decision.settings));
  if (layer.output != ValueId::kNone) {
    RLC_ASSIGN_OR_RETURN(decision.output, RangeOf(graph, layer.output, decision.settings));
  }
  const Tensor* bias = layer.bias == ValueId::kNone ? nullptr : graph.constant(layer.bias);
  RLC_ASSIGN_OR_RETURN(decision.weight, QuantizeWeight(*graph.constant(layer.weight), layer.weight_axis, bias,
                                                       decision.input.scale, decision.settings.scheme));
  return decision;
}

// Puts DequantizeLinear(integers, scale) in place of a constant input.
void ReplaceConstant(Graph& graph, NodeId node, size_t input, const Tensor& integers, const Tensor& scale,
                     const Tensor* zero_point, int axis) {
  const ValueId old = graph.node(node).input(input);
  const std::string name = graph.value(old).name;
  std::vector<ValueId> inputs = {AddConstant(graph, name + "_quantized", integers),
                                 AddConstant(graph, name + "_scale", scale)};
  if (zero_point != nullptr) inputs.push_back(AddConstant(graph, name + "_zero_point", *zero_point));
  const ValueId dequantized = Insert(graph, node, "DequantizeLinear", inputs, {Attribute{"axis", int64_t{axis}, {}}},
                                     name + "_dequantized", Type::Tensor(DType::kFloat, graph.type(old).shape));
  ReplaceInput(graph, node, input, dequantized);
}

Tensor BiasScale(const QuantizedWeight& weight, float input_scale) {
  std::vector<float> scale(weight.scale.data<float>().begin(), weight.scale.data<float>().end());
  for (float& s : scale) s *= input_scale;
  return Tensor::Of<float>(weight.scale.dims(), scale);
}

void QuantizeInput(Graph& graph, NodeId node, const QuantParams& params, DType type) {
  ValueId input = graph.node(node).input(0);
  const Node* producer = graph.producer(input);
  if (producer != nullptr && IsBarrier(*producer)) input = producer->input(0);
  const auto pair = PairOf(graph, input);
  const ValueId dequantized = EnsureDequantized(graph, pair ? pair->raw : input, params, type);
  if (graph.node(node).input(0) != dequantized) ReplaceInput(graph, node, 0, dequantized);
}

void Apply(Graph& graph, const Decision& decision) {
  const NodeId node = decision.layer.node;
  const DType type = decision.settings.scheme.activation;
  QuantizeInput(graph, node, decision.input, type);
  const QuantizedWeight& weight = decision.weight;
  ReplaceConstant(graph, node, 1, weight.weight, weight.scale, &weight.zero_point, decision.layer.weight_axis);
  if (weight.bias) {
    ReplaceConstant(graph, node, 2, *weight.bias, BiasScale(weight, decision.input.scale), nullptr, 0);
  }
  if (decision.layer.output != ValueId::kNone) {
    const ValueId output = graph.node(node).output(0);
    const bool has_activation = output != decision.layer.output;
    if (has_activation && Subsumes(graph, decision.output, type, *graph.producer(decision.layer.output))) {
      AbsorbActivation(graph, output);
    }
    EnsureDequantized(graph, decision.layer.output, decision.output, type);
  }
  Settle(graph, decision.settings.ranges, type);
}

class QuantizeLayerRule : public LayerRewrite {
 public:
  const RewriteInfo& info() const override { return info_; }

  Outcome At(const Graph& graph, NodeId anchor, const Params& params, const RewriteContext&) const override {
    if (anchor == NodeId::kNone || !IsLayer(graph, graph.node(anchor)) || IsQuantizedLayer(graph, graph.node(anchor))) {
      return NoMatch{};
    }
    auto decision = Decide(graph, anchor, params);
    if (!decision) return Refusal{std::move(decision).error().message};
    return Edit([decision = *std::move(decision)](Graph& target) { Apply(target, decision); });
  }

 protected:
  bool CanChange(const Graph& graph, NodeId layer) const override {
    return graph.opset() >= kFirstOpset && DescribeQuantizable(graph, layer).has_value();
  }

 private:
  RewriteInfo info_{"quantize-layer", Exactness::kApproximate, "one Conv, Gemm or MatMul in 8-bit integers (QDQ)"};
};

}  // namespace

std::unique_ptr<Rewrite> QuantizeLayer() { return std::make_unique<QuantizeLayerRule>(); }

}  // namespace rlc
