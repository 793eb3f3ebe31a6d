// A walk from the Conv's output along all readers. Each value on the way carries the channels along one axis; each
// reader either hands them on, takes them in (a layer with constant weights), or ends the walk with a reason.
#include "rlc/prune/groups.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rlc {
namespace {

// Where the channels of a value are.
struct Place {
  int rank = 0;
  int axis = 1;
  int64_t inner = 1;
  bool operator==(const Place&) const = default;
};

Unexpected No(std::string reason) { return Unexpected(Error{ErrorKind::kInvalidInput, std::move(reason)}); }

std::string Describe(const Graph& graph, const Node& node) {
  std::string name = node.name;
  for (const ValueId output : node.outputs) {
    if (name.empty() && output != ValueId::kNone) name = graph.value(output).name;
  }
  return fmt::format("{} '{}'", node.op, name);
}

// One input (and constants that do not touch channels), one output of the same shape, each channel for itself.
bool IsElementwise(const Node& node) {
  static constexpr std::array<std::string_view, 18> kOps = {
      "Abs",  "Clip", "Elu",  "Erf",       "Exp",  "Gelu",    "HardSigmoid", "HardSwish", "Identity",
      "Mish", "Neg",  "Relu", "LeakyRelu", "Selu", "Sigmoid", "Softplus",    "Softsign",  "Tanh"};
  if (!node.domain.empty()) return false;
  if ((node.Is("Sum") || node.Is("Max")) && node.inputs.size() == 1) return true;
  return std::find(kOps.begin(), kOps.end(), node.op) != kOps.end();
}

bool IsPooling(const Node& node) {
  return (node.Is("MaxPool") && node.outputs.size() == 1) || node.Is("AveragePool") || node.Is("GlobalAveragePool") ||
         node.Is("GlobalMaxPool");
}

bool IsArithmetic(const Node& node) { return node.Is("Add") || node.Is("Sub") || node.Is("Mul") || node.Is("Div"); }

bool IsInference(const Node& node) {
  return node.GetInt("training_mode", 0) == 0 && node.outputs.size() == 1 && node.GetInt("is_test", 1) == 1;
}

class Walk {
 public:
  Walk(const Graph& graph, NodeId layer) : graph_(graph) { group_.layer = layer; }

  Expected<ChannelGroup> Run() {
    RLC_RETURN_IF_ERROR(Start());
    for (size_t i = 0; i < group_.values.size(); ++i) {
      const ValueId value = group_.values[i].value;
      if (!places_.contains(value)) continue;  // a dequantized weight: nothing to follow
      RLC_RETURN_IF_ERROR(Follow(value, places_.at(value)));
    }
    for (const auto& [node, place] : joins_) RLC_RETURN_IF_ERROR(CheckJoin(node, place));
    group_.activation = Activation();
    return std::move(group_);
  }

 private:
  Expected<void> Start() {
    const Node& conv = graph_.node(group_.layer);
    if (!conv.Is("Conv")) return No(fmt::format("only a Conv loses channels, this is a {}", conv.op));
    if (conv.GetInt("group", 1) != 1) return No("it is a grouped Conv: its channels belong to the layer before it");
    const auto dims = WeightDims(conv.input(1));
    if (!dims || dims->size() < 3) return No("its weight is not constant");
    group_.channels = dims->front();
    if (group_.channels < 2) return No("it has a single output channel");
    RLC_RETURN_IF_ERROR(Slice(group_.layer, 1, 0, 1));
    if (conv.input(2) != ValueId::kNone) RLC_RETURN_IF_ERROR(Slice(group_.layer, 2, 0, 1));
    Reach(conv.output(0), {static_cast<int>(dims->size()), 1, 1});
    return {};
  }

  // Dimensions of a constant, also behind DequantizeLinear.
  std::optional<std::vector<int64_t>> WeightDims(ValueId value) const {
    if (const Tensor* tensor = graph_.constant(value)) return tensor->dims();
    const Node* node = graph_.producer(value);
    if (node == nullptr || !node->Is("DequantizeLinear")) return std::nullopt;
    const Tensor* tensor = graph_.constant(node->input(0));
    return tensor == nullptr ? std::nullopt : std::optional(tensor->dims());
  }

  void Reach(ValueId value, Place place) {
    if (value == ValueId::kNone || places_.contains(value)) return;
    places_[value] = place;
    group_.values.push_back({value, place.axis, place.inner});
  }

  // The constant at an input loses entries of `axis`; it must have channels * inner of them.
  Expected<void> Slice(NodeId id, int input, int axis, int64_t inner) {
    const Node& node = graph_.node(id);
    const ValueId value = node.input(static_cast<size_t>(input));
    const auto dims = WeightDims(value);
    if (!dims) return No(fmt::format("input {} of {} is not constant", input, Describe(graph_, node)));
    if (axis >= static_cast<int>(dims->size()) || (*dims)[static_cast<size_t>(axis)] != group_.channels * inner) {
      return No(fmt::format("input {} of {} does not have {} entries along axis {}", input, Describe(graph_, node),
                            group_.channels * inner, axis));
    }
    if (graph_.constant(value) != nullptr) {
      group_.slices.push_back({id, input, axis, inner});
      return {};
    }
    if (graph_.SingleReader(value) != id) {
      return No(fmt::format("the quantized weight of {} has another reader", Describe(graph_, node)));
    }
    const NodeId dequantize = graph_.value(value).producer;
    group_.slices.push_back({dequantize, 0, axis, inner});
    group_.values.push_back({value, axis, inner});
    return SliceScales(dequantize, axis, static_cast<int>(dims->size()), inner);
  }

