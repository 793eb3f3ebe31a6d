// Free dimensions of a model's interface into numbers.
#ifndef RLC_ONNX_FIX_SHAPES_H_
#define RLC_ONNX_FIX_SHAPES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// Gives inputs these shapes, by name. A dimension's name that gets a number this way gets it everywhere in the
// interface; other inner and output types are inferred anew. Error, kUsage: no such input, or a shape that contradicts
// the declared one, or gives one name two numbers; names the input. The model is unchanged then.
Expected<void> FixShapes(Model& model, const std::map<std::string, std::vector<int64_t>>& shapes);

}  // namespace rlc

#endif  // RLC_ONNX_FIX_SHAPES_H_
