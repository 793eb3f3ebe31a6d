#include "rlc/measure/layer_models.h"

#include <algorithm>
#include <utility>

#include "rlc/base/rng.h"
#include "rlc/onnx/export.h"
#include "rlc/ort/runtime_graph.h"

namespace rlc {
namespace {

constexpr float kScale = 0.03125f;  // of activations; any power of two will do
constexpr uint8_t kZero = 128;

Shape ShapeOf(const std::vector<int64_t>& dims) {
  Shape shape;
  for (const int64_t dim : dims) shape.push_back(Dim::Of(dim));
  return shape;
}

std::vector<int64_t> WeightDims(const LayerShape& shape) {
  if (shape.op == "MatMul") return {shape.in_channels, shape.out_channels};
  if (shape.op == "Gemm") return {shape.out_channels, shape.in_channels};
  const bool transposed = shape.op == "ConvTranspose";
  std::vector<int64_t> dims = {
      transposed ? shape.in_channels : shape.out_channels,
      (transposed ? shape.out_channels : shape.in_channels) / std::max<int64_t>(shape.group, 1)};
  dims.insert(dims.end(), shape.kernel.begin(), shape.kernel.end());
  return dims;
}

Expected<void> CheckKnown(const LayerShape& shape) {
  if (shape.input.empty() || shape.output.empty() || !ByteSize(DType::kFloat, WeightDims(shape))) {
    return MakeError(ErrorKind::kUnavailable, "{}: its shapes are not known", LayerSignature(shape));
  }
  return {};
}

// Small numbers without structure: some kernels skip zeros, none looks further.
Tensor RandomFloats(const std::vector<int64_t>& dims, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(ElementCount(dims).value_or(0)));
  for (float& value : values) value = static_cast<float>(rng.UniformReal(-0.1, 0.1));
  return Tensor::Of<float>(dims, values);
}

// Within [-64, 64], so that no kernel saturates.
Tensor RandomInt8(const std::vector<int64_t>& dims, uint64_t seed) {
  Rng rng(seed);
  std::vector<int8_t> values(static_cast<size_t>(ElementCount(dims).value_or(0)));
  for (int8_t& value : values) value = static_cast<int8_t>(rng.UniformRange(-64, 64));
  return Tensor::Of<int8_t>(dims, values);
}

Model EmptyModel() {
  Model model;
  model.ir_version = 8;
  model.graph.SetName("layer");
  model.graph.SetOpset("", 17);
  return model;
}

ValueId Append(Graph& graph, std::string op, std::vector<ValueId> inputs, const std::string& output,
               std::vector<Attribute> attributes = {}, std::string domain = "") {
  Node node;
  node.op = std::move(op);
  node.domain = std::move(domain);
  node.inputs = std::move(inputs);
  node.outputs = {graph.AddValue(output)};
  node.attributes = std::move(attributes);
  const ValueId result = node.outputs.front();
  graph.AddNode(std::move(node));
  return result;
}

std::vector<Attribute> LayerAttributes(const LayerShape& shape) {
  std::vector<Attribute> attributes;
  if (shape.op == "MatMul") return attributes;
  if (shape.op == "Gemm") {
    attributes.push_back({"transB", int64_t{1}, {}});
    return attributes;
  }
  attributes.push_back({"group", shape.group, {}});
  attributes.push_back({"kernel_shape", shape.kernel, {}});
  if (!shape.strides.empty()) attributes.push_back({"strides", shape.strides, {}});
  if (!shape.dilations.empty()) attributes.push_back({"dilations", shape.dilations, {}});
  if (!shape.pads.empty()) attributes.push_back({"pads", shape.pads, {}});
  return attributes;
}

bool HasBias(const LayerShape& shape) { return shape.op != "MatMul"; }

struct Quantization {
  ValueId scale, zero;
};

Quantization ActivationParams(Graph& graph) {
  return {graph.AddInitializer("scale", Tensor::Scalar(kScale)), graph.AddInitializer("zero", Tensor::Scalar(kZero))};
}

void FinishModel(Graph& graph, ValueId output, DType type, const std::vector<int64_t>& dims) {
  graph.SetType(output, Type::Tensor(type, ShapeOf(dims)));
  graph.AddOutput(output);
}

// Blocks of channels in the runtime's layout for float convolutions: read off what it makes of a small one. 0: it has
// none on this machine.
Expected<int64_t> ChannelBlock() {
  static const Expected<int64_t> kBlock = []() -> Expected<int64_t> {
    LayerShape shape;
    shape.op = "Conv";
    shape.in_channels = shape.out_channels = 64;
    shape.kernel = {1, 1};
    shape.input = shape.output = {1, 64, 4, 4};
    // 64 outputs are a multiple of every block size; 4 outputs are padded to one block.
    LayerShape narrow = shape;
    narrow.out_channels = 4;
    narrow.output[1] = 4;
    RLC_ASSIGN_OR_RETURN(const Model model, FloatLayerModel(narrow, "x"));
    RLC_ASSIGN_OR_RETURN(const std::string bytes, SerializeModel(model));
    RLC_ASSIGN_OR_RETURN(const RuntimeGraph ran, ReadRuntimeGraph(bytes, "layout probe", OptLevel::kAll));
    const Graph& graph = ran.model.graph;
    for (const NodeId id : graph.nodes()) {
      const Node& node = graph.node(id);
      if (node.domain != "com.microsoft.nchwc" || node.op != "Conv") continue;
      const Tensor* weight = graph.constant(node.input(1));
      if (weight != nullptr && weight->rank() == 4) return weight->dims()[0];
    }
    return int64_t{0};
  }();
  return kBlock;
}

bool IsLayoutChange(const Node& node) {
  return node.Is("Transpose") || (node.domain == "com.microsoft.nchwc" && node.op.starts_with("Reorder"));
}

NodeId ProducerOf(const Graph& graph, ValueId value) { return graph.value(value).producer; }

// What the layout change at the input gives to the layer behind it.
Expected<std::vector<int64_t>> DimsBehind(const Node& change, std::vector<int64_t> dims) {
  if (change.Is("Transpose")) {
    const auto permutation = change.GetInts("perm");
    if (!permutation || permutation->size() != dims.size()) {
      return MakeError(ErrorKind::kInternal, "the runtime transposes {} dimensions by {}", dims.size(),
                       permutation ? permutation->size() : 0);
    }
    std::vector<int64_t> moved;
    for (const int64_t axis : *permutation) moved.push_back(dims[static_cast<size_t>(axis)]);
    return moved;
  }
  RLC_ASSIGN_OR_RETURN(const int64_t block, ChannelBlock());
  if (dims.size() == 4 && block > 0) {
    dims[1] = (dims[1] + block - 1) / block * block;
    if (change.GetInt("channels_last", 0) == 1) return MakeError(ErrorKind::kUnavailable, "a layout of channels last");
  }
  return dims;
}

}  // namespace

