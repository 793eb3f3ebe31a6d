// Region programs: any bytes give a graph whose nodes rlc compiles or refuses with a reason, or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rlc/base/error.h"
#include "rlc/ir/region_ops.h"
#include "rlc/region/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program = rlc::ReadProgram(text, {.bytes = 1 << 16, .nodes = 50});
  if (!program) {
    RLC_CHECK(!program.error().message.empty());
    return 0;
  }
  const rlc::ConstantOf none = [](rlc::ValueId) -> const rlc::Tensor* { return nullptr; };
  for (const rlc::NodeId id : program->nodes()) {
    const auto reason = rlc::WhyNotInRegion(*program, program->node(id), none);
    RLC_CHECK(!reason || !reason->empty());
  }
  return 0;
}
