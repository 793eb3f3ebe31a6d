//   y = Conv(Conv(x; V, a); W, b)   ->   y = Conv(x; W V, b + W a)       V: 1x1, stride 1, no padding, no groups
//
//   (W V)[o, i, k] = sum over m of W[o, m, k] * V[m, i]
//
// in double. W may be of any size; its zero padding stays, so the inner bias must then be zero or absent. Only when it
// is cheaper: fewer multiplications for each pixel, and no more weights (with strides in W it is cheaper still).
//
// Refuses: groups; an inner result with another reader; weights that are not constant; products that would be dearer;
// values that are not finite.
#include <algorithm>
#include <cmath>

#include "rlc/rewrite/channel_math.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

constexpr double kMaxProducts = 1 << 28;  // a fraction of a second

bool AllAre(const std::vector<int64_t>& list, int64_t wanted) {
  return std::all_of(list.begin(), list.end(), [&](int64_t value) { return value == wanted; });
}

// A Conv that mixes channels at each pixel and does nothing else.
bool IsPointwise(const Graph& graph, const Node& conv) {
  const std::vector<int64_t>& dims = graph.constant(conv.input(1))->dims();
  for (size_t i = 2; i < dims.size(); ++i) {
    if (dims[i] != 1) return false;
  }
  const auto strides = conv.GetInts("strides");
  const auto pads = ReadExplicitPads(conv, dims.size() - 2);
  return strides && pads && AllAre(*strides, 1) && AllAre(*pads, 0);
}

// Numbers of a constant bias; zeros when absent.
std::optional<std::vector<double>> BiasOf(const Graph& graph, const Node& conv, int64_t channels) {
  if (conv.input(2) == ValueId::kNone) return std::vector<double>(static_cast<size_t>(channels), 0.0);
  const Tensor* bias = graph.constant(conv.input(2));
  if (bias == nullptr || bias->size() != channels) return std::nullopt;
  Expected<std::vector<double>> values = bias->ToDoubles();
  if (!values) return std::nullopt;
  return *std::move(values);
}

struct Matrices {
  std::vector<double> outer, inner, outer_bias, inner_bias;
  size_t out = 0, middle = 0, in = 0, kernel = 0;
};

FoldedLayer Product(const Matrices& m, const Tensor& outer, std::vector<int64_t> dims) {
  std::vector<double> weight(m.out * m.in * m.kernel, 0.0), bias = m.outer_bias;
  for (size_t o = 0; o < m.out; ++o) {
    for (size_t c = 0; c < m.middle; ++c) {
      for (size_t k = 0; k < m.kernel; ++k) {
        const double factor = m.outer[(o * m.middle + c) * m.kernel + k];
        bias[o] += factor * m.inner_bias[c];
        for (size_t i = 0; i < m.in; ++i) weight[(o * m.in + i) * m.kernel + k] += factor * m.inner[c * m.in + i];
      }
    }
  }
  FoldedLayer folded;
  const auto channels = static_cast<int64_t>(m.out);
  folded.weight = *Tensor::FromDoubles(outer.dtype(), std::move(dims), weight);
  folded.bias = *Tensor::FromDoubles(outer.dtype(), {channels}, bias);
  return folded;
}

bool IsFinite(const Tensor& tensor) {
  const auto values = tensor.ToDoubles();
  return values && std::all_of(values->begin(), values->end(), [](double v) { return std::isfinite(v); });
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Conv")) return NoMatch{};
  const Node* inner = ProducerIs(graph, outer.input(0), "Conv");
  if (inner == nullptr || inner->input(0) == ValueId::kNone) return NoMatch{};
  if (!OutputChannels(graph, outer) || !OutputChannels(graph, *inner) || !IsPointwise(graph, *inner)) return NoMatch{};
  if (outer.GetInt("group", 1) != 1 || inner->GetInt("group", 1) != 1) return NoMatch{};
  const Tensor& outer_weight = *graph.constant(outer.input(1));
  const Tensor& inner_weight = *graph.constant(inner->input(1));
  const std::vector<int64_t>& dims = outer_weight.dims();
  if (dims.size() != inner_weight.dims().size() || dims[1] != inner_weight.dims()[0]) return NoMatch{};
  if (outer_weight.dtype() != inner_weight.dtype()) return NoMatch{};
  if (!OnlyReaderIs(graph, outer.input(0), anchor)) return Refuse("the inner result has another reader");
  const double kernel = static_cast<double>(outer_weight.size() / (dims[0] * dims[1]));
  const auto out = static_cast<double>(dims[0]), middle = static_cast<double>(dims[1]);
  const auto in = static_cast<double>(inner_weight.dims()[1]);
  if (in * out * kernel > middle * (in + out * kernel)) return Refuse("one layer would be dearer than two");
  if (in * out * kernel * middle > kMaxProducts) return Refuse("the product takes too long");
  const auto outer_bias = BiasOf(graph, outer, dims[0]);
  const auto inner_bias = BiasOf(graph, *inner, dims[1]);
  if (!outer_bias || !inner_bias) return Refuse("a bias is not constant");
  const auto pads = ReadExplicitPads(outer, dims.size() - 2);
  const bool padded = !pads || !AllAre(*pads, 0);
  const auto zero = [](double value) { return value == 0; };
  if (padded && !std::all_of(inner_bias->begin(), inner_bias->end(), zero))
    return Refuse("the outer layer pads with zeros");
  const auto size = [](double value) { return static_cast<size_t>(value); };
  const auto outer_values = outer_weight.ToDoubles(), inner_values = inner_weight.ToDoubles();
  if (!outer_values || !inner_values) return NoMatch{};
  std::vector<int64_t> folded_dims = dims;
  folded_dims[1] = inner_weight.dims()[1];
  const FoldedLayer folded =
      Product({*outer_values, *inner_values, *outer_bias, *inner_bias, size(out), size(middle), size(in), size(kernel)},
              outer_weight, folded_dims);
  if (!IsFinite(folded.weight) || !IsFinite(folded.bias)) return Refuse("the folded values would not be finite");
  const ValueId x = inner->input(0);
  return Edit([=](Graph& changed) {
    InstallFolded(changed, anchor, folded);
    ReplaceInput(changed, anchor, 0, x);
  });
}

}  // namespace

std::unique_ptr<Rewrite> MergeConvPairs() {
  return MakeExactRule("merge-conv-pairs", "Conv(Conv1x1(x)) -> one Conv, when that is cheaper", &At);
}

}  // namespace rlc
