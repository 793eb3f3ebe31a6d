#include "rlc/rewrite/approximate/settle.h"

#include <algorithm>
#include <set>
#include <vector>

#include "rlc/ir/layers.h"
#include "rlc/rewrite/approximate/qdq.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"

namespace rlc {
namespace {

using Values = std::set<ValueId>;

// True when every input of the node is available as integers of the type, counting those in `assumed`.
bool InputsQuantized(const Graph& graph, const Node& node, DType type, const Values& assumed = {}) {
  return !node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    if (input == ValueId::kNone || graph.constant(input) != nullptr) return false;
    if (assumed.contains(input)) return true;
    const auto pair = PairOf(graph, input);
    return pair && pair->type == type;
  });
}

// The pair on the node's output, maybe behind an activation that the pair makes needless.
std::optional<QuantPair> OutputPair(const Graph& graph, const Node& node) {
  if (node.output(0) == ValueId::kNone) return std::nullopt;
  if (auto pair = PairOn(graph, node.output(0))) return pair;
  const ValueId behind = BehindActivation(graph, node.output(0));
  auto pair = PairOn(graph, behind);
  return pair && Subsumes(graph, pair->params, pair->type, *graph.producer(behind)) ? pair : std::nullopt;
}

// True when the node computes integers from integers, given the pairs there are.
bool WorksOnIntegers(const Graph& graph, const Node& node) {
  const auto output = OutputPair(graph, node);
  if (!output) return false;
  if (IsQuantizedLayer(graph, node)) return true;
  if (HasIntegerForm(node)) return InputsQuantized(graph, node, output->type);
  if (!MovesNumbers(graph, node)) return false;
  const auto input = PairBehind(graph, node.input(0));
  return input && input->params == output->params && input->type == output->type;
}

// True when quantizing `value`, and those in `assumed`, lets a reader work on integers.
bool IsWanted(const Graph& graph, ValueId value, DType type, const Values& assumed) {
  return std::any_of(graph.value(value).uses.begin(), graph.value(value).uses.end(), [&](const Use& use) {
    if (use.input == Use::kCapture) return false;
    const Node& reader = graph.node(use.node);
    const ValueId output = reader.output(0);
    if (HasIntegerForm(reader)) {
      const bool quantized = OutputPair(graph, reader) || assumed.contains(BehindActivation(graph, output));
      Values with_value = assumed;
      with_value.insert(value);
      return quantized && InputsQuantized(graph, reader, type, with_value);
    }
    return MovesNumbers(graph, reader) && use.input == 0 &&
           std::any_of(reader.outputs.begin(), reader.outputs.end(), [&](ValueId moved) {
             return moved != ValueId::kNone && (PairOn(graph, moved) || IsWanted(graph, moved, type, assumed));
           });
  });
}

// True when the value may become integers: its node has an integer form and integer inputs, or is neither a layer nor
// the graph's interface. Such a node (HardSwish, the gate of squeeze-and-excitation) computes floats from integers
// anyway, and converting what it makes costs no more than converting what is made of it, while the nodes behind stay in
// the integer kernels' memory layout. What a layer computes in float stays float: that is the plan's choice.
bool IsReachable(const Graph& graph, ValueId value, DType type, const Values& assumed) {
  const Node* producer = graph.producer(value);
  // Behind an activation, the node in front of it is what must work on integers.
  if (producer != nullptr && IsAbsorbable(graph, *producer) && BehindActivation(graph, producer->input(0)) == value) {
    producer = graph.producer(producer->input(0));
  }
  if (producer == nullptr || IsLayer(graph, *producer)) return false;
  return HasIntegerForm(*producer) ? InputsQuantized(graph, *producer, type, assumed) : !MovesNumbers(graph, *producer);
}

// Quantizes the values in `ranges` that complete a chain of integer nodes. They can depend on one another both ways, so
// all are assumed at first and those that do not fit are dropped until the rest holds together.
void QuantizeBetween(Graph& graph, const std::map<std::string, QuantParams>& ranges, DType type) {
  Values assumed;
  for (const auto& [name, params] : ranges) {
    const ValueId value = graph.Find(name);
    if (value != ValueId::kNone && !PairOf(graph, value)) assumed.insert(value);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const ValueId value : Values(assumed)) {
      if (IsWanted(graph, value, type, assumed) && IsReachable(graph, value, type, assumed)) continue;
      assumed.erase(value);
      changed = true;
    }
  }
  for (const ValueId value : assumed) EnsureDequantized(graph, value, ranges.at(graph.value(value).name), type);
}

// All readers of the pair's raw value, its own QuantizeLinear apart, read the dequantized value.
void MoveReaders(Graph& graph, const QuantPair& pair) {
  const ValueId raw = pair.raw;
  if (graph.value(raw).uses.size() == 1 && !graph.is_output(raw)) return;
  const ValueId dequantized = EnsureDequantized(graph, raw, pair.params, pair.type);
  if (!graph.is_output(raw)) {
    graph.ReplaceUses(raw, dequantized);
    graph.SetInput(pair.quantize, 0, raw);
    return;
  }
  // The graph's output keeps its name, so the DequantizeLinear takes it over.
  const NodeId producer = graph.value(raw).producer;
  const auto index = static_cast<size_t>(graph.value(raw).output);
  const NodeId dequantize = graph.value(dequantized).producer;
  graph.ReplaceUses(dequantized, raw);
  graph.TakeOverOutput(dequantize, 0, raw);
  graph.SetInput(pair.quantize, 0, graph.node(producer).output(index));
}

