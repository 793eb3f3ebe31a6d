#include "rlc/rewrite/approximate/quantizable.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rlc/ir/layers.h"
#include "rlc/rewrite/approximate/qdq.h"
#include "rlc/rewrite/match.h"

namespace rlc {
namespace {

// Values between layers that one layer may bring along. A network has a handful at most.
constexpr size_t kMaxBetween = 64;

Unexpected No(std::string reason) { return Unexpected(Error{ErrorKind::kInvalidInput, std::move(reason)}); }

// Axis of the output channels in the weight.
Expected<int> WeightAxis(const Node& node, const Tensor& weight) {
  if (node.Is("Conv")) {
    if (weight.rank() < 3) return No(fmt::format("the weight has {} dimensions, Conv needs 3 or more", weight.rank()));
    return 0;
  }
  if (node.Is("Gemm")) {
    if (node.GetFloat("alpha", 1) != 1.0f || node.GetFloat("beta", 1) != 1.0f || node.GetInt("transA", 0) != 0) {
      return No("integer kernels exist for Gemm with alpha = beta = 1 and transA = 0 only");
    }
    if (weight.rank() != 2) return No(fmt::format("the weight has {} dimensions, Gemm needs 2", weight.rank()));
    return node.GetInt("transB", 0) == 0 ? 1 : 0;
  }
  if (node.Is("MatMul")) {
    if (weight.rank() != 2)
      return No(fmt::format("the weight of the MatMul has {} dimensions, 2 are needed", weight.rank()));
    return 1;
  }
  return No(fmt::format("ONNX Runtime has no integer kernel for {}", node.op));
}

// Weight and bias that can be quantized.
Expected<void> CheckConstants(const Graph& graph, QuantizableLayer& layer) {
  const Node& node = graph.node(layer.node);
  layer.weight = node.input(1);
  const Tensor* weight = graph.constant(layer.weight);
  if (weight == nullptr) return No("its weight is not constant");
  if (weight->dtype() != DType::kFloat) {
    return No(fmt::format("its weight has type {}, only float layers are quantized", DTypeName(weight->dtype())));
  }
  if (weight->size() == 0) return No("its weight is empty");
  RLC_ASSIGN_OR_RETURN(layer.weight_axis, WeightAxis(node, *weight));
  layer.bias = node.input(2);
  if (layer.bias == ValueId::kNone) return {};
  const Tensor* bias = graph.constant(layer.bias);
  if (bias == nullptr) return No("its bias is not constant");
  const int64_t channels = weight->dims()[static_cast<size_t>(layer.weight_axis)];
  if (bias->dtype() != DType::kFloat || bias->size() != channels) {
    return No(fmt::format("its bias has {} elements of type {}, {} floats are needed", bias->size(),
                          DTypeName(bias->dtype()), channels));
  }
  return {};
}

// The value to quantize behind a Conv: over an unfolded BatchNormalization, then an activation.
ValueId OutputOf(const Graph& graph, const Node& node, NodeId* batch_norm) {
  ValueId output = node.output(0);
  const NodeId reader = graph.SingleReader(output);
  if (reader != NodeId::kNone && graph.node(reader).Is("BatchNormalization") &&
      IsInferenceBatchNorm(graph, graph.node(reader)) && graph.node(reader).input(0) == output) {
    *batch_norm = reader;
    output = graph.node(reader).output(0);
  }
  return BehindActivation(graph, output);
}

// ONNX Runtime joins MatMul and the Add of a constant to a Gemm whose bias is float: then nothing is integer any more.
bool IsBiasAdd(const Graph& graph, NodeId reader) {
  if (reader == NodeId::kNone || !graph.node(reader).Is("Add")) return false;
  const Node& add = graph.node(reader);
  return graph.constant(add.input(0)) != nullptr || graph.constant(add.input(1)) != nullptr;
}

// Collects the values between layers, from one layer's border.
class Surroundings {
 public:
  explicit Surroundings(const Graph& graph) : graph_(graph) {}

