#include "rlc/base/error.h"

#include <cstdio>
#include <cstdlib>

namespace rlc {

Unexpected WithContext(Error error, std::string_view context) {
  error.message = fmt::format("{}: {}", context, error.message);
  return Unexpected(std::move(error));
}

namespace internal {

void CheckFailed(const char* file, int line, const char* condition, const std::string& detail) {
  fmt::print(stderr, "rlc: internal error at {}:{}: {} does not hold{}{}\n", file, line, condition,
             detail.empty() ? "" : ": ", detail);
  std::abort();
}

}  // namespace internal
}  // namespace rlc
