#include "rlc/optimize/ops_library.h"

#include <cstdlib>

#include "rlc/base/file.h"
#include "rlc/base/process.h"
#include "rlc/rewrite/regions.h"

namespace rlc {

std::string FindOpsLibrary() {
  if (const char* named = std::getenv("RLC_OPS_LIBRARY"); named != nullptr && *named != '\0') return named;
  if (const auto self = SelfExecutable()) {
    const std::string beside = JoinPath(FolderOf(*self), "librlc_ops.so");
    if (FileExists(beside)) return beside;
  }
  return "";
}

std::vector<std::string> LibrariesFor(const Model& model, const std::string& ops_library) {
  if (ops_library.empty() || !HasRegions(model)) return {};
  return {ops_library};
}

}  // namespace rlc
