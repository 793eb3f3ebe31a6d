#include "rlc/ort/runtime_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"
#include "rlc/ort/runtime.h"

namespace rlc {
namespace {

// The node name that a layer gets for the question. No mark is the beginning of another.
std::string Mark(int layer) { return "rlc_mark_" + std::to_string(layer) + "_"; }

// How strongly a node of the runtime's graph is tied to a layer; 0: not at all. Marks survive fusion and quantization
// (as parts of longer names, also of new weights); the blocked layout takes its names from outputs; weights may be
// shared, and outputs are taken over by what is fused behind.
enum Tie { kNone = 0, kOutput = 1, kWeight = 2, kMarkedWeight = 3, kBlocked = 4, kMarked = 5 };

// Single-input steps (and Add, Mul of an activation) that the runtime fuses into the layer before them, so that the
// fused node carries their output's name.
bool IsFusedBehind(const Node& node) {
  static const std::set<std::string> kOps = {
      "Add", "BatchNormalization", "Clip", "DequantizeLinear", "Div", "HardSigmoid", "HardSwish", "LeakyRelu",
      "Mul", "QuantizeLinear",     "Relu", "Sigmoid",          "Sub", "Tanh",        "QuickGelu", "Gelu"};
  return kOps.contains(node.op);
}

// Weights go through these on their way into a layer.
bool IsWeightStep(const Node& node) {
  return node.Is("DequantizeLinear") || node.Is("QuantizeLinear") || node.Is("Transpose") || node.Is("Cast") ||
         node.Is("Identity");
}

// Names of the weight: the layer's own input and whatever it is computed from.
std::vector<std::string> WeightNames(const Graph& graph, ValueId weight) {
  std::vector<std::string> names;
  for (ValueId id = weight; id != ValueId::kNone && names.size() < 8;) {
    names.push_back(graph.value(id).name);
    const Node* producer = graph.producer(id);
    id = producer != nullptr && IsWeightStep(*producer) ? producer->input(0) : ValueId::kNone;
  }
  return names;
}

bool IsEightBit(DType type) { return type == DType::kInt8 || type == DType::kUint8; }

// The weight of a float layer comes as 8-bit numbers through DequantizeLinear.
bool HasQuantizedWeight(const Graph& graph, ValueId weight) {
  for (ValueId id = weight; id != ValueId::kNone;) {
    const Node* producer = graph.producer(id);
    if (producer == nullptr || !IsWeightStep(*producer)) return false;
    if (producer->Is("DequantizeLinear")) {
      const ValueId source = producer->input(0);
      if (source == ValueId::kNone) return false;
      const Tensor* constant = graph.constant(source);
      return constant == nullptr || IsEightBit(constant->dtype());
    }
    id = producer->input(0);
  }
  return false;
}

std::vector<std::string> OutputNames(const Graph& graph, const Node& layer) {
  std::vector<std::string> names;
  ValueId id = layer.output(0);
  while (id != ValueId::kNone && names.size() < 8) {
    names.push_back(graph.value(id).name);
    const NodeId reader = graph.SingleReader(id);
    if (reader == NodeId::kNone || !IsFusedBehind(graph.node(reader))) break;
    id = graph.node(reader).output(0);
  }
  return names;
}

struct Layer {
  int number = -1;
  std::string mark;
  bool planned = false;
  std::vector<std::string> outputs, weights;
};

std::vector<Layer> LayersOf(const Graph& graph) {
  std::vector<Layer> layers;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.layer < 0) continue;
    layers.push_back({node.layer, Mark(node.layer), HasQuantizedWeight(graph, node.input(1)) || IsIntegerOp(node.op),
                      OutputNames(graph, node), WeightNames(graph, node.input(1))});
  }
  std::sort(layers.begin(), layers.end(), [](const Layer& a, const Layer& b) { return a.number < b.number; });
  return layers;
}

bool CouldBeLayer(const Node& node) {
  for (const std::string_view part : {"Conv", "Gemm", "MatMul"}) {
    if (node.op.find(part) != std::string::npos) return true;
  }
  return false;
}