  // What the value is made of, back to the outputs of layers.
  void Back(ValueId value) {
    if (value == ValueId::kNone || between_.size() >= kMaxBetween) return;
    const Node* producer = graph_.producer(value);
    if (producer == nullptr) return;
    if (IsAbsorbable(graph_, *producer)) {
      producer = graph_.producer(producer->input(0));
      if (producer == nullptr) return;
    }
    if (!HasIntegerForm(*producer)) return;
    for (const ValueId input : producer->inputs) {
      if (input == ValueId::kNone || graph_.constant(input) != nullptr) continue;
      const ValueId root = RootOf(graph_, input);
      if (Take(root)) Back(root);
    }
  }

  // What is made of the value, up to the inputs of layers.
  void Forward(ValueId value) {
    if (between_.size() >= kMaxBetween) return;
    for (const Use& use : graph_.value(value).uses) {
      if (use.input == Use::kCapture) continue;
      const Node& reader = graph_.node(use.node);
      if (MovesNumbers(graph_, reader) || reader.Is("QuantizeLinear") || reader.Is("DequantizeLinear")) {
        for (const ValueId output : reader.outputs) {
          if (output != ValueId::kNone) Forward(output);
        }
        continue;
      }
      if (!HasIntegerForm(reader) || reader.output(0) == ValueId::kNone) continue;
      const ValueId made = BehindActivation(graph_, reader.output(0));
      if (!Take(made)) continue;
      Back(made);
      Forward(made);
    }
  }

  std::vector<ValueId> Found() && { return std::move(between_); }

 private:
  // False when it was there already or is none of ours: made by a layer (which quantizes it), or no float tensor.
  bool Take(ValueId value) {
    if (between_.size() >= kMaxBetween) return false;
    if (std::find(between_.begin(), between_.end(), value) != between_.end()) return false;
    const Node* producer = graph_.producer(value);
    if (producer == nullptr || producer->layer >= 0 || MovesNumbers(graph_, *producer)) return false;
    const DType type = ElementType(graph_, value);
    if (type != DType::kFloat && type != DType::kUndefined) return false;
    between_.push_back(value);
    return true;
  }

  const Graph& graph_;
  std::vector<ValueId> between_;
};

}  // namespace

Expected<QuantizableLayer> DescribeQuantizable(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (IsQuantizedLayer(graph, node)) return No("it is quantized already");
  if (!IsLayer(graph, node)) return No("it is not a layer with constant weights");
  QuantizableLayer layer;
  layer.node = id;
  RLC_RETURN_IF_ERROR(CheckConstants(graph, layer));
  if (node.input(0) == ValueId::kNone || graph.constant(node.input(0)) != nullptr) return No("its input is constant");
  layer.input_root = RootOf(graph, node.input(0));
  if (node.Is("Conv")) {
    layer.output = OutputOf(graph, node, &layer.batch_norm);
    if (!graph.HasReaders(layer.output)) return No("nothing reads its output");
  } else {
    OutputOf(graph, node, &layer.batch_norm);
    if (node.Is("MatMul") && IsBiasAdd(graph, graph.SingleReader(node.output(0)))) layer.output = node.output(0);
  }
  return layer;
}

LayerRanges RangesOf(const Graph& graph, const QuantizableLayer& layer) {
  LayerRanges ranges;
  ranges.needed.push_back(graph.value(layer.input_root).name);
  Surroundings surroundings(graph);
  surroundings.Back(layer.input_root);
  if (layer.output != ValueId::kNone) {
    ranges.needed.push_back(graph.value(layer.output).name);
    surroundings.Forward(layer.output);
  } else {
    surroundings.Forward(BehindActivation(graph, graph.node(layer.node).output(0)));
  }
  for (const ValueId value : std::move(surroundings).Found()) {
    const std::string& name = graph.value(value).name;
    if (std::find(ranges.needed.begin(), ranges.needed.end(), name) == ranges.needed.end())
      ranges.between.push_back(name);
  }
  return ranges;
}

}  // namespace rlc