// Integers that come to a node that moves them go on behind it, when something there wants them. All outputs get a
// pair then: the runtime moves integers only so.
void CarryOn(Graph& graph, NodeId id, DType type) {
  const Node node = graph.node(id);
  if (!MovesNumbers(graph, node)) return;
  const auto input = PairBehind(graph, node.input(0));
  const auto has_pair = [&](ValueId output) { return output != ValueId::kNone && PairOn(graph, output); };
  const auto is_wanted = [&](ValueId output) {
    return output != ValueId::kNone && (has_pair(output) || IsWanted(graph, output, type, {}));
  };
  if (!input || std::none_of(node.outputs.begin(), node.outputs.end(), is_wanted)) return;
  for (const ValueId output : node.outputs) {
    if (output == ValueId::kNone || has_pair(output)) continue;
    EnsureDequantized(graph, output, input->params, input->type);
    MoveReaders(graph, *PairOn(graph, output));
  }
}

void ConnectIntegerNodes(Graph& graph, DType type) {
  const std::vector<NodeId> nodes = graph.nodes();
  for (const NodeId id : nodes) {
    if (!graph.alive(id)) continue;
    CarryOn(graph, id, type);
    if (!WorksOnIntegers(graph, graph.node(id))) continue;
    if (HasIntegerForm(graph.node(id))) {
      for (size_t i = 0; i < graph.node(id).inputs.size(); ++i) {
        const auto pair = PairOf(graph, graph.node(id).input(i));
        const ValueId dequantized = EnsureDequantized(graph, pair->raw, pair->params, pair->type);
        if (graph.node(id).input(i) != dequantized) ReplaceInput(graph, id, i, dequantized);
      }
    }
    const ValueId output = graph.node(id).output(0);
    if (!PairOn(graph, output)) AbsorbActivation(graph, output);
    const Node node = graph.node(id);
    for (const ValueId value : node.outputs) {
      if (value == ValueId::kNone) continue;
      if (const auto pair = PairOn(graph, value)) MoveReaders(graph, *pair);
    }
  }
}

// Channels along `axis` of a layer's input; nothing when its weight does not tell.
struct InputChannels {
  int64_t count = 0, axis = 1;
};
std::optional<InputChannels> ChannelsOfInput(const Graph& graph, const Node& layer) {
  const Tensor* weight = graph.constant(layer.input(1));
  if (weight == nullptr || weight->rank() < 2) return std::nullopt;
  if (layer.Is("Conv")) return InputChannels{weight->dims()[1] * layer.GetInt("group", 1).value_or(1), 1};
  if (layer.Is("ConvTranspose")) return InputChannels{weight->dims()[0], 1};
  if (layer.Is("Gemm") && layer.GetInt("transA", 0) == 0) {
    return InputChannels{weight->dims()[layer.GetInt("transB", 0) == 0 ? 0 : 1], 1};
  }
  if (layer.Is("MatMul") && weight->rank() == 2) return InputChannels{weight->dims()[0], -1};
  return std::nullopt;
}

// True when ONNX Runtime may move a DequantizeLinear to this value from behind: it pushes them through nodes that move
// numbers, as far as they have one reader.
bool MayBecomeDequantized(const Graph& graph, ValueId value) {
  for (;;) {
    const Node* producer = graph.producer(value);
    if (producer == nullptr) return false;
    if (producer->Is("DequantizeLinear")) {
      const Tensor* scale = graph.constant(producer->input(1));
      return scale == nullptr || scale->size() == 1;
    }
    if (!MovesNumbers(graph, *producer) || producer->input(0) == ValueId::kNone) return false;
    value = producer->input(0);
  }
}

void KeepFloat(Graph& graph) {
  const std::vector<NodeId> nodes = graph.nodes();
  for (const NodeId id : nodes) {
    const Node node = graph.node(id);
    if (!IsLayer(graph, node) || IsQuantizedLayer(graph, node) || !MayBecomeDequantized(graph, node.input(0))) continue;
    const auto pair = PairBehind(graph, node.input(0));
    const auto channels = ChannelsOfInput(graph, node);
    ValueId guarded = ValueId::kNone;
    if (pair && channels && channels->count > 1) {
      guarded = EnsureDequantizedPerChannel(graph, *pair, channels->count, channels->axis);
    } else {
      guarded = Insert(graph, id, "Sum", {node.input(0)}, {}, graph.value(node.input(0)).name + "_kept",
                       graph.type(node.input(0)));
    }
    ReplaceInput(graph, id, 0, guarded);
  }
}

}  // namespace

void Settle(Graph& graph, const std::map<std::string, QuantParams>& ranges, DType type) {
  QuantizeBetween(graph, ranges, type);
  ConnectIntegerNodes(graph, type);
  KeepFloat(graph);
}

}  // namespace rlc
