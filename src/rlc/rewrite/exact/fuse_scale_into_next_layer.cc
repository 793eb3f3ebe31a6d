//   y = layer(x * s + t; W, b)   ->   y = layer(x; W * s, b + W t)      one s and t for each input channel, constant
//
// As BatchNormalization in front of a layer, or Mul, Div, Add, Sub with a constant. A scale moves through a Conv's
// padding (its zeros stay zeros), a shift does not: that one only where nothing is padded, or
//
//   y = Conv(x * s + t; W, b)    ->   y = Conv(x + t / s; W * s, b)     which saves the product
//
// All readers must be layers that can take it, each gets a weight of its own. Arithmetic: into Conv and ConvTranspose
// (that one has no place for a shift). BatchNormalization of a matrix: also into Gemm and MatMul.
//
// Refuses: constants that vary along another axis or that widen x; training mode; weights that are not constant; values
// that are not finite or lose precision in their type; the last product of a GELU or an unfinished hard-swish, which
// other fusions (the runtime's too) must still recognise.
#include <algorithm>
#include <cmath>

#include "rlc/rewrite/channel_math.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

// One node of arithmetic with a constant: which operand, and whether the constant comes first.
struct Arithmetic {
  ValueId x = ValueId::kNone;
  const Tensor* constant = nullptr;
  bool constant_first = false;
};

std::optional<Arithmetic> ReadArithmetic(const Graph& graph, const Node& node) {
  if (!node.Is("Mul") && !node.Is("Div") && !node.Is("Add") && !node.Is("Sub")) return std::nullopt;
  if (graph.opset() < 7 || node.inputs.size() != 2) return std::nullopt;
  for (const size_t side : {size_t{1}, size_t{0}}) {
    const ValueId x = node.input(1 - side);
    const Tensor* constant = graph.constant(node.input(side));
    if (constant == nullptr || x == ValueId::kNone || graph.constant(x) != nullptr) continue;
    if (node.op == "Div" && side == 0) return std::nullopt;
    return Arithmetic{x, constant, side == 0};
  }
  return std::nullopt;
}

// What the node does to each of `channels` channels of a tensor of rank `rank`; nothing when it does anything else.
std::optional<ChannelAffine> ReadAffine(const Graph& graph, const Node& node, const Arithmetic& arithmetic, int rank,
                                        int64_t channels) {
  const Type& type = graph.type(arithmetic.x);
  if (arithmetic.constant->size() != 1) {
    if (type.rank() != rank || (*type.shape)[1].value != channels || !(*type.shape)[1].known()) return std::nullopt;
  } else if (arithmetic.constant->rank() >= rank && type.rank() != rank) {
    return std::nullopt;  // x could have fewer dimensions
  }
  const auto values = PerChannel(*arithmetic.constant, rank, 1, channels);
  if (!values) return std::nullopt;
  ChannelAffine affine{std::vector<double>(values->size(), 1.0), std::vector<double>(values->size(), 0.0)};
  for (size_t c = 0; c < values->size(); ++c) {
    const double value = (*values)[c];
    if (node.op == "Mul") affine.scale[c] = value;
    if (node.op == "Div") affine.scale[c] = 1 / value;
    if (node.op == "Add") affine.shift[c] = value;
    if (node.op == "Sub") {
      affine.scale[c] = arithmetic.constant_first ? -1 : 1;
      affine.shift[c] = arithmetic.constant_first ? value : -value;
    }
  }
  return affine;
}

// The layers that read `value` as their input; empty when anything else reads it.
std::vector<NodeId> ReadingLayers(const Graph& graph, ValueId value) {
  std::vector<NodeId> layers;
  if (graph.is_output(value)) return {};
  for (const Use& use : graph.value(value).uses) {
    if (use.input != 0 || !InputChannels(graph, graph.node(use.node))) return {};
    layers.push_back(use.node);
  }
  std::sort(layers.begin(), layers.end());
  return layers;
}

bool IsConvolution(const Node& layer) { return layer.Is("Conv") || layer.Is("ConvTranspose"); }

