// The text form: any bytes give a graph or an error, and what was parsed prints to a text that means the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rlc/base/error.h"
#include "rlc/ir/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const rlc::PrintOptions all{std::nullopt, true};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = rlc::ParseModelText(text, {.max_generated_bytes = 1 << 16});
  if (!model) {
    RLC_CHECK(!model.error().message.empty());
    return 0;
  }
  const std::string printed = rlc::PrintModel(*model, all);
  const auto again = rlc::ParseModelText(printed);
  RLC_CHECK(again.has_value());
  RLC_CHECK_EQ(rlc::PrintModel(*again, all), printed);
  return 0;
}
