#include <bit>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/train/export_policy-inl.h"
#include "rlc/train/wire.h"

namespace rlc {
namespace {

// Field numbers and enumerators of onnx.proto.
constexpr int kFloatType = 1, kIntAttribute = 2;
constexpr int kIrVersion = 8, kOpset = 17;

static_assert(std::endian::native == std::endian::little, "raw_data holds lowest bytes first");

std::string TensorProto(const std::string& name, const torch::Tensor& tensor) {
  const torch::Tensor dense = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  std::string proto;
  for (int64_t size : dense.sizes()) AppendInt(proto, 1, size);
  AppendInt(proto, 2, kFloatType);
  AppendBytes(proto, 8, name);
  const auto bytes = static_cast<size_t>(dense.numel()) * sizeof(float);
  AppendBytes(proto, 9, {reinterpret_cast<const char*>(dense.data_ptr<float>()), bytes});
  return proto;
}

std::string NodeProto(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
  std::string proto;
  for (const std::string& input : inputs) AppendBytes(proto, 1, input);
  AppendBytes(proto, 2, output);
  AppendBytes(proto, 3, output);
  AppendBytes(proto, 4, op);
  if (op != "Gemm") return proto;
  std::string transposed;  // libtorch keeps weights as [outputs, inputs]
  AppendBytes(transposed, 1, "transB");
  AppendInt(transposed, 3, 1);
  AppendInt(transposed, 20, kIntAttribute);
  AppendBytes(proto, 5, transposed);
  return proto;
}

// name: float[N, columns]
std::string ValueInfoProto(const std::string& name, int64_t columns) {
  std::string rows, width, shape, tensor, type, proto;
  AppendBytes(rows, 2, "N");
  AppendInt(width, 1, columns);
  AppendBytes(shape, 1, rows);
  AppendBytes(shape, 1, width);
  AppendInt(tensor, 1, kFloatType);
  AppendBytes(tensor, 2, shape);
  AppendBytes(type, 1, tensor);
  AppendBytes(proto, 1, name);
  AppendBytes(proto, 2, type);
  return proto;
}

std::string GraphProto(const ActorCritic& network, int64_t inputs, int64_t actions) {
  std::string graph;
  const auto named = network->policy->named_parameters();
  const std::vector<std::string> layers = {"0", "2", "4"};  // Linear, Tanh, Linear, Tanh, Linear
  std::string top = "observation";
  for (const std::string& layer : layers) {
    const bool last = layer == layers.back();
    const std::string sum = last ? "logits" : "hidden" + layer;
    AppendBytes(graph, 1, NodeProto("Gemm", {top, "weight" + layer, "bias" + layer}, sum));
    if (!last) AppendBytes(graph, 1, NodeProto("Tanh", {sum}, "active" + layer));
    top = last ? sum : "active" + layer;
  }
  AppendBytes(graph, 2, "policy");
  for (const std::string& layer : layers) {
    AppendBytes(graph, 5, TensorProto("weight" + layer, named[layer + ".weight"]));
    AppendBytes(graph, 5, TensorProto("bias" + layer, named[layer + ".bias"]));
  }
  AppendBytes(graph, 11, ValueInfoProto("observation", inputs));
  AppendBytes(graph, 12, ValueInfoProto("logits", actions));
  return graph;
}

}  // namespace

Expected<void> ExportPolicy(const ActorCritic& network, int64_t inputs, int64_t actions, const std::string& path) {
  std::string model, opset;
  AppendInt(model, 1, kIrVersion);
  AppendBytes(model, 2, "rlc-train");
  AppendBytes(model, 7, GraphProto(network, inputs, actions));
  AppendInt(opset, 2, kOpset);
  AppendBytes(model, 8, opset);
  return WriteFileAtomically(path, model);
}

}  // namespace rlc
