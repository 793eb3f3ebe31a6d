// What the runtime makes of a model: its optimized graph, and how it runs each layer.
//
// ONNX Runtime quantizes float layers that stand between DequantizeLinear and QuantizeLinear (1.21 and later), drops
// quantization that it cannot fuse, and reorders layouts. A plan says what should run; this says what does.
#ifndef RLC_ORT_RUNTIME_GRAPH_H_
#define RLC_ORT_RUNTIME_GRAPH_H_

#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"
#include "rlc/ort/session.h"

namespace rlc {

struct RuntimeGraph {
  Model model;        // as the runtime saved it: its own domains, renamed constants, no functions
  std::string bytes;  // the same as a file
  OptLevel level = OptLevel::kAll;
  std::string runtime_version;
};

// Loads the model in a session at that level and reads the optimized graph back. Errors: those of Session and ParseModel.
Expected<RuntimeGraph> ReadRuntimeGraph(std::string_view model, const std::string& what, OptLevel level);

// How one layer runs.
struct RanAs {
  int layer = -1;         // its number in `written`
  std::string op;         // "FusedConv", "QLinearConv", ...; "constant" when the runtime folded it away; "" when not found
  std::string domain;     // "", "com.microsoft", "com.microsoft.nchwc", ...
  bool integer = false;   // integer arithmetic
  bool planned_integer = false;  // `written` has int8 weights for it
  bool found() const { return !op.empty(); }
  bool as_planned() const { return found() && integer == planned_integer; }
};

// Finds every layer of `written` (the graph as exported, with its layer numbers) in what the runtime made of it: by the
// names of weight, output and node, which the runtime mostly keeps, and by the bytes of the weight. One entry for each
// layer that still exists, by number.
std::vector<RanAs> WhatRan(const Graph& written, const RuntimeGraph& ran);

// True for the runtime's operators that compute in integers: QLinearConv, QGemm, MatMulIntegerToFloat, ...
bool IsIntegerOp(std::string_view op);

}  // namespace rlc

#endif  // RLC_ORT_RUNTIME_GRAPH_H_