  // Scale and zero point of a QuantizeLinear or DequantizeLinear, when they have one entry for each channel.
  Expected<void> SliceScales(NodeId id, int axis, int rank, int64_t inner) {
    const Node& node = graph_.node(id);
    const Tensor* scale = graph_.constant(node.input(1));
    if (scale == nullptr) return No(fmt::format("the scale of {} is not constant", Describe(graph_, node)));
    if (scale->size() == 1) return {};
    int64_t scale_axis = node.GetInt("axis", 1).value_or(1);
    if (scale_axis < 0) scale_axis += rank;
    if (scale_axis != axis) return {};
    RLC_RETURN_IF_ERROR(Slice(id, 1, 0, inner));
    if (node.input(2) != ValueId::kNone) RLC_RETURN_IF_ERROR(Slice(id, 2, 0, inner));
    return {};
  }

  Expected<void> Follow(ValueId value, Place place) {
    if (graph_.is_output(value))
      return No(fmt::format("its channels reach the graph's output '{}'", graph_.value(value).name));
    for (const Use& use : graph_.value(value).uses) {
      const Node& reader = graph_.node(use.node);
      if (use.input == Use::kCapture) {
        return No(fmt::format("its channels are read inside {}", Describe(graph_, reader)));
      }
      RLC_RETURN_IF_ERROR(Enter(use.node, reader, use.input, place));
    }
    return {};
  }

  Expected<void> Enter(NodeId id, const Node& reader, int input, Place place) {
    const bool data = input == 0;
    if (data && IsElementwise(reader)) return HandOn(reader, place);
    if (data && place.rank > 2 && IsPooling(reader)) return HandOn(reader, place);
    if (data && (reader.Is("QuantizeLinear") || reader.Is("DequantizeLinear"))) {
      RLC_RETURN_IF_ERROR(SliceScales(id, place.axis, place.rank, place.inner));
      return HandOn(reader, place);
    }
    if (data && reader.Is("BatchNormalization") && IsInference(reader) && place.axis == 1 && place.inner == 1) {
      for (int i = 1; i <= 4; ++i) RLC_RETURN_IF_ERROR(Slice(id, i, 0, 1));
      return HandOn(reader, place);
    }
    if (data && (reader.Is("Conv") || reader.Is("ConvTranspose"))) return EnterConv(id, reader, place);
    if (data && (reader.Is("Gemm") || reader.Is("MatMul"))) return EnterMatrix(id, reader, place);
    if (data && (reader.Is("Flatten") || reader.Is("Reshape") || reader.Is("Squeeze")))
      return EnterShape(id, reader, place);
    if (IsArithmetic(reader)) return EnterArithmetic(id, reader, input, place);
    return No(fmt::format("its channels are read by {}, which rlc does not follow", Describe(graph_, reader)));
  }

  Expected<void> HandOn(const Node& reader, Place place) {
    Reach(reader.output(0), place);
    return {};
  }

  Expected<void> EnterConv(NodeId id, const Node& reader, Place place) {
    if (place.rank < 3 || place.inner != 1)
      return No(fmt::format("{} reads it in an unknown shape", Describe(graph_, reader)));
    const int64_t group = reader.GetInt("group", 1).value_or(1);
    if (group == 1) return Slice(id, 1, reader.Is("Conv") ? 1 : 0, 1);
    const auto dims = WeightDims(reader.input(1));
    const bool depthwise = reader.Is("Conv") && dims && group == group_.channels && dims->front() == group_.channels;
    if (!depthwise) return No(fmt::format("{} has {} groups", Describe(graph_, reader), group));
    RLC_RETURN_IF_ERROR(Slice(id, 1, 0, 1));
    if (reader.input(2) != ValueId::kNone) RLC_RETURN_IF_ERROR(Slice(id, 2, 0, 1));
    group_.counts.push_back({id, ChannelCount::Kind::kGroupAttribute, 0, 1});
    return HandOn(reader, place);
  }

  Expected<void> EnterMatrix(NodeId id, const Node& reader, Place place) {
    const bool plain = reader.Is("MatMul") || reader.GetInt("transA", 0) == 0;
    if (place.rank != 2 || !plain) return No(fmt::format("{} reads it in an unknown shape", Describe(graph_, reader)));
    const auto dims = WeightDims(reader.input(1));
    if (!dims || dims->size() != 2)
      return No(fmt::format("the weight of {} is not a constant matrix", Describe(graph_, reader)));
    return Slice(id, 1, reader.Is("Gemm") && reader.GetInt("transB", 0) != 0 ? 1 : 0, place.inner);
  }

