// Any bytes as an .npy file: an array that can be read to its last byte, or an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "rlc/base/error.h"
#include "rlc/data/array.h"
#include "rlc/data/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto stored = rlc::ParseNpy(std::as_bytes(std::span(data, size)), nullptr, "fuzz.npy");
  if (!stored) {
    RLC_CHECK(!stored.error().message.empty());
    return 0;
  }
  const rlc::Array array = stored->Load();
  RLC_CHECK_EQ(array.ToDoubles().size(), static_cast<size_t>(array.size()));
  return 0;
}
