// Declares every rule: std::unique_ptr<Rewrite> FuseBnIntoConv(); and so on, one for each row of rules.inc.
#ifndef RLC_REWRITE_RULES_H_
#define RLC_REWRITE_RULES_H_

#include <memory>

#include "rlc/rewrite/rewrite.h"

namespace rlc {

#define RLC_REWRITE(function) std::unique_ptr<Rewrite> function();
#include "rlc/rewrite/rules.inc"
#undef RLC_REWRITE

}  // namespace rlc

#endif  // RLC_REWRITE_RULES_H_
