// Types and shapes through the onnx library's per-operator inference functions, run node by node on our graph (the model
// is never serialized for it), with symbolic dimensions carried through shape arithmetic.
#ifndef RLC_ONNX_INFER_TYPES_H_
#define RLC_ONNX_INFER_TYPES_H_

#include "rlc/base/error.h"
#include "rlc/ir/model.h"
#include "rlc/ir/services.h"

namespace rlc {

// Infers what can be inferred; outputs of ops that nobody knows (foreign domains, functions) keep the type that the file
// records for them. A record that inference contradicts is replaced; interface types never change. Bodies of If, Loop and
// Scan are inferred too. Never invents names for unknown sizes.
// Error, kInvalidInput, naming the node: the op does not exist in this opset, or its inputs contradict each other (a
// static size, a rank, an element type).
class OnnxTypeInference : public TypeInference {
 public:
  OnnxTypeInference() = default;
  // Calls of these functions are not ONNX operators, whatever their name. The model must outlive this object.
  explicit OnnxTypeInference(const Model& model) : model_(&model) {}

  Expected<void> InferTypes(Graph& graph) override;

 private:
  const Model* model_ = nullptr;
};

}  // namespace rlc

#endif  // RLC_ONNX_INFER_TYPES_H_
