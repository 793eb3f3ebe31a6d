// Small models for the tests of this layer.
#ifndef RLC_MEASURE_TEST_MODELS_H_
#define RLC_MEASURE_TEST_MODELS_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/base/rng.h"
#include "rlc/ir/tensor.h"
#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"

namespace rlc {

inline constexpr std::string_view kSmallConv = R"(
    graph (float[1,8,16,16] x) => (float[1,8,16,16] y) {
      y = Conv<pads=[0,0,0,0], kernel_shape=[1,1]>(x, %w float[8,8,1,1])
    })";

inline constexpr std::string_view kLargeConv = R"(
    graph (float[1,8,16,16] x) => (float[1,8,16,16] y) {
      a = Conv<pads=[3,3,3,3], kernel_shape=[7,7]>(x, %w0 float[64,8,7,7])
      b = Relu(a)
      y = Conv<pads=[3,3,3,3], kernel_shape=[7,7]>(b, %w1 float[8,64,7,7])
    })";

// A classifier with a free batch: 4 numbers in, 3 scores out.
inline constexpr std::string_view kClassifier = R"(
    graph (float[N,4] x) => (float[N,3] y) {
      y = Gemm(x, %w float[4,3], %b float[3])
    })";

inline Model TestModel(std::string_view text) {
  auto model = ParseModelText(text);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return model ? *std::move(model) : Model();
}

inline std::string WriteTestModel(const std::string& folder, const std::string& name, std::string_view text) {
  const std::string path = JoinPath(folder, name);
  const auto written = WriteModel(TestModel(text), path);
  EXPECT_TRUE(written) << (written ? "" : written.error().message);
  return path;
}

inline Tensor RandomTensor(const std::vector<int64_t>& dims, uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(ElementCount(dims).value()));
  for (float& value : values) value = static_cast<float>(rng.UniformReal(-1, 1));
  return Tensor::Of<float>(dims, values);
}

}  // namespace rlc

#endif  // RLC_MEASURE_TEST_MODELS_H_
