// Questions that rules ask about a graph. All const, none expensive.
#ifndef RLC_REWRITE_MATCH_H_
#define RLC_REWRITE_MATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/ir/graph.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {

// --- constants -----------------------------------------------------------------------------------------------------

// The one element of a constant that has exactly one (any rank), as double. Nothing for strings and other types without
// an exact double.
std::optional<double> ScalarConstant(const Graph& graph, ValueId value);
// True for a constant with at least one element, all equal to `wanted`.
bool IsAll(const Graph& graph, ValueId value, double wanted);
// Elements of a constant integer tensor of rank 0 or 1.
std::optional<std::vector<int64_t>> IntsConstant(const Graph& graph, ValueId value);
// An input that has no say: missing, blank, or (in ops that say so, like Resize) a constant without elements.
bool IsAbsentOrEmpty(const Graph& graph, ValueId value);

// --- shapes --------------------------------------------------------------------------------------------------------

// Inferred dimensions when all are known.
std::optional<std::vector<int64_t>> StaticShape(const Graph& graph, ValueId value);
DType ElementType(const Graph& graph, ValueId value);  // kUndefined when not known
// True if both have a known rank and each dimension is provably the same.
bool SameShape(const Graph& graph, ValueId a, ValueId b);
// True if broadcasting `b` (a shape) against `a` provably gives the shape of `a`: the rank of b is not larger, and each
// of its dimensions is 1 or provably that of a.
bool BroadcastsInto(const Shape& b, const Shape& a);
// The same for a scalar-like constant (every dimension 1) against a value whose rank may only be known to be >= 1.
bool KeepsShape(const Graph& graph, ValueId constant, ValueId value);
// axis in [0, rank) from one in [-rank, rank).
std::optional<int64_t> NormalizeAxis(int64_t axis, int64_t rank);

// --- nodes ---------------------------------------------------------------------------------------------------------

// The node that computes `value` if its op is `op` (ONNX's own domain) and `value` is its first output; else null.
const Node* ProducerIs(const Graph& graph, ValueId value, std::string_view op);
NodeId ProducerId(const Graph& graph, ValueId value);
// True when `reader` is the only reader of `value`: one use, no capture, no graph output.
bool OnlyReaderIs(const Graph& graph, ValueId value, NodeId reader);
// True when nothing reads the outputs from `first` on.
bool OutputsUnread(const Graph& graph, const Node& node, size_t first = 1);
// Draws random numbers, so that two runs (or two equal nodes) differ. Dropout and BatchNormalization in training mode
// too.
bool IsRandom(const Graph& graph, const Node& node);
// Dropout that copies its input; nothing when that cannot be told.
bool IsInferenceDropout(const Graph& graph, const Node& node);
// BatchNormalization with stored statistics and one output.
bool IsInferenceBatchNorm(const Graph& graph, const Node& node);
// A tensor that QuantizeLinear or DequantizeLinear reads, or DequantizeLinear wrote: part of a quantized layer.
bool TouchesQuantization(const Graph& graph, ValueId value);

// --- answers -------------------------------------------------------------------------------------------------------

template <typename... Args>
Outcome Refuse(fmt::format_string<Args...> format, Args&&... args) {
  return Refusal{fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace rlc

#endif  // RLC_REWRITE_MATCH_H_