  // Entries of the axes behind the channels; nothing when not known.
  std::optional<int64_t> Behind(ValueId value, Place place) const {
    const Type& type = graph_.type(value);
    if (type.rank() != place.rank) return std::nullopt;
    int64_t product = 1;
    for (size_t d = static_cast<size_t>(place.axis) + 1; d < type.shape->size(); ++d) {
      if (!(*type.shape)[d].known()) return std::nullopt;
      product *= (*type.shape)[d].value;
    }
    return product;
  }

  // Flatten, Reshape to [batch, channels * rest] and Squeeze of the trailing axes: afterwards each channel is `inner`
  // neighbouring entries of axis 1.
  Expected<void> EnterShape(NodeId id, const Node& reader, Place place) {
    const auto behind = Behind(reader.input(0), place);
    if (!behind || place.axis != 1 || *behind < 1)
      return No(fmt::format("the shape in front of {} is not known", Describe(graph_, reader)));
    const int64_t inner = place.inner * *behind;
    const int out_rank = graph_.type(reader.output(0)).rank();
    if (reader.Is("Flatten")) {
      if (reader.GetInt("axis", 1) != 1)
        return No(fmt::format("{} has an axis other than 1", Describe(graph_, reader)));
    } else if (out_rank != 2 || (reader.Is("Squeeze") && *behind != 1)) {
      return No(fmt::format("{} does not flatten to two dimensions", Describe(graph_, reader)));
    }
    if (reader.Is("Reshape")) RLC_RETURN_IF_ERROR(EnterReshape(id, reader, inner));
    Reach(reader.output(0), {2, 1, inner});
    return {};
  }

  Expected<void> EnterReshape(NodeId id, const Node& reader, int64_t inner) {
    const Tensor* shape = graph_.constant(reader.input(1));
    if (shape == nullptr || shape->dtype() != DType::kInt64 || shape->size() != 2) {
      return No(fmt::format("the shape of {} is not constant", Describe(graph_, reader)));
    }
    const int64_t entry = shape->data<int64_t>()[1];
    const int64_t batch = shape->data<int64_t>()[0];
    if (entry == group_.channels * inner) {
      group_.counts.push_back({id, ChannelCount::Kind::kReshapeEntry, 1, inner});
    } else if (entry != -1 || batch == -1) {
      return No(fmt::format("{} does not keep channels apart", Describe(graph_, reader)));
    }
    // With -1 the runtime divides: right only if the other entry is the batch itself.
    const Type& in = graph_.type(reader.input(0));
    const bool is_batch = batch == 0 || batch == -1 || (in.rank() > 0 && in.shape->front() == Dim::Of(batch));
    if (!is_batch) return No(fmt::format("{} does not keep the batch", Describe(graph_, reader)));
    return {};
  }

  // With a constant (scalar or per channel), or with another value of the same channels (x * HardSigmoid(x)).
  Expected<void> EnterArithmetic(NodeId id, const Node& reader, int input, Place place) {
    const int other = 1 - input;
    const Tensor* constant = graph_.constant(reader.input(static_cast<size_t>(other)));
    if (constant == nullptr) {
      // Goes on only when the walk has come to both sides; what never does is refused at the end.
      joins_.emplace(id, place);
      if (places_.contains(reader.input(static_cast<size_t>(other)))) return HandOn(reader, place);
      return {};
    }
    if (constant->rank() > place.rank) return No(fmt::format("{} adds dimensions", Describe(graph_, reader)));
    const int axis = constant->rank() - (place.rank - place.axis);
    if (axis >= 0 && constant->dims()[static_cast<size_t>(axis)] != 1)
      RLC_RETURN_IF_ERROR(Slice(id, other, axis, place.inner));
    return HandOn(reader, place);
  }

  Expected<void> CheckJoin(NodeId id, Place place) const {
    const Node& node = graph_.node(id);
    for (const ValueId input : node.inputs) {
      const auto found = places_.find(input);
      if (found == places_.end() || !(found->second == place)) {
        return No(fmt::format("its channels meet others in {}", Describe(graph_, node)));
      }
    }
    return {};
  }

  // From the Conv's output on, through BatchNormalization and activations with a single reader.
  ValueId Activation() const {
    ValueId value = graph_.node(group_.layer).output(0);
    for (;;) {
      const NodeId next = graph_.SingleReader(value);
      if (next == NodeId::kNone) return value;
      const Node& reader = graph_.node(next);
      if (!IsElementwise(reader) && !reader.Is("BatchNormalization")) return value;
      value = reader.output(0);
    }
  }

  const Graph& graph_;
  ChannelGroup group_;
  std::map<ValueId, Place> places_;
  std::map<NodeId, Place> joins_;  // arithmetic on two values that must both be of the group
};

}  // namespace

Expected<ChannelGroup> FindChannelGroup(const Graph& graph, NodeId layer) { return Walk(graph, layer).Run(); }

}  // namespace rlc
