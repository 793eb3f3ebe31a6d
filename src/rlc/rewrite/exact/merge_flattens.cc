//   y = Flatten(R(x), axis)   ->   y = Reshape(x, [d0, d1])      R: Reshape, Flatten, Squeeze, Unsqueeze
//
// Flatten gives a matrix of the elements in order; what shaped them before does not matter. At least one of the two
// sizes must be known from the tensor between; the other becomes -1, if the known one is positive.
//
// Also y = Flatten(Flatten(x, a), 1) -> Flatten(x, a), which needs no sizes.
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

std::optional<int64_t> Product(const Shape& shape, size_t from, size_t to) {
  int64_t product = 1;
  for (size_t i = from; i < to; ++i) {
    if (!shape[i].known() || __builtin_mul_overflow(product, shape[i].value, &product)) return std::nullopt;
  }
  return product;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Flatten") || graph.opset() < 5) return NoMatch{};
  const ValueId between = outer.input(0);
  const Node* inner = between == ValueId::kNone ? nullptr : graph.producer(between);
  if (inner == nullptr) return NoMatch{};
  const auto axis = outer.GetInt("axis", 1);
  const ValueId source = inner->input(0);
  if (inner->Is("Flatten") && axis == 1) {
    const int64_t inner_axis = inner->GetInt("axis", 1).value_or(1);
    return Edit([=](Graph& changed) {
      changed.SetAttribute(anchor, {"axis", inner_axis, ""});
      ReplaceInput(changed, anchor, 0, source);
    });
  }
  if (!inner->Is("Reshape") && !inner->Is("Flatten") && !inner->Is("Squeeze") && !inner->Is("Unsqueeze")) {
    return NoMatch{};
  }
  const Type& type = graph.type(between);
  if (type.rank() < 0 || !axis || *axis < -type.rank() || *axis > type.rank()) return Refuse("the rank is not known");
  const auto at = static_cast<size_t>(*axis < 0 ? *axis + type.rank() : *axis);
  const auto rows = Product(*type.shape, 0, at);
  const auto columns = Product(*type.shape, at, type.shape->size());
  if (!rows && !columns) return Refuse("neither size is known");
  if (rows == 0 || columns == 0) {
    return Refuse("a size is zero");
  }
  const std::vector<int64_t> target = {rows.value_or(-1), columns.value_or(-1)};
  return Edit([=](Graph& changed) {
    const std::string stem = changed.value(changed.node(anchor).outputs[0]).name + "_shape";
    Rebuild(changed, anchor, "Reshape", {source, AddConstant(changed, stem, Tensor::Of<int64_t>({2}, target))}, {});
  });
}

}  // namespace

std::unique_ptr<Rewrite> MergeFlattens() {
  return MakeExactRule("merge-flattens", "Flatten(Reshape(x)) -> Reshape(x), Flatten(Flatten(x)) -> Flatten(x)", &At);
}

}  // namespace rlc
