// Integer layers computed step by step, as a reference: products u8 * s8 summed in int32, then requantized in float, as
// ONNX Runtime's QLinearConv and QGemm do. Slow and plain.
#ifndef RLC_QUANT_EMULATE_H_
#define RLC_QUANT_EMULATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "rlc/quant/scheme.h"

namespace rlc {

// How sums of products are formed.
enum class Accumulation {
  kExact,            // in 32 bits: VNNI, ARM dot product
  kSaturatingPairs,  // pairs of products added in 16 bits with saturation (vpmaddubsw), then in 32 bits
};

// Output of a layer: y = clamp(round(sum * input_scale * weight_scale / output_scale) + output_zero_point).
struct Requantize {
  QuantParams input, output;
  std::span<const float> weight_scale;  // one for each output channel
  Scheme scheme;
  Accumulation accumulation = Accumulation::kExact;
};

// a [rows, depth] activations as integers, b [depth, columns] weights, bias int32 [columns] or empty.
// Returns [rows, columns] integers of the activation type.
std::vector<int32_t> EmulateGemm(std::span<const int32_t> a, std::span<const int8_t> b, std::span<const int32_t> bias,
                                 int64_t rows, int64_t depth, int64_t columns, const Requantize& how);

struct ConvGeometry {
  int64_t batch = 1, in_channels = 1, height = 1, width = 1;
  int64_t out_channels = 1, group = 1, kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t out_height() const {
    return (height + pad_top + pad_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1;
  }
  int64_t out_width() const { return (width + pad_left + pad_right - dilation_w * (kernel_w - 1) - 1) / stride_w + 1; }
};

// x [batch, in_channels, height, width], w [out_channels, in_channels / group, kernel_h, kernel_w]. Padding holds the
// input's zero point. Returns [batch, out_channels, out_height, out_width].
std::vector<int32_t> EmulateConv(std::span<const int32_t> x, std::span<const int8_t> w, std::span<const int32_t> bias,
                                 const ConvGeometry& geometry, const Requantize& how);

}  // namespace rlc

#endif  // RLC_QUANT_EMULATE_H_
