// Inside this layer: models of one layer or border, as the runtime runs them in the middle of a network.
#ifndef RLC_MEASURE_LAYER_MODELS_H_
#define RLC_MEASURE_LAYER_MODELS_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/layers.h"
#include "rlc/ir/model.h"

namespace rlc {

// One layer with a Relu behind it, as ONNX says it. Its input is called `input`. Error, kUnavailable: the shapes are
// not known, or the form does not exist (int8 of a ConvTranspose).
Expected<Model> FloatLayerModel(const LayerShape& shape, const std::string& input);
// The input is uint8, and so is the output: DequantizeLinear -> layer -> QuantizeLinear.
Expected<Model> Int8LayerModel(const LayerShape& shape, const std::string& input);
// float to uint8, with the changes of layout that go with it between two convolutions (rank 4), and back.
Expected<Model> QuantizeModel(const std::vector<int64_t>& dims, const std::string& input);
Expected<Model> DequantizeModel(const std::vector<int64_t>& dims, const std::string& input);

// The model as the runtime optimizes it, without the changes of layout at its borders (ReorderInput, ReorderOutput,
// Transpose): to be run with optimizations off. Its inputs are called `input` with something behind it; some may be
// unread.
Expected<Model> InsideNetwork(const Model& model, const std::string& input);

}  // namespace rlc

#endif  // RLC_MEASURE_LAYER_MODELS_H_