Tie TieOf(const Graph& graph, const Node& node, const Layer& layer) {
  const auto marked = [&](std::string_view name) { return name.find(layer.mark) != std::string_view::npos; };
  if (marked(node.name)) return kMarked;
  for (const std::string& output : layer.outputs) {
    if (node.name.starts_with(output + "_nchwc")) return kBlocked;
  }
  bool weight = false, marked_weight = false;
  for (const ValueId input : node.inputs) {
    if (input == ValueId::kNone) continue;
    for (const std::string& name : WeightNames(graph, input)) {
      marked_weight |= marked(name) && graph.Find(name) != ValueId::kNone && name.find("_weight") != std::string::npos;
      weight |= std::find(layer.weights.begin(), layer.weights.end(), name) != layer.weights.end();
    }
  }
  if (marked_weight) return kMarkedWeight;
  if (weight) return kWeight;
  for (const ValueId output : node.outputs) {
    if (output == ValueId::kNone) continue;
    const std::string& name = graph.value(output).name;
    if (std::find(layer.outputs.begin(), layer.outputs.end(), name) != layer.outputs.end()) return kOutput;
  }
  return kNone;
}

RanAs Describe(const Graph& graph, const Node& node, const Layer& layer, OptLevel level) {
  RanAs ran;
  ran.layer = layer.number;
  ran.op = node.op;
  ran.domain = node.domain;
  ran.planned = layer.planned;
  ran.integer = IsIntegerOp(node.op);
  ran.quantized = ran.integer || HasQuantizedWeight(graph, node.input(1));
  const bool fuses = level == OptLevel::kExtended || level == OptLevel::kAll;
  ran.as_planned = ran.quantized == ran.planned && (!ran.planned || ran.integer || !fuses);
  return ran;
}

// Strongest ties first; each node of the runtime's graph stands for one layer at most.
std::vector<RanAs> Match(const std::vector<Layer>& layers, const Graph& graph, OptLevel level) {
  struct Pair {
    Tie tie;
    size_t layer;
    NodeId node;
  };
  std::vector<Pair> pairs;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!CouldBeLayer(node)) continue;
    for (size_t i = 0; i < layers.size(); ++i) {
      const Tie tie = TieOf(graph, node, layers[i]);
      if (tie != kNone) pairs.push_back({tie, i, id});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.tie > b.tie; });
  std::vector<RanAs> result(layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    result[i].layer = layers[i].number;
    result[i].planned = layers[i].planned;
  }
  std::set<NodeId> taken;
  for (const Pair& pair : pairs) {
    if (result[pair.layer].found() || !taken.insert(pair.node).second) continue;
    result[pair.layer] = Describe(graph, graph.node(pair.node), layers[pair.layer], level);
  }
  return result;
}

}  // namespace

bool IsIntegerOp(std::string_view op) {
  if (op.starts_with("QLinear") || op.starts_with("QOrdered") || op.starts_with("DynamicQuantize")) {
    return op != "DynamicQuantizeLinear";
  }
  return op == "QGemm" || op == "QAttention" || op == "ConvInteger" || op == "MatMulInteger" ||
         op == "ConvIntegerToFloat" || op == "MatMulIntegerToFloat";
}

Expected<RuntimeGraph> ReadRuntimeGraph(std::string_view model, const std::string& what, OptLevel level) {
  RLC_ASSIGN_OR_RETURN(const RuntimeInfo runtime, LoadRuntime());
  RLC_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create());
  SessionOptions options;
  options.level = level;
  options.flush_denormals = false;
  options.optimized_model_path = JoinPath(folder.path(), "optimized.onnx");
  RLC_RETURN_IF_ERROR(Session::FromBytes(model, what, options));
  RuntimeGraph graph;
  graph.level = level;
  graph.runtime_version = runtime.version;
  RLC_ASSIGN_OR_RETURN(graph.bytes, ReadFile(options.optimized_model_path));
  RLC_ASSIGN_OR_RETURN(graph.model, ParseModel(graph.bytes, what + ", as optimized by ONNX Runtime", folder.path()));
  return graph;
}

Expected<std::vector<RanAs>> WhatRan(const Model& written, const std::string& what, OptLevel level) {
  const std::vector<Layer> layers = LayersOf(written.graph);
  if (layers.empty()) return std::vector<RanAs>();
  Model marked = written;
  const std::vector<NodeId> nodes = marked.graph.nodes();
  for (const NodeId id : nodes) {
    if (const int layer = marked.graph.node(id).layer; layer >= 0) marked.graph.SetNodeName(id, Mark(layer));
  }
  RLC_ASSIGN_OR_RETURN(const std::string bytes, SerializeModel(marked));
  RLC_ASSIGN_OR_RETURN(const RuntimeGraph ran, ReadRuntimeGraph(bytes, what, level));
  return Match(layers, ran.model.graph, level);
}

}  // namespace rlc
