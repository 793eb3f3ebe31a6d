// Integer schemes: what is stored in which type, and how real numbers become integers.
//
//   q = clamp(round(x / scale) + zero_point)      x ~ (q - zero_point) * scale      round: half to even, as ONNX says
#ifndef RLC_QUANT_SCHEME_H_
#define RLC_QUANT_SCHEME_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/tensor.h"
#include "rlc/ir/type.h"

namespace rlc {

// Of one tensor of activations.
struct QuantParams {
  float scale = 1;  // > 0, finite
  int32_t zero_point = 0;
  bool operator==(const QuantParams&) const = default;
};

// What the integer kernels of a CPU do, as far as the choice of a scheme depends on it.
struct IntegerSupport {
  bool x86 = true;
  bool vnni = false;  // AVX-512 VNNI or AVX-VNNI: sums of products in 32 bits
};

struct Scheme {
  DType activation = DType::kUint8;  // kUint8 or kInt8, both with a zero point
  // Weights are int8, symmetric, one scale for each output channel. With reduce_range they keep to [-64, 64]: without
  // VNNI, x86 kernels add pairs of products u8 * s8 in 16 bits (vpmaddubsw), which saturates beyond 32767; 2 * 255 * 64
  // is below that.
  bool reduce_range = false;

  int weight_limit() const { return reduce_range ? 64 : 127; }
  int activation_low() const { return activation == DType::kUint8 ? 0 : -128; }
  int activation_high() const { return activation == DType::kUint8 ? 255 : 127; }
  std::string Name() const;  // "u8s8", "u8s7" (reduced), "s8s8", "s8s7"
  bool operator==(const Scheme&) const = default;

  // u8 activations (ONNX Runtime's x86 kernels are slow on s8), reduced weights without VNNI; full range elsewhere.
  static Scheme DefaultFor(const IntegerSupport& cpu);
};
// The reverse of Name(). Error kUsage for anything else.
Expected<Scheme> ParseScheme(std::string_view name);

// Scale and zero point that cover [low, high] and represent 0 exactly (the range is widened to hold 0). A range that is
// empty or too narrow for a normal float gets scale 1. Error: a bound that is not finite, low > high.
Expected<QuantParams> ParamsForRange(double low, double high, const Scheme& scheme);

// The integer of one number. NaN gives the zero point.
int32_t QuantizeNumber(double x, const QuantParams& params, int32_t low, int32_t high);
inline double DequantizeNumber(int32_t q, const QuantParams& params) {
  return (static_cast<double>(q) - params.zero_point) * static_cast<double>(params.scale);
}

// Weights (and bias) of one layer as integers.
struct QuantizedWeight {
  Tensor weight;               // int8, dims of the original
  Tensor scale;                // float [channels]
  Tensor zero_point;           // int8 [channels], all 0
  std::optional<Tensor> bias;  // int32 [channels], scale = input_scale * scale[c]
  // Channels whose scale was raised so that the bias fits in 32 bits (with room for the sum of products).
  int widened_channels = 0;
};

// Channels run along `axis` of `weight` (float). `bias`: float [channels] or null. The channel's scale is
// max|w| / limit, raised when |bias| / (input_scale * scale) would exceed 2^30: the int32 accumulator then still has
// room for its products. Error: not finite, not float, a bias of another length, a bias so large that no scale fits.
Expected<QuantizedWeight> QuantizeWeight(const Tensor& weight, int axis, const Tensor* bias, float input_scale,
                                         const Scheme& scheme);

}  // namespace rlc

#endif  // RLC_QUANT_SCHEME_H_
