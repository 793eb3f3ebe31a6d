// Quantize/dequantize pairs in a graph, and which nodes work on integers between them.
//
//   raw -> QuantizeLinear -> integer -> DequantizeLinear -> value for readers
//
// Words: a value is *quantized* when a pair stands on it. Its *root* is where its numbers come from: the way back
// through nodes that only move or select numbers (MaxPool, Reshape, ...) and through pairs. All values with one root
// share the root's scale, so that the nodes between stay exact on integers.
#ifndef RLC_REWRITE_APPROXIMATE_QDQ_H_
#define RLC_REWRITE_APPROXIMATE_QDQ_H_

#include <optional>
#include <string>
#include <vector>

#include "rlc/ir/graph.h"
#include "rlc/quant/scheme.h"

namespace rlc {

struct QuantPair {
  NodeId quantize = NodeId::kNone;
  ValueId raw = ValueId::kNone;
  ValueId integer = ValueId::kNone;
  QuantParams params;
  DType type = DType::kUint8;
};

// The QuantizeLinear that reads `value`, with constant parameters for the whole tensor; the first in the graph's order.
std::optional<QuantPair> PairOn(const Graph& graph, ValueId value);
// The pair whose DequantizeLinear computes `value`.
std::optional<QuantPair> PairBehind(const Graph& graph, ValueId value);
// Either: the pair that makes an integer form of `value` available.
std::optional<QuantPair> PairOf(const Graph& graph, ValueId value);

// True for a DequantizeLinear of a constant: a quantized weight or bias.
bool IsDequantizedConstant(const Graph& graph, ValueId value);
// A layer whose weight is a dequantized constant.
bool IsQuantizedLayer(const Graph& graph, const Node& node);

// Nodes that move or select numbers of input 0 and that ONNX Runtime runs on 8-bit integers as they are.
bool MovesNumbers(const Graph& graph, const Node& node);
// Nodes with an integer kernel of their own (QLinearAdd, QLinearConcat, ...), when all inputs and the output are
// quantized.
bool HasIntegerForm(const Node& node);
// One-input Sum or Max: changes nothing, but stops ONNX Runtime's optimizers.
bool IsBarrier(const Node& node);

ValueId RootOf(const Graph& graph, ValueId value);

// Relu, or Clip with a constant lower bound of 0: what quantization to a range that starts at 0 does anyway.
bool IsAbsorbable(const Graph& graph, const Node& node);
// True when quantizing with these parameters makes the activation (absorbable) needless: its bounds are the integers'
// own.
bool Subsumes(const Graph& graph, const QuantParams& params, DType type, const Node& activation);
// The value behind an absorbable activation that is the only reader of `value`; else `value`.
ValueId BehindActivation(const Graph& graph, ValueId value);

// Edits. They clean up after themselves.

// The pair on `raw` (an existing one wins, whatever its parameters), with its DequantizeLinear for whole tensors.
// Returns the dequantized value; nothing reads it yet if it is new.
ValueId EnsureDequantized(Graph& graph, ValueId raw, const QuantParams& params, DType type);
// Its form with the scale repeated for each of `channels` along `axis`: the same numbers, see settle.h.
ValueId EnsureDequantizedPerChannel(Graph& graph, const QuantPair& pair, int64_t channels, int64_t axis);
// Puts the quantized output directly behind the node in front of the activation.
void AbsorbActivation(Graph& graph, ValueId before);

}  // namespace rlc

#endif  // RLC_REWRITE_APPROXIMATE_QDQ_H_
