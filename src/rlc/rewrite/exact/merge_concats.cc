//   y = Concat(a, Concat(b, c), d)   ->   y = Concat(a, b, c, d)      same axis, the inner one read by nothing else
//   y = Concat(Split(x))             ->   x                           all parts, in order, same axis
//   y = Concat(a, nothing, b)        ->   y = Concat(a, b)            nothing: of size zero along the axis
//
// Negative axes are compared through the rank. Refuses: axes that cannot be told to be the same; an inner result with
// another reader (it would be copied twice); parts in another order, missing, or repeated.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

bool SameAxis(int64_t a, int64_t b, int rank) {
  if (a == b) return true;
  return rank > 0 && (a < 0 ? a + rank : a) == (b < 0 ? b + rank : b);
}

// The node that all inputs are the outputs of, in order and complete; null if it is no such Split.
const Node* WholeSplit(const Graph& graph, const Node& concat) {
  const Node* split =
      concat.inputs.empty() || concat.inputs[0] == ValueId::kNone ? nullptr : graph.producer(concat.inputs[0]);
  if (split == nullptr || !split->Is("Split") || split->outputs != concat.inputs) return nullptr;
  return split;
}

// The inputs that have elements along the axis, as far as is known; the first if none has.
std::vector<ValueId> WithoutEmpty(const Graph& graph, const Node& concat, int64_t axis) {
  std::vector<ValueId> filled;
  for (const ValueId input : concat.inputs) {
    const Type& type = graph.type(input);
    const auto at = type.rank() < 0 ? std::nullopt : NormalizeAxis(axis, type.rank());
    if (at && (*type.shape)[static_cast<size_t>(*at)].value == 0) continue;
    filled.push_back(input);
  }
  if (filled.empty()) filled.push_back(concat.inputs[0]);
  return filled;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& concat = graph.node(anchor);
  if (!concat.Is("Concat")) return NoMatch{};
  const auto axis = concat.GetInt("axis", graph.opset() < 4 ? 1 : 0);
  if (!axis) return NoMatch{};
  int rank = graph.type(concat.output(0)).rank();
  for (const ValueId input : concat.inputs) {
    if (input == ValueId::kNone) return NoMatch{};
    rank = std::max(rank, graph.type(input).rank());
  }
  if (const Node* split = WholeSplit(graph, concat)) {
    const auto split_axis = split->GetInt("axis", 0);
    const ValueId source = split->input(0);
    if (!split_axis || !SameAxis(*axis, *split_axis, rank)) return Refuse("it was split along another axis");
    return Edit([=](Graph& changed) { Bypass(changed, anchor, source); });
  }
  if (std::vector<ValueId> filled = WithoutEmpty(graph, concat, *axis); filled.size() < concat.inputs.size()) {
    const std::vector<Attribute> attributes = concat.attributes;
    return Edit([=](Graph& changed) { Rebuild(changed, anchor, "Concat", filled, attributes); });
  }
  for (size_t i = 0; i < concat.inputs.size(); ++i) {
    const Node* inner = ProducerIs(graph, concat.inputs[i], "Concat");
    if (inner == nullptr) continue;
    const auto inner_axis = inner->GetInt("axis", graph.opset() < 4 ? 1 : 0);
    if (!inner_axis || !SameAxis(*axis, *inner_axis, rank)) continue;
    if (!OnlyReaderIs(graph, concat.inputs[i], anchor)) return Refuse("the inner result has another reader");
    std::vector<ValueId> inputs = concat.inputs;
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
    inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(i), inner->inputs.begin(), inner->inputs.end());
    const std::vector<Attribute> attributes = concat.attributes;
    return Edit([=](Graph& changed) { Rebuild(changed, anchor, "Concat", inputs, attributes); });
  }
  return NoMatch{};
}

}  // namespace

std::unique_ptr<Rewrite> MergeConcats() {
  return MakeExactRule("merge-concats", "Concat(Concat(a, b), c) -> Concat(a, b, c), Concat(Split(x)) -> x", &At);
}

}  // namespace rlc
