// What rewrites need and cannot do by themselves; implemented in higher layers, handed in by whoever runs a pipeline.
#ifndef RLC_IR_SERVICES_H_
#define RLC_IR_SERVICES_H_

#include <span>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"

namespace rlc {

// Computes a node whose inputs are all constant. Implementations: rlc/ir/evaluate.h (the shape arithmetic that rlc
// evaluates itself, bit-exactly) and rlc/ort/constant_evaluator.h (everything else, optimizations off).
class ConstantEvaluator {
 public:
  virtual ~ConstantEvaluator() = default;
  // `inputs` has one entry for each node input, null for an absent one; one result for each node output, in order
  // (absent outputs: an empty tensor). Error kUnavailable: this evaluator does not know the op; any other: the node is
  // invalid.
  virtual Expected<std::vector<Tensor>> Evaluate(const Graph& graph, const Node& node,
                                                 std::span<const Tensor* const> inputs) = 0;
};

// Fills in types and shapes. Implementation: rlc/onnx/infer_types.h.
class TypeInference {
 public:
  virtual ~TypeInference() = default;
  // Sets the type of every node output that can be inferred, from the interface and constants alone: records of the
  // file (value_info) are not believed where inference has an answer. Interface types never change. Error: the graph
  // contradicts itself (names the node).
  virtual Expected<void> InferTypes(Graph& graph) = 0;
};

}  // namespace rlc

#endif  // RLC_IR_SERVICES_H_
