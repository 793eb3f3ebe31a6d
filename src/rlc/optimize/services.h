// The services that rewrites need, put together from the layers that have them.
#ifndef RLC_OPTIMIZE_SERVICES_H_
#define RLC_OPTIMIZE_SERVICES_H_

#include "rlc/ir/model.h"
#include "rlc/onnx/add_function.h"
#include "rlc/onnx/convert.h"
#include "rlc/onnx/infer_types.h"
#include "rlc/ort/constant_evaluator.h"
#include "rlc/rewrite/pipeline.h"

namespace rlc {

// Types, opset conversion and functions through the onnx library, constants through ONNX Runtime (loaded only when a
// fold asks for it). The model is asked which nodes call its functions and must outlive this object.
class StandardServices {
 public:
  explicit StandardServices(const Model& model) : types_(model) {}
  Services get() { return Services{&types_, &evaluator_, ConvertOpset, AddFunction}; }

 private:
  OnnxTypeInference types_;
  OrtConstantEvaluator evaluator_;
};

}  // namespace rlc

#endif  // RLC_OPTIMIZE_SERVICES_H_