bool TakesShift(const Graph& graph, const Node& layer) {
  if (layer.Is("Gemm") || layer.Is("MatMul")) return true;
  if (!layer.Is("Conv")) return false;
  const auto pads = ReadExplicitPads(layer, static_cast<size_t>(graph.constant(layer.input(1))->rank() - 2));
  return pads && std::all_of(pads->begin(), pads->end(), [](int64_t pad) { return pad == 0; });
}

bool HasShift(const ChannelAffine& affine) {
  return std::any_of(affine.shift.begin(), affine.shift.end(), [](double shift) { return shift != 0; });
}

// x is the product in a GELU, x * (1 + erf(..)), or in a hard-swish, x * clip(x + 3): what follows belongs to it.
bool EndsActivation(const Graph& graph, ValueId x) {
  const Node* product = ProducerIs(graph, x, "Mul");
  if (product == nullptr) return false;
  for (const ValueId operand : product->inputs) {
    const Node* gate = operand == ValueId::kNone ? nullptr : graph.producer(operand);
    if (gate == nullptr) continue;
    if (gate->Is("Clip") || gate->Is("Min") || gate->Is("Max")) return true;
    if (!gate->Is("Add")) continue;
    for (const ValueId summand : gate->inputs) {
      if (ProducerIs(graph, summand, "Erf") != nullptr || ProducerIs(graph, summand, "Tanh") != nullptr) return true;
    }
  }
  return false;
}

using FoldedLayers = std::vector<std::pair<NodeId, FoldedLayer>>;

Expected<FoldedLayers> FoldInto(const Graph& graph, const std::vector<NodeId>& layers, const ChannelAffine& affine) {
  FoldedLayers result;
  for (const NodeId id : layers) {
    RLC_ASSIGN_OR_RETURN(FoldedLayer folded, FoldInputAffine(graph, graph.node(id), affine));
    result.emplace_back(id, std::move(folded));
  }
  return result;
}

void InstallAll(Graph& graph, const FoldedLayers& folded) {
  for (const auto& [layer, tensors] : folded) InstallFolded(graph, layer, tensors);
}

Outcome FuseAll(const Graph& graph, NodeId anchor, ValueId x, const std::vector<NodeId>& layers,
                const ChannelAffine& affine) {
  if (HasShift(affine)) {
    const auto takes = [&](NodeId id) { return TakesShift(graph, graph.node(id)); };
    if (!std::all_of(layers.begin(), layers.end(), takes)) return Refuse("the layer pads with zeros");
  }
  auto folded = FoldInto(graph, layers, affine);
  if (!folded) return Refusal{folded.error().message};
  return Edit([=, folded = *std::move(folded)](Graph& changed) {
    InstallAll(changed, folded);
    Bypass(changed, anchor, x);
  });
}

struct LayerGeometry {
  int rank = 0;
  int64_t channels = 0;
};

// What all the layers agree on.
std::optional<LayerGeometry> GeometryOf(const Graph& graph, const std::vector<NodeId>& layers) {
  std::optional<LayerGeometry> common;
  for (const NodeId id : layers) {
    const Node& layer = graph.node(id);
    const LayerGeometry one{graph.constant(layer.input(1))->rank(), *InputChannels(graph, layer)};
    if (common && (common->rank != one.rank || common->channels != one.channels)) return std::nullopt;
    common = one;
  }
  return common;
}

Outcome FuseBatchNorm(const Graph& graph, NodeId anchor) {
  const Node& batch_norm = graph.node(anchor);
  const std::vector<NodeId> layers = ReadingLayers(graph, batch_norm.output(0));
  const auto geometry = GeometryOf(graph, layers);
  if (!geometry) return NoMatch{};
  if (geometry->rank == 2) {
    if (graph.opset() < 7) return Refuse("Gemm has another form before opset 7");
    if (graph.type(batch_norm.input(0)).rank() != 2) return Refuse("its channels may not be the columns");
    for (const NodeId id : layers) {
      if (graph.node(id).GetInt("transA", 0) != 0) return Refuse("the layer transposes its input");
    }
  }
  if (!IsInferenceBatchNorm(graph, batch_norm)) return Refuse("BatchNormalization is in training mode");
  const auto affine = BatchNormAffine(graph, batch_norm);
  if (!affine) return Refuse("the parameters of BatchNormalization are not constant");
  if (static_cast<int64_t>(affine->scale.size()) != geometry->channels) return Refuse("the numbers of channels differ");
  return FuseAll(graph, anchor, batch_norm.input(0), layers, *affine);
}

