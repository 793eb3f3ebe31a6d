// Types and shapes through the onnx library's per-operator inference functions, run node by node on our graph (the
// model is never serialized for it), with symbolic dimensions carried through shape arithmetic.
#ifndef RLC_ONNX_INFER_TYPES_H_
#define RLC_ONNX_INFER_TYPES_H_

#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"
#include "rlc/ir/services.h"

namespace rlc {

// Infers what can be inferred; outputs of ops that nobody knows (foreign domains, functions) keep the type they have.
// The file's records fill in sizes that inference leaves open, unless one of them contradicts inference: then the
// records are stale and none is believed. Interface types never change. Bodies of If, Loop and Scan are inferred too.
// Never invents names for unknown sizes. A few microseconds a node. Error, kInvalidInput, naming the node: its inputs
// contradict each other or the operator (a static size, a rank, an element type, an axis), or an output's declared
// element type is not what is computed.
class OnnxTypeInference : public TypeInference {
 public:
  OnnxTypeInference() = default;
  // Calls of these functions are not ONNX operators, whatever their name. The model must outlive this object.
  explicit OnnxTypeInference(const Model& model) : model_(&model) {}

  Expected<void> InferTypes(Graph& graph) override;

  // An output of the main graph whose declared shape is not what the last InferTypes found.
  struct WrongDeclaration {
    ValueId value = ValueId::kNone;
    Type inferred;
  };
  const std::vector<WrongDeclaration>& wrong_declarations() const { return wrong_declarations_; }

 private:
  const Model* model_ = nullptr;
  std::vector<WrongDeclaration> wrong_declarations_;
};

}  // namespace rlc

#endif  // RLC_ONNX_INFER_TYPES_H_
