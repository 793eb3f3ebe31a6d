// A whole ONNX model: the graph, and all that stands round it.
#ifndef RLC_IR_MODEL_H_
#define RLC_IR_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rlc/ir/graph.h"

namespace rlc {

// A model-local function, passed through: the serialized FunctionProto and what rlc must know about it.
struct Function {
  std::string domain, name, overload;
  std::string bytes;
};

struct Model {
  int64_t ir_version = 0;
  Graph graph;  // opsets are held there
  std::vector<Function> functions;
  std::string extra;           // the rest of the ModelProto (producer, doc string, metadata, training info), serialized
  bool external_data = false;  // as read: some of its weights came from files beside it

  // True when the op of `node` is one of the model's functions: then its meaning is not ONNX's, whatever its name.
  bool IsFunctionCall(const Node& node) const;
};

}  // namespace rlc

#endif  // RLC_IR_MODEL_H_
