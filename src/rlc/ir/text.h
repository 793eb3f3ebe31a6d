// The readable text form of graphs and models: for tests, `rlc inspect --graph`, and diffs.
//
//   <opset 17, opset com.example 1>
//   graph main (float[1,2,4,4] x, float[N,?] p, int64[2] shape = {1, 2}) => (float[1,2,4,4] y) {
//     %w int64[2] = {3, 4}
//     c = Conv<pads=[1,1,1,1]>(x, %k float[2,2,3,3], %b float[2] = {0.5, -1}) @"conv_1" layer 0
//     float[1,2,4,4] y = com.example::Scale<alpha=0.5, table=float[2] = {1, 2}>(c, _)
//     z = If<then_branch=graph () => (t) { t = Relu(x) }, else_branch=graph () => (e) { e = Neg(y) }>(cond)
//   }
//
// - The header is optional: opset 17 and IR version 8 unless it says otherwise.
// - Before a name stands its type, if any; `float[*]` has no known rank, `[N,?]` a named and an unknown dimension.
//   In the input list `= value` makes an overridable default.
// - `%k` is a constant (initializer), declared with its type where it is first read, or by a statement of its own.
// Without
//   values they are pseudo-random, a function of its name and type alone: multiples of 1/256 in [-1, 1), for names
//   with "var" in them in [0.5, 1.5); integers in [-8, 8) or [0, 16); tests need not spell out weights.
// - `_` is an absent input or output. Names with unusual characters stand in double quotes ("123", "a b\n").
// - Attributes: 1 is an int, 1.0 a float, "s" a string; lists in brackets (`floats[]` for empty ones that are not
// ints);
//   tensors `float[2] = {1, 2}`; subgraphs `graph ...`, where names that the body does not define are captured.
//   What cannot be written otherwise is `opaque "hex"`, `bytes "hex"` or `sparse "hex"`. `graph name (...)`, `overload
//   "x"` after an operator, and functions behind a model's graph (`function domain::Name "hex"`) exist, too.
// - `#` starts a comment. White space and line ends mean nothing.
//
// Not in the text: doc strings and other `extra` bytes, denotations, whether a type is recorded in the file (parsed
// types are), and the order of initializers.
#ifndef RLC_IR_TEXT_H_
#define RLC_IR_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/ir/model.h"

namespace rlc {

struct PrintOptions {
  // Constants with more elements are printed without their values. Nothing: all values; then parsing gives the same
  // graph.
  std::optional<int64_t> max_elements = 16;
  bool types = true;  // of the values that nodes compute
};

std::string PrintGraph(const Graph& graph, const PrintOptions& options = {});
std::string PrintModel(const Model& model, const PrintOptions& options = {});
std::string PrintNode(const Graph& graph, NodeId node, const PrintOptions& options = {});  // one line, no bodies

struct ParseOptions {
  int64_t max_generated_bytes = 1 << 26;  // of all constants without values together
  int max_depth = 32;                     // of bodies in bodies
};

// Error, kInvalidInput: line, column, what was found and what was wanted. Nodes must be in topological order. The
// graph's scope is set, so UniqueName() works across bodies; layers have the numbers that the text gives them.
Expected<Graph> ParseGraphText(std::string_view text, const ParseOptions& options = {});
Expected<Model> ParseModelText(std::string_view text, const ParseOptions& options = {});

}  // namespace rlc

#endif  // RLC_IR_TEXT_H_
