// What onnx's inference functions see of a graph of ours. Internal to the onnx layer.
#ifndef RLC_ONNX_INFER_CONTEXT_H_
#define RLC_ONNX_INFER_CONTEXT_H_

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"

namespace onnx {
class OpSchema;
class TensorShapeProto;
class TypeProto;
}  // namespace onnx

namespace rlc {

// What is known of the values of one graph during inference. Bodies have a scope of their own that starts with what the
// outer one knows of the values they capture.
class InferenceScope {
 public:
  // Constants, inputs, and for a body: the values it captures from `outer` (null for the main graph).
  InferenceScope(const Graph& graph, const InferenceScope* outer);
  ~InferenceScope();

  const Graph& graph() const { return graph_; }
  // Null: not known (also for kNone).
  const onnx::TypeProto* type(ValueId id) const;
  const Tensor* constant(ValueId id) const;
  // Elements of a small integer tensor as far as they are known, symbols included (the result of Shape and what is
  // computed from it). Null: nothing known.
  const onnx::TensorShapeProto* elements(ValueId id) const;

  void SetType(ValueId id, onnx::TypeProto type);
  void SetElements(ValueId id, onnx::TensorShapeProto elements);

 private:
  struct Facts {
    const onnx::TypeProto* type = nullptr;
    const Tensor* constant = nullptr;
    const onnx::TensorShapeProto* elements = nullptr;
  };
  const Facts* Find(ValueId id) const;
  Facts& At(ValueId id);

  const Graph& graph_;
  std::vector<Facts> facts_;  // by ValueId
  std::deque<onnx::TypeProto> types_;
  std::deque<onnx::TensorShapeProto> elements_;
};

// Runs the schema's inference function, its type constraints, and its propagation of shape arithmetic for one node; the
// last goes into `scope`. One entry for each output, without a value where nothing is known.
// Error, kInvalidInput, beginning with `where`: the inputs contradict each other.
Expected<std::vector<onnx::TypeProto>> InferWithSchema(const onnx::OpSchema& schema, const Node& node,
                                                       InferenceScope& scope, const std::string& where);

}  // namespace rlc

#endif  // RLC_ONNX_INFER_CONTEXT_H_
