// What the runtime makes of a model: its optimized graph, and how it runs each layer.
//
// ONNX Runtime quantizes float layers that stand between DequantizeLinear and QuantizeLinear (1.21 and later; 1.21 also
// rounds the weights of those behind a DequantizeLinear alone), drops quantization that it cannot fuse, and reorders
// layouts. A plan says what should run; this says what does.
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

// Loads the model in a session at that level and reads the optimized graph back. Errors: those of Session and
// ParseModel.
Expected<RuntimeGraph> ReadRuntimeGraph(std::string_view model, const std::string& what, OptLevel level);

// How one layer runs.
struct RanAs {
  int layer = -1;          // its number
  std::string op;          // "FusedConv", "QLinearConv", ...; "" when the runtime's graph has nothing left of it
  std::string domain;      // "", "com.microsoft", "com.microsoft.nchwc", ...
  bool quantized = false;  // its weights are 8-bit numbers (in an integer kernel, or behind DequantizeLinear)
  bool integer = false;    // it runs in an integer kernel
  bool planned = false;    // the model as written has 8-bit weights for it
  // Quantized exactly if planned, and then in an integer kernel. Below the extended level the runtime fuses no
  // quantization, so there integer kernels are not asked for.
  bool as_planned = false;
  bool found() const { return !op.empty(); }
};

// Reads back how every layer of `written` (numbered, see rlc/ir/layers.h) runs at that level; one entry for each layer
// that still exists, by number. The model is loaded with its layers' node names replaced by marks, which the runtime
// carries along; where it does not, the names of outputs and weights tell. Errors: as ReadRuntimeGraph.
Expected<std::vector<RanAs>> WhatRan(const Model& written, const std::string& what, OptLevel level);

// True for operators that compute in integers: QLinearConv, QGemm, MatMulIntegerToFloat, ...
bool IsIntegerOp(std::string_view op);

}  // namespace rlc

#endif  // RLC_ORT_RUNTIME_GRAPH_H_