Expected<Model> FloatLayerModel(const LayerShape& shape, const std::string& input) {
  RLC_RETURN_IF_ERROR(CheckKnown(shape));
  Model model = EmptyModel();
  Graph& graph = model.graph;
  std::vector<ValueId> inputs = {graph.AddInput(input, Type::Tensor(DType::kFloat, ShapeOf(shape.input))),
                                 graph.AddInitializer("w", RandomFloats(WeightDims(shape), 1))};
  if (HasBias(shape)) inputs.push_back(graph.AddInitializer("b", RandomFloats({shape.out_channels}, 2)));
  const ValueId layer = Append(graph, shape.op, std::move(inputs), "c", LayerAttributes(shape));
  FinishModel(graph, Append(graph, "Relu", {layer}, "y"), DType::kFloat, shape.output);
  return model;
}

Expected<Model> Int8LayerModel(const LayerShape& shape, const std::string& input) {
  RLC_RETURN_IF_ERROR(CheckKnown(shape));
  if (shape.op == "ConvTranspose") {
    return MakeError(ErrorKind::kUnavailable, "{}: the runtime has no integer kernel for it", LayerSignature(shape));
  }
  Model model = EmptyModel();
  Graph& graph = model.graph;
  const int64_t channels = shape.out_channels;
  const std::vector<float> weight_scales(static_cast<size_t>(channels), 0.001f);
  const ValueId x = graph.AddInput(input, Type::Tensor(DType::kUint8, ShapeOf(shape.input)));
  const Quantization activation = ActivationParams(graph);
  const ValueId w = graph.AddInitializer("w", RandomInt8(WeightDims(shape), 1));
  const ValueId w_scale = graph.AddInitializer("w_scale", Tensor::Of<float>({channels}, weight_scales));
  const ValueId w_zero = graph.AddInitializer(
      "w_zero", Tensor::Of<int8_t>({channels}, std::vector<int8_t>(static_cast<size_t>(channels), 0)));
  const int64_t axis = shape.op == "MatMul" ? 1 : 0;
  std::vector<ValueId> inputs = {Append(graph, "DequantizeLinear", {x, activation.scale, activation.zero}, "xf"),
                                 Append(graph, "DequantizeLinear", {w, w_scale, w_zero}, "wf", {{"axis", axis, {}}})};
  if (HasBias(shape)) {
    const ValueId b = graph.AddInitializer(
        "b", Tensor::Of<int32_t>({channels}, std::vector<int32_t>(static_cast<size_t>(channels), 100)));
    std::vector<float> scales;
    for (const float scale : weight_scales) scales.push_back(scale * kScale);
    const ValueId b_scale = graph.AddInitializer("b_scale", Tensor::Of<float>({channels}, scales));
    const ValueId b_zero = graph.AddInitializer(
        "b_zero", Tensor::Of<int32_t>({channels}, std::vector<int32_t>(static_cast<size_t>(channels), 0)));
    inputs.push_back(Append(graph, "DequantizeLinear", {b, b_scale, b_zero}, "bf", {{"axis", int64_t{0}, {}}}));
  }
  const ValueId layer = Append(graph, shape.op, std::move(inputs), "c", LayerAttributes(shape));
  FinishModel(graph, Append(graph, "QuantizeLinear", {layer, activation.scale, activation.zero}, "y"), DType::kUint8,
              shape.output);
  return model;
}

