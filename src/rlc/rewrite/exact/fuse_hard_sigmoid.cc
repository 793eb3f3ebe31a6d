//   y = Clip(x + b, 0, c) / c   ->   y = HardSigmoid(x; alpha = 1/c, beta = b/c)          c > 0
//   y = x * Clip(x + b, 0, c) / c   ->   y = x * HardSigmoid(x; ...)                      hard-swish for b = 3, c = 6
//
// PaddlePaddle and PyTorch write hard-swish as Add, Clip, Mul, Div; ONNX Runtime runs those four as separate passes
// over memory, the two as 0.64 to 0.71 of the time of a whole PP-OCR or PicoDet model. Spellings: division by c or
// multiplication by 1/c, at the end or on either factor, operands in any order. (The HardSwish operator needs opset 14
// and is run as these two anyway.)
//
// Refuses: other types than float32 (the runtime has no other kernel); constants that are no scalars; intermediate
// results with other readers, except x.
#include <cmath>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

struct Ramp {  // Clip(x + offset, 0, top)
  ValueId x = ValueId::kNone;
  double offset = 0, top = 0;
};

struct Scaled {  // value * factor
  ValueId value = ValueId::kNone;
  double factor = 1;
};

// A binary node as (other operand, scalar constant) when the constant cannot widen the result.
std::optional<Scaled> WithScalar(const Graph& graph, const Node& node, bool commutes) {
  if (node.inputs.size() != 2) return std::nullopt;
  for (const size_t side : {size_t{1}, size_t{0}}) {
    if (side == 0 && !commutes) break;
    const auto scalar = ScalarConstant(graph, node.input(side));
    if (!scalar || node.input(1 - side) == ValueId::kNone) continue;
    if (!KeepsShape(graph, node.input(side), node.input(1 - side))) continue;
    return Scaled{node.input(1 - side), *scalar};
  }
  return std::nullopt;
}

// `node` as value * factor: Mul or Div by a scalar.
std::optional<Scaled> ReadScale(const Graph& graph, const Node& node) {
  const bool divides = node.Is("Div");
  if (!divides && !node.Is("Mul")) return std::nullopt;
  auto scaled = WithScalar(graph, node, !divides);
  if (scaled && divides) scaled->factor = 1 / scaled->factor;
  return scaled;
}

// `value`, read by nothing but `reader`, as a ramp.
std::optional<Ramp> ReadRamp(const Graph& graph, ValueId value, NodeId reader) {
  const Node* clip = ProducerIs(graph, value, "Clip");
  if (clip == nullptr || !OnlyReaderIs(graph, value, reader)) return std::nullopt;
  const auto bounds = ReadClip(graph, *clip);
  if (!bounds || bounds->low != 0 || !std::isfinite(bounds->high) || bounds->high <= 0) return std::nullopt;
  const Node* add = ProducerIs(graph, clip->input(0), "Add");
  if (add == nullptr || !OnlyReaderIs(graph, clip->input(0), graph.value(value).producer)) return std::nullopt;
  const auto sum = WithScalar(graph, *add, true);
  if (!sum) return std::nullopt;
  return Ramp{sum->value, sum->factor, bounds->high};
}

bool IsInverse(double factor, double top) { return std::abs(factor * top - 1) < 1e-6; }

std::vector<Attribute> HardSigmoidOf(const Ramp& ramp) {
  return {{"alpha", static_cast<float>(1 / ramp.top), ""}, {"beta", static_cast<float>(ramp.offset / ramp.top), ""}};
}

// `a` and `b` are the factors of a product computed by `product`: one the ramp, the other its x; or one of them scaled.
std::optional<Ramp> ReadSwish(const Graph& graph, ValueId a, ValueId b, NodeId product, double factor) {
  for (const auto& [ramp_side, x_side] : {std::pair(a, b), std::pair(b, a)}) {
    const auto ramp = ReadRamp(graph, ramp_side, product);
    if (!ramp) continue;
    if (ramp->x == x_side && IsInverse(factor, ramp->top)) return ramp;
    const Node* scale = graph.producer(x_side);  // (x / c) * Clip(x + b, 0, c)
    if (scale == nullptr || !OnlyReaderIs(graph, x_side, product)) continue;
    const auto scaled = ReadScale(graph, *scale);
    if (scaled && scaled->value == ramp->x && IsInverse(factor * scaled->factor, ramp->top)) return ramp;
  }
  return std::nullopt;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if ((!node.Is("Mul") && !node.Is("Div")) || graph.opset() < 7) return NoMatch{};
  std::optional<Ramp> ramp, swish;
  if (const auto scaled = ReadScale(graph, node)) {
    ramp = ReadRamp(graph, scaled->value, anchor);
    if (ramp && !IsInverse(scaled->factor, ramp->top)) ramp.reset();
    const Node* product = ProducerIs(graph, scaled->value, "Mul");
    if (product != nullptr && product->inputs.size() == 2 && OnlyReaderIs(graph, scaled->value, anchor)) {
      swish =
          ReadSwish(graph, product->inputs[0], product->inputs[1], graph.value(scaled->value).producer, scaled->factor);
    }
  } else if (node.Is("Mul") && node.inputs.size() == 2) {
    swish = ReadSwish(graph, node.inputs[0], node.inputs[1], anchor, 1);
  }
  if (!ramp && !swish) return NoMatch{};
  const Ramp& found = swish ? *swish : *ramp;
  if (ElementType(graph, found.x) != DType::kFloat) return Refuse("HardSigmoid runs on float32 only");
  const std::vector<Attribute> attributes = HardSigmoidOf(found);
  const ValueId x = found.x;
  if (!swish) {
    return Edit([=](Graph& changed) { Rebuild(changed, anchor, "HardSigmoid", {x}, attributes); });
  }
  return Edit([=](Graph& changed) {
    const std::string stem = changed.value(changed.node(anchor).outputs[0]).name;
    const ValueId gate = Insert(changed, anchor, "HardSigmoid", {x}, attributes, stem + "_gate", changed.type(x));
    Rebuild(changed, anchor, "Mul", {x, gate}, {});
  });
}

}  // namespace

std::unique_ptr<Rewrite> FuseHardSigmoid() {
  return MakeExactRule("fuse-hard-sigmoid", "x * Clip(x + 3, 0, 6) / 6 -> x * HardSigmoid(x), in all spellings", &At);
}

}  // namespace rlc
