#include "rlc/region/fusion.h"

#include <algorithm>

namespace rlc {
namespace {

struct ActivationNodes {
  Activation activation;
  std::vector<NodeId> nodes;
  ValueId output = ValueId::kNone;
};

bool SameDims(const Type& a, const Type& b) {
  return a.shape && b.shape &&
         std::equal(a.shape->begin(), a.shape->end(), b.shape->begin(), b.shape->end(),
                    [](const Dim& x, const Dim& y) { return x.SameAs(y); });
}

// x Sigmoid(x) or x HardSigmoid(x), where nothing else reads x or the gate.
std::optional<ActivationNodes> MatchGate(const Graph& graph, ValueId x, const ConstantOf& constant) {
  const auto& uses = graph.value(x).uses;
  if (uses.size() != 2 || graph.is_output(x)) return std::nullopt;
  for (const Use& use : uses) {
    if (use.input == Use::kCapture) return std::nullopt;
    const Node& gate = graph.node(use.node);
    if (gate.op != "Sigmoid" && gate.op != "HardSigmoid") continue;
    const NodeId product = graph.SingleReader(gate.outputs[0]);
    const bool other = uses[0].node == product || uses[1].node == product;
    if (product == NodeId::kNone || !other || graph.node(product).op != "Mul") continue;
    const auto inner = ActivationOf(graph, gate, constant);
    if (!inner) continue;
    const auto kind = gate.op == "Sigmoid" ? Activation::Kind::kSilu : Activation::Kind::kHardSwish;
    return ActivationNodes{{kind, inner->alpha, inner->beta}, {use.node, product}, graph.node(product).outputs[0]};
  }
  return std::nullopt;
}

std::optional<ActivationNodes> MatchActivation(const Graph& graph, ValueId x, const ConstantOf& constant) {
  const NodeId reader = graph.SingleReader(x);
  if (reader == NodeId::kNone) return MatchGate(graph, x, constant);
  const auto activation = ActivationOf(graph, graph.node(reader), constant);
  if (!activation || graph.node(reader).inputs[0] != x) return std::nullopt;
  return ActivationNodes{*activation, {reader}, graph.node(reader).outputs[0]};
}

// The other operand, if `sum` adds one to `x` that exists before `layer` does.
ValueId ResidualOf(const Graph& graph, NodeId layer, const Node& sum, ValueId x, const ConstantOf& constant) {
  if (sum.op != "Add" || sum.inputs.size() != 2) return ValueId::kNone;
  const ValueId other = sum.inputs[sum.inputs[0] == x ? 1 : 0];
  if (other == x || constant(other) != nullptr || !SameDims(graph.type(x), graph.type(other))) return ValueId::kNone;
  const NodeId producer = graph.value(other).producer;
  return producer == NodeId::kNone || graph.Before(producer, layer) ? other : ValueId::kNone;
}

}  // namespace

std::optional<Activation> ActivationOf(const Graph& graph, const Node& node, const ConstantOf& constant) {
  using Kind = Activation::Kind;
  const auto number = [&](const char* name, float absent) { return node.GetFloat(name, absent).value_or(absent); };
  if (node.op == "Relu") return Activation::Relu();
  if (node.op == "Clip") {
    const auto bounds = ReadClip(graph, node, constant);
    if (!bounds) return std::nullopt;
    return Activation{Kind::kClip, bounds->low, bounds->high};
  }
  if (node.op == "LeakyRelu") return Activation{Kind::kLeakyRelu, number("alpha", 0.01F), 0};
  if (node.op == "HardSigmoid") return Activation{Kind::kHardSigmoid, number("alpha", 0.2F), number("beta", 0.5F)};
  if (node.op == "HardSwish") return Activation{Kind::kHardSwish, 1.0F / 6, 0.5F};
  if (node.op == "Sigmoid") return Activation{Kind::kSigmoid, 0, 0};
  if (node.op == "Gelu") return Activation{Kind::kGelu, 0, 0};
  if (node.op == "Tanh") return Activation{Kind::kTanh, 0, 0};
  return std::nullopt;
}

Fusion FuseAfter(const Graph& graph, NodeId layer, bool with_residual, const ConstantOf& constant) {
  Fusion fusion;
  fusion.nodes = {layer};
  fusion.output = graph.node(layer).outputs[0];
  const NodeId reader = graph.SingleReader(fusion.output);
  if (with_residual && reader != NodeId::kNone) {
    fusion.residual = ResidualOf(graph, layer, graph.node(reader), fusion.output, constant);
    if (fusion.residual != ValueId::kNone) {
      fusion.nodes.push_back(reader);
      fusion.output = graph.node(reader).outputs[0];
    }
  }
  if (const auto found = MatchActivation(graph, fusion.output, constant)) {
    fusion.nodes.insert(fusion.nodes.end(), found->nodes.begin(), found->nodes.end());
    fusion.activation = found->activation;
    fusion.output = found->output;
  }
  return fusion;
}

}  // namespace rlc