// x * s (the anchor), then + t: the layers take s, the sum t / s.
Outcome SwapProductAndSum(const Graph& graph, NodeId anchor, NodeId sum_id) {
  const Node& product = graph.node(anchor);
  const Node& sum = graph.node(sum_id);
  const auto inner = ReadArithmetic(graph, product);
  const auto outer = ReadArithmetic(graph, sum);
  if (!inner || !outer || outer->x != product.output(0) || (!sum.Is("Add") && !sum.Is("Sub"))) return NoMatch{};
  const std::vector<NodeId> layers = ReadingLayers(graph, sum.output(0));
  const auto geometry = GeometryOf(graph, layers);
  if (!geometry || geometry->rank < 3) return NoMatch{};
  if (EndsActivation(graph, inner->x)) return Refuse("the product ends an activation");
  auto first = ReadAffine(graph, product, *inner, geometry->rank, geometry->channels);
  const auto second = ReadAffine(graph, sum, *outer, geometry->rank, geometry->channels);
  if (!first || !second) return Refuse("the constants are not one number for each input channel");
  const double most = inner->constant->dtype() == DType::kFloat16 ? 1e4 : 1e30;
  std::vector<double> shifts;
  for (size_t c = 0; c < first->scale.size(); ++c) {
    first->scale[c] *= second->scale[c];
    shifts.push_back(second->shift[c] / first->scale[c]);
    if (!(std::abs(shifts.back()) < most)) return Refuse("a factor is too small to divide by");
  }
  auto folded = FoldInto(graph, layers, *first);
  if (!folded) return Refusal{folded.error().message};
  std::vector<int64_t> dims;
  if (inner->constant->size() != 1 || outer->constant->size() != 1) {
    dims.assign(static_cast<size_t>(geometry->rank - 1), 1);
    dims[0] = geometry->channels;
  } else {
    shifts.resize(1);
  }
  auto shift = Tensor::FromDoubles(inner->constant->dtype(), dims, shifts);
  if (!shift) return Refusal{shift.error().message};
  const ValueId x = inner->x;
  const std::string stem = graph.value(sum.input(outer->constant_first ? 0 : 1)).name;
  return Edit([=, folded = *std::move(folded), shift = *std::move(shift)](Graph& changed) {
    InstallAll(changed, folded);
    const ValueId constant = AddConstant(changed, stem, shift);
    Rebuild(changed, sum_id, "Add", {x, constant}, {});
  });
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (node.output(0) == ValueId::kNone) return NoMatch{};
  if (node.Is("BatchNormalization")) return FuseBatchNorm(graph, anchor);
  const auto arithmetic = ReadArithmetic(graph, node);
  if (!arithmetic) return NoMatch{};
  const NodeId reader = graph.SingleReader(node.output(0));
  const bool product = node.Is("Mul") || node.Is("Div");
  if (product && reader != NodeId::kNone && ReadArithmetic(graph, graph.node(reader))) {
    return SwapProductAndSum(graph, anchor, reader);
  }
  const std::vector<NodeId> layers = ReadingLayers(graph, node.output(0));
  const auto convolution = [&](NodeId id) { return IsConvolution(graph.node(id)); };
  if (!std::all_of(layers.begin(), layers.end(), convolution)) return NoMatch{};
  const auto geometry = GeometryOf(graph, layers);
  if (!geometry) return NoMatch{};
  if (EndsActivation(graph, arithmetic->x)) return Refuse("the product ends an activation");
  const auto affine = ReadAffine(graph, node, *arithmetic, geometry->rank, geometry->channels);
  if (!affine) return Refuse("the constant is not one number for each input channel");
  return FuseAll(graph, anchor, arithmetic->x, layers, *affine);
}

}  // namespace

std::unique_ptr<Rewrite> FuseScaleIntoNextLayer() {
  return MakeExactRule("fuse-scale-into-next-layer", "Conv(x * s + t, W, b) -> Conv(x, W', b'); also BN before a layer",
                       &At);
}

}  // namespace rlc