Expected<Model> QuantizeModel(const std::vector<int64_t>& dims, const std::string& input) {
  RLC_ASSIGN_OR_RETURN(const int64_t block, ChannelBlock());
  Model model = EmptyModel();
  Graph& graph = model.graph;
  const bool image = dims.size() == 4;
  std::vector<int64_t> blocked = dims, last = dims;
  if (image) last = {dims[0], dims[2], dims[3], dims[1]};
  if (image && block > 0) blocked[1] = (dims[1] + block - 1) / block * block;
  ValueId value = graph.AddInput(input, Type::Tensor(DType::kFloat, ShapeOf(blocked)));
  if (image && block > 0) {
    graph.SetOpset("com.microsoft.nchwc", 1);
    value = Append(graph, "ReorderOutput", {value}, "plain", {{"channels", dims[1], {}}}, "com.microsoft.nchwc");
  }
  const Quantization activation = ActivationParams(graph);
  value = Append(graph, "QuantizeLinear", {value, activation.scale, activation.zero}, "q");
  if (image) value = Append(graph, "Transpose", {value}, "y", {{"perm", std::vector<int64_t>{0, 2, 3, 1}, {}}});
  FinishModel(graph, value, DType::kUint8, last);
  return model;
}

Expected<Model> DequantizeModel(const std::vector<int64_t>& dims, const std::string& input) {
  RLC_ASSIGN_OR_RETURN(const int64_t block, ChannelBlock());
  Model model = EmptyModel();
  Graph& graph = model.graph;
  const bool image = dims.size() == 4;
  std::vector<int64_t> blocked = dims, last = dims;
  if (image) last = {dims[0], dims[2], dims[3], dims[1]};
  ValueId value = graph.AddInput(input, Type::Tensor(DType::kUint8, ShapeOf(last)));
  if (image) value = Append(graph, "Transpose", {value}, "q", {{"perm", std::vector<int64_t>{0, 3, 1, 2}, {}}});
  const Quantization activation = ActivationParams(graph);
  value = Append(graph, "DequantizeLinear", {value, activation.scale, activation.zero}, "plain");
  // The runtime's ReorderInput takes whole groups of four channels only; other tensors are handed over as they are.
  if (image && block > 0 && dims[1] % 4 == 0) {
    graph.SetOpset("com.microsoft.nchwc", 1);
    blocked[1] = (dims[1] + block - 1) / block * block;
    value = Append(graph, "ReorderInput", {value}, "y", {}, "com.microsoft.nchwc");
  }
  FinishModel(graph, value, DType::kFloat, blocked);
  return model;
}

Expected<Model> InsideNetwork(const Model& model, const std::string& input) {
  RLC_ASSIGN_OR_RETURN(const std::string bytes, SerializeModel(model));
  RLC_ASSIGN_OR_RETURN(RuntimeGraph ran, ReadRuntimeGraph(bytes, "a layer", OptLevel::kAll));
  Graph& graph = ran.model.graph;
  const ValueId x = graph.Find(input);
  RLC_CHECK(x != ValueId::kNone);
  const NodeId first = graph.SingleReader(x);
  if (first != NodeId::kNone && IsLayoutChange(graph.node(first))) {
    const Type type = graph.type(x);
    RLC_ASSIGN_OR_RETURN(
        const std::vector<int64_t> dims,
        DimsBehind(graph.node(first), StaticDims(type.shape.value_or(Shape())).value_or(std::vector<int64_t>())));
    const ValueId inner = graph.AddInput(input + "_inner", Type::Tensor(type.elem, ShapeOf(dims)));
    graph.ReplaceUses(graph.node(first).output(0), inner);
    graph.RemoveNode(first);
  }
  const ValueId y = graph.outputs().front();
  const NodeId change = ProducerOf(graph, y);
  if (change != NodeId::kNone && IsLayoutChange(graph.node(change))) {
    const ValueId inner = graph.node(change).input(0);
    const NodeId layer = ProducerOf(graph, inner);
    // Without a producer there is nothing behind this change of layout but itself.
    if (layer != NodeId::kNone && graph.SingleReader(inner) == change) {
      graph.SetInput(change, 0, x);  // its output is about to be the layer's own
      graph.TakeOverOutput(layer, 0, y);
      graph.RemoveNode(change);
      graph.SetType(y, Type::Tensor(graph.type(y).elem));
    }
  }
  return std::move(ran.model);
}

}  // namespace rlc
