// Kernels of single layers. Each factory makes one for fixed shapes; null means that this CPU or library has no such
// implementation (the caller takes another form or leaves the layer to the runtime).
#ifndef RLC_KERNELS_OPS_H_
#define RLC_KERNELS_OPS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rlc/kernels/conv_form.h"
#include "rlc/kernels/epilogue.h"
#include "rlc/kernels/kernel.h"

namespace rlc {

// Two spatial dimensions; ONNX's terms.
struct ConvShape {
  std::vector<int64_t> input;    // [batch, in_channels, height, width]
  std::vector<int64_t> weights;  // [out_channels, in_channels / group, kernel_height, kernel_width]
  std::vector<int64_t> strides = {1, 1}, dilations = {1, 1}, pads = {0, 0, 0, 0};  // top, left, bottom, right
  int64_t group = 1;
  std::vector<int64_t> Output() const;
};

// Inputs: x, and the residual if the epilogue has one (in place with the output in oneDNN's forms). weights and bias
// ([out_channels] or empty) are packed here. `threads` may share the work of one run.
std::unique_ptr<Kernel> MakeConv(const ConvShape& shape, ConvForm form, const Epilogue& epilogue,
                                 std::span<const float> weights, std::span<const float> bias, int threads);

// y = activation(x W^T + b), x [rows, in] plain, weights [out, in].
std::unique_ptr<Kernel> MakeInnerProduct(int64_t rows, int64_t in, int64_t out, const Activation& activation,
                                         std::span<const float> weights, std::span<const float> bias);

struct PoolShape {
  enum class Kind { kMax, kAverage, kAverageWithPads };
  Kind kind = Kind::kMax;
  std::vector<int64_t> kernel, strides, pads;  // pads: top, left, bottom, right
  std::vector<int64_t> output;                 // whole shape
};
std::unique_ptr<Kernel> MakePool(const PoolShape& shape, const Format& x);

// y = (x - mean) / sqrt(variance + epsilon) scale + shift for each channel, then max(y, 0) if `relu`. Four dimensions.
struct BatchNormConstants {
  std::span<const float> scale, shift, mean, variance;  // [channels]
  float epsilon = 1e-5F;
};
std::unique_ptr<Kernel> MakeBatchNorm(const BatchNormConstants& constants, bool relu, const Format& x);

std::unique_ptr<Kernel> MakeActivation(const Activation& activation, const Format& x);

enum class BinaryOp { kAdd, kSub, kMul, kDiv, kMax, kMin };
// a op b, b broadcast to a: each dimension is a's or 1 (same rank). Inputs: a in its format, b in the one it asks for.
std::unique_ptr<Kernel> MakeBinary(BinaryOp op, const Format& a, const std::vector<int64_t>& b);

// Joins channels. All inputs plain, all with channels last, or all in whole blocks of channels.
std::unique_ptr<Kernel> MakeConcat(const std::vector<Format>& inputs);

std::unique_ptr<Kernel> MakeSoftmax(int axis, const Format& x);

// Same dimensions, another order in memory or element type.
std::unique_ptr<Kernel> MakeReorder(const Format& from, const Format& to);

// Computes with one thread of this call's OpenMP from now on, so that nobody's pool spins beside the caller's; put back
// at the end. Round all use of kernels and their factories.
class ScopedSingleThread {
 public:
  ScopedSingleThread();
  ~ScopedSingleThread();
  ScopedSingleThread(const ScopedSingleThread&) = delete;
  ScopedSingleThread& operator=(const ScopedSingleThread&) = delete;

 private:
  int previous_;
};

}  // namespace rlc

#endif  // RLC_KERNELS_OPS_H_
