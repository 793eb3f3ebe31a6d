// Plan files: any text either parses or is refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rlc/rewrite/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = rlc::ParsePlan(text, {});
  if (plan) {
    for (const rlc::Action& action : plan->actions) RLC_CHECK(!action.Name().empty());
  }
  return 0;
}
