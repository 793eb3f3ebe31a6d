#include "rlc/ir/model.h"
#include "rlc/onnx/export.h"
#include "rlc/train/export_policy-inl.h"

namespace rlc {
namespace {

rlc::Tensor ToOurs(const torch::Tensor& tensor) {
  const torch::Tensor dense = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  const std::vector<float> values(dense.data_ptr<float>(), dense.data_ptr<float>() + dense.numel());
  return rlc::Tensor::Of(dense.sizes().vec(), values);
}

ValueId AddNodeTo(Graph& graph, std::string op, std::vector<ValueId> inputs, const std::string& output,
                  std::vector<Attribute> attributes = {}) {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const ValueId out = graph.AddValue(output);
  node.outputs = {out};
  graph.AddNode(std::move(node));
  return out;
}

}  // namespace

Expected<void> ExportPolicy(const ActorCritic& network, int64_t inputs, int64_t actions, const std::string& path) {
  Model model;
  model.ir_version = 8;
  Graph& graph = model.graph;
  graph.SetName("policy");
  graph.SetOpset("", 17);
  const auto matrix = [](int64_t columns) { return Type::Tensor(DType::kFloat, Shape{Dim::Named("N"), Dim::Of(columns)}); };
  ValueId top = graph.AddInput("observation", matrix(inputs));
  const auto named = network->policy->named_parameters();
  const std::vector<std::string> layers = {"0", "2", "4"};  // Linear, Tanh, Linear, Tanh, Linear
  for (const std::string& layer : layers) {
    const ValueId weight = graph.AddInitializer("weight" + layer, ToOurs(named[layer + ".weight"]));
    const ValueId bias = graph.AddInitializer("bias" + layer, ToOurs(named[layer + ".bias"]));
    const bool last = layer == layers.back();
    top = AddNodeTo(graph, "Gemm", {top, weight, bias}, last ? "logits" : "hidden" + layer, {{"transB", int64_t{1}, {}}});
    if (!last) top = AddNodeTo(graph, "Tanh", {top}, "active" + layer);
  }
  graph.SetType(top, matrix(actions));
  graph.AddOutput(top);
  return WriteModel(model, path);
}

}  // namespace rlc
