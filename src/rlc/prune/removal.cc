#include "rlc/prune/removal.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rlc {
namespace {

// A constant nobody reads any more goes.
void EraseConstant(Graph& graph, ValueId value) {
  if (graph.HasReaders(value)) return;
  const Value& found = graph.value(value);
  if (found.kind == Value::Kind::kInitializer) {
    graph.RemoveInitializer(value);
  } else if (found.kind == Value::Kind::kNode) {
    graph.RemoveNode(found.producer);
  }
}

void ReplaceConstant(Graph& graph, NodeId node, int input, Tensor tensor) {
  const auto index = static_cast<size_t>(input);
  const ValueId old = graph.node(node).input(index);
  const std::string name = graph.UniqueName(graph.value(old).name + "_kept");
  graph.SetInput(node, index, graph.AddInitializer(name, std::move(tensor)));
  EraseConstant(graph, old);
}

void SetCount(Graph& graph, const ChannelCount& count, int64_t kept) {
  if (count.kind == ChannelCount::Kind::kGroupAttribute) {
    graph.SetAttribute(count.node, Attribute{"group", kept, {}});
    return;
  }
  const Tensor* shape = graph.constant(graph.node(count.node).input(1));
  std::vector<int64_t> entries(shape->data<int64_t>().begin(), shape->data<int64_t>().end());
  entries[static_cast<size_t>(count.index)] = kept * count.inner;
  ReplaceConstant(graph, count.node, 1, Tensor::Of<int64_t>(shape->dims(), entries));
}

void ShrinkType(Graph& graph, const ChannelValue& value, int64_t kept) {
  Type type = graph.type(value.value);
  if (type.rank() <= value.axis) return;
  Dim& dim = (*type.shape)[static_cast<size_t>(value.axis)];
  dim.value = kept * value.inner;
  dim.symbol.clear();
  graph.SetType(value.value, std::move(type));
}

}  // namespace

Tensor SliceChannels(const Tensor& tensor, int axis, std::span<const int64_t> keep, int64_t inner) {
  RLC_CHECK(axis >= 0 && axis < tensor.rank());
  const int bits = BitsOf(tensor.dtype());
  RLC_CHECK(bits >= 8);
  std::vector<int64_t> dims = tensor.dims();
  int64_t outer = 1;
  for (int d = 0; d < axis; ++d) outer *= dims[static_cast<size_t>(d)];
  // Bytes of one channel: its `inner` entries of the axis with everything behind them.
  int64_t block = inner * bits / 8;
  for (size_t d = static_cast<size_t>(axis) + 1; d < dims.size(); ++d) block *= dims[d];
  const int64_t row = dims[static_cast<size_t>(axis)] / inner * block;
  const char* bytes = reinterpret_cast<const char*>(tensor.bytes().data());
  std::string kept;
  kept.reserve(static_cast<size_t>(outer * static_cast<int64_t>(keep.size()) * block));
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t channel : keep) {
      RLC_CHECK((channel + 1) * block <= row);
      kept.append(bytes + o * row + channel * block, static_cast<size_t>(block));
    }
  }
  dims[static_cast<size_t>(axis)] = static_cast<int64_t>(keep.size()) * inner;
  return Tensor::FromBytes(tensor.dtype(), std::move(dims), std::move(kept));
}

void RemoveChannels(Graph& graph, const ChannelGroup& group, std::span<const int64_t> keep) {
  RLC_CHECK(!keep.empty() && keep.front() >= 0 && keep.back() < group.channels);
  for (size_t i = 1; i < keep.size(); ++i) RLC_CHECK(keep[i - 1] < keep[i]);
  const auto kept = static_cast<int64_t>(keep.size());
  for (const ChannelSlice& slice : group.slices) {
    const Tensor* tensor = graph.constant(graph.node(slice.node).input(static_cast<size_t>(slice.input)));
    ReplaceConstant(graph, slice.node, slice.input, SliceChannels(*tensor, slice.axis, keep, slice.inner));
  }
  for (const ChannelCount& count : group.counts) SetCount(graph, count, kept);
  for (const ChannelValue& value : group.values) ShrinkType(graph, value, kept);
}

}  // namespace rlc
