// Any bytes as a safetensors file: arrays that can be read to their last byte and together cover the data, or an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "rlc/base/error.h"
#include "rlc/data/array.h"
#include "rlc/data/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = rlc::ParseSafetensors(std::as_bytes(std::span(data, size)), nullptr, "fuzz.safetensors");
  if (!file) return 0;
  size_t bytes = 0;
  for (const auto& [name, stored] : file->arrays) {
    bytes += stored.bytes().size();
    RLC_CHECK_EQ(stored.Load().ToDoubles().size(), static_cast<size_t>(stored.Load().size()));
  }
  RLC_CHECK(bytes <= size);
  return 0;
}
