#include "rlc/kernels/conv_form.h"

#include <algorithm>
#include <iterator>

namespace rlc {
namespace {

constexpr std::string_view kFormNames[] = {"direct", "winograd2", "winograd4", "bf16"};

}  // namespace

std::string_view ConvFormName(ConvForm form) { return kFormNames[static_cast<size_t>(form)]; }

std::optional<ConvForm> ParseConvForm(std::string_view name) {
  const auto* found = std::find(std::begin(kFormNames), std::end(kFormNames), name);
  if (found == std::end(kFormNames)) return std::nullopt;
  return static_cast<ConvForm>(found - std::begin(kFormNames));
}

}  // namespace rlc
