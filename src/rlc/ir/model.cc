#include "rlc/ir/model.h"

#include <algorithm>

namespace rlc {

bool Model::IsFunctionCall(const Node& node) const {
  return std::any_of(functions.begin(), functions.end(), [&](const Function& function) {
    return function.name == node.op && function.domain == node.domain && function.overload == node.overload;
  });
}

}  // namespace rlc
