// Any bytes as a PNG or JPEG image: pixels as many as the size says, or an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "rlc/base/error.h"
#include "rlc/data/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto image = rlc::DecodeImage(std::as_bytes(std::span(data, size)), "fuzz");
  if (!image) return 0;
  RLC_CHECK_EQ(image->pixels.size(),
               size_t{3} * static_cast<size_t>(image->height) * static_cast<size_t>(image->width));
  return 0;
}
