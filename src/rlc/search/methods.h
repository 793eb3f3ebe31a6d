// The search methods, one function each; methods.inc is the list.
#ifndef RLC_SEARCH_METHODS_H_
#define RLC_SEARCH_METHODS_H_

#include <memory>

#include "rlc/search/method.h"

namespace rlc {

#define RLC_SEARCH_METHOD(Function) std::unique_ptr<SearchMethod> Function();
#include "rlc/search/methods.inc"
#undef RLC_SEARCH_METHOD

}  // namespace rlc

#endif  // RLC_SEARCH_METHODS_H_
