// What an integer tensor of shape arithmetic holds, as far as it can be told: Shape, Gather, Slice, Concat, Squeeze,
// Unsqueeze, Cast, Identity, products with numbers, and constants.
#ifndef RLC_REWRITE_SHAPE_VALUES_H_
#define RLC_REWRITE_SHAPE_VALUES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "rlc/ir/graph.h"

namespace rlc {

// One element: a number, or `factor` times the size of `source` along `axis`, or neither known.
struct ShapeElement {
  std::optional<int64_t> number;
  ValueId source = ValueId::kNone;
  int64_t axis = 0;
  int64_t factor = 1;
  bool known() const { return number.has_value() || source != ValueId::kNone; }
};

struct ShapeValue {
  bool scalar = false;  // rank 0, with one element; else rank 1
  std::vector<ShapeElement> elements;
};

// Nothing when the value is not such a tensor of rank 0 or 1, or longer than 64 elements.
std::optional<ShapeValue> ReadShapeValue(const Graph& graph, ValueId value);

// The size of `value` along `axis` as an element: a number when inferred, else traced back through nodes that keep it
// (element-wise ones, products with a matrix, Transpose, Reshape that copies it, ...) to where it comes from.
ShapeElement SizeOf(const Graph& graph, ValueId value, int64_t axis);

// Provably equal: the same number, the same source, or sources whose sizes have the same name.
bool SameElement(const Graph& graph, const ShapeElement& a, const ShapeElement& b);

}  // namespace rlc

#endif  // RLC_REWRITE_SHAPE_VALUES_H_
