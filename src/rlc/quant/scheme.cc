#include "rlc/quant/scheme.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rlc {
namespace {

// Smallest scale: below the normal floats x / scale loses all precision, and runtimes flush denormals to 0.
constexpr double kMinScale = std::numeric_limits<float>::min();

// A bias beyond this leaves the int32 accumulator no room for its products.
constexpr double kBiasLimit = 1 << 30;

double RoundHalfEven(double x) {
  // std::nearbyint depends on the rounding mode, which is "to nearest even" unless somebody changed it.
  const double floor = std::floor(x);
  const double rest = x - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return std::fmod(floor, 2.0) == 0.0 ? floor : floor + 1;
}

// How a tensor is walked by channel: element (o, c, i) stands at (o * channels + c) * inner + i.
struct ChannelWalk {
  int64_t outer = 1, channels = 1, inner = 1;
};

ChannelWalk WalkAlong(const std::vector<int64_t>& dims, int axis) {
  ChannelWalk walk;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    (d < axis ? walk.outer : d == axis ? walk.channels : walk.inner) *= dims[static_cast<size_t>(d)];
  }
  return walk;
}

// The largest |w| of each channel.
Expected<std::vector<double>> ChannelMaxima(std::span<const float> weight, const ChannelWalk& walk) {
  std::vector<double> maxima(static_cast<size_t>(walk.channels), 0.0);
  size_t at = 0;
  for (int64_t o = 0; o < walk.outer; ++o) {
    for (size_t c = 0; c < maxima.size(); ++c) {
      for (int64_t i = 0; i < walk.inner; ++i, ++at) {
        const double magnitude = std::fabs(static_cast<double>(weight[at]));
        if (!std::isfinite(magnitude)) {
          return MakeError(ErrorKind::kInvalidInput, "the weight holds a value that is not finite (channel {})", c);
        }
        maxima[c] = std::max(maxima[c], magnitude);
      }
    }
  }
  return maxima;
}

// The scale of one channel; raised when the bias would not fit.
Expected<float> ChannelScale(double maximum, double bias, float input_scale, int limit, bool* widened) {
  double scale = maximum / limit;
  if (scale < kMinScale) scale = 1;  // an empty channel: any scale represents it
  const double needed = std::fabs(bias) / (static_cast<double>(input_scale) * kBiasLimit);
  if (needed > scale) {
    scale = needed;
    *widened = true;
  }
  const float result = static_cast<float>(scale);
  // The scale of the bias must be a normal number too.
  if (!std::isfinite(result) || static_cast<double>(result) * input_scale < kMinScale) {
    return MakeError(ErrorKind::kInvalidInput,
                     "no scale fits weights up to {:g} with a bias of {:g} (input scale {:g})", maximum, bias,
                     input_scale);
  }
  return result;
}

Tensor QuantizeByChannel(const Tensor& weight, const ChannelWalk& walk, const std::vector<float>& scale, int limit) {
  const std::span<const float> w = weight.data<float>();
  std::vector<int8_t> q(w.size());
  size_t at = 0;
  for (int64_t o = 0; o < walk.outer; ++o) {
    for (const float s : scale) {
      const QuantParams params{s, 0};
      for (int64_t i = 0; i < walk.inner; ++i, ++at)
        q[at] = static_cast<int8_t>(QuantizeNumber(w[at], params, -limit, limit));
    }
  }
  return Tensor::Of<int8_t>(weight.dims(), q);
}

Expected<std::vector<double>> BiasValues(const Tensor* bias, int64_t channels) {
  std::vector<double> values(static_cast<size_t>(channels), 0.0);
  if (bias == nullptr) return values;
  if (bias->dtype() != DType::kFloat || bias->size() != channels) {
    return MakeError(ErrorKind::kInvalidInput, "the bias has {} elements of type {}, {} floats are needed",
                     bias->size(), DTypeName(bias->dtype()), channels);
  }
  const std::span<const float> data = bias->data<float>();
  for (size_t c = 0; c < values.size(); ++c) {
    if (!std::isfinite(data[c])) {
      return MakeError(ErrorKind::kInvalidInput, "the bias holds a value that is not finite (channel {})", c);
    }
    values[c] = data[c];
  }
  return values;
}

}  // namespace

