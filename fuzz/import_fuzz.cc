// Any bytes are either refused with an error, or a model that survives writing and reading again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "rlc/base/error.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = rlc::ParseModel(std::string(reinterpret_cast<const char*>(data), size), "fuzz", "");
  if (!model) return 0;
  const auto bytes = rlc::SerializeModel(*model);
  RLC_CHECK(bytes.has_value());
  const auto again = rlc::ParseModel(*bytes, "fuzz again", "");
  RLC_CHECK(again.has_value());
  const auto same = rlc::SerializeModel(*again);
  RLC_CHECK(same.has_value() && *same == *bytes);
  return 0;
}
