// How a convolution is computed.
#ifndef RLC_KERNELS_CONV_FORM_H_
#define RLC_KERNELS_CONV_FORM_H_

#include <optional>
#include <string_view>

namespace rlc {

enum class ConvForm {
  kDirect,     // float, oneDNN's choice
  kWinograd2,  // float, rlc's Winograd F(2x2,3x3)
  kWinograd4,  // float, rlc's Winograd F(4x4,3x3)
  kBf16,       // operands rounded to bfloat16, sums in float
};
std::string_view ConvFormName(ConvForm form);  // "direct", "winograd2", "winograd4", "bf16"
std::optional<ConvForm> ParseConvForm(std::string_view name);

}  // namespace rlc

#endif  // RLC_KERNELS_CONV_FORM_H_