std::string Scheme::Name() const {
  return std::string(activation == DType::kUint8 ? "u8" : "s8") + (reduce_range ? "s7" : "s8");
}

Expected<Scheme> ParseScheme(std::string_view name) {
  for (const DType activation : {DType::kUint8, DType::kInt8}) {
    for (const bool reduced : {false, true}) {
      const Scheme scheme{activation, reduced};
      if (scheme.Name() == name) return scheme;
    }
  }
  return MakeError(ErrorKind::kUsage, "no integer scheme is called '{}'; there are u8s8, u8s7, s8s8 and s8s7", name);
}

Scheme Scheme::DefaultFor(const IntegerSupport& cpu) {
  if (!cpu.x86) return Scheme{DType::kInt8, false};
  return Scheme{DType::kUint8, !cpu.vnni};
}

Expected<QuantParams> ParamsForRange(double low, double high, const Scheme& scheme) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    return MakeError(ErrorKind::kInvalidInput, "[{:g}, {:g}] is not a range that can be quantized", low, high);
  }
  low = std::min(low, 0.0);
  high = std::max(high, 0.0);
  const int q_low = scheme.activation_low();
  const int q_high = scheme.activation_high();
  // Rounded to float here, so that the zero point fits the scale that is stored.
  const double scale = static_cast<float>((high - low) / (q_high - q_low));
  if (!std::isfinite(scale)) {
    return MakeError(ErrorKind::kInvalidInput, "[{:g}, {:g}] is too wide for a float scale", low, high);
  }
  if (scale < kMinScale) return QuantParams{1, low < 0 ? q_high : q_low};
  const double zero = RoundHalfEven(q_low - low / scale);
  return QuantParams{static_cast<float>(scale),
                     static_cast<int32_t>(std::clamp(zero, static_cast<double>(q_low), static_cast<double>(q_high)))};
}

int32_t QuantizeNumber(double x, const QuantParams& params, int32_t low, int32_t high) {
  if (std::isnan(x)) return std::clamp(params.zero_point, low, high);
  const double q = RoundHalfEven(x / static_cast<double>(params.scale)) + params.zero_point;
  return static_cast<int32_t>(std::clamp(q, static_cast<double>(low), static_cast<double>(high)));
}

Expected<QuantizedWeight> QuantizeWeight(const Tensor& weight, int axis, const Tensor* bias, float input_scale,
                                         const Scheme& scheme) {
  RLC_CHECK(axis >= 0 && axis < weight.rank());
  if (weight.dtype() != DType::kFloat) {
    return MakeError(ErrorKind::kInvalidInput, "the weight has type {}, only float weights are quantized",
                     DTypeName(weight.dtype()));
  }
  const ChannelWalk walk = WalkAlong(weight.dims(), axis);
  RLC_ASSIGN_OR_RETURN(const std::vector<double> maxima, ChannelMaxima(weight.data<float>(), walk));
  RLC_ASSIGN_OR_RETURN(const std::vector<double> biases, BiasValues(bias, walk.channels));

  QuantizedWeight result;
  std::vector<float> scale(maxima.size());
  std::vector<int32_t> q_bias(maxima.size());
  for (size_t c = 0; c < scale.size(); ++c) {
    bool widened = false;
    RLC_ASSIGN_OR_RETURN(scale[c], ChannelScale(maxima[c], biases[c], input_scale, scheme.weight_limit(), &widened));
    result.widened_channels += widened ? 1 : 0;
    // The product in float, as runtimes form it.
    const QuantParams bias_params{input_scale * scale[c], 0};
    q_bias[c] = QuantizeNumber(biases[c], bias_params, std::numeric_limits<int32_t>::min(),
                               std::numeric_limits<int32_t>::max());
  }
  result.weight = QuantizeByChannel(weight, walk, scale, scheme.weight_limit());
  result.scale = Tensor::Of<float>({walk.channels}, scale);
  result.zero_point = Tensor::Of<int8_t>({walk.channels}, std::vector<int8_t>(scale.size(), 0));
  if (bias != nullptr) result.bias = Tensor::Of<int32_t>({walk.channels}, q_bias);
  return result;
}

}  // namespace rlc
