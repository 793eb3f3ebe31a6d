// Any bytes as an .npz file: the directory, and every array that it lists. Arrays that can be read must be readable to
// their last byte.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rlc/base/error.h"
#include "rlc/data/array.h"
#include "rlc/data/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const rlc::NpzLimits limits = {.max_entries = 64, .max_inflated_bytes = 1 << 20};
  const auto file = rlc::NpzFile::FromBytes(std::as_bytes(std::span(data, size)), nullptr, "fuzz.npz", limits);
  if (!file) return 0;
  RLC_CHECK(file->names().size() <= limits.max_entries);
  for (const std::string& name : file->names()) {
    const auto stored = file->Get(name);
    if (stored) RLC_CHECK_EQ(stored->Load().ToDoubles().size(), static_cast<size_t>(stored->Load().size()));
  }
  return 0;
}
