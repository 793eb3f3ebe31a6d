#include "rlc/search/method.h"

#include "rlc/search/methods.h"

namespace rlc {
namespace {

const std::vector<std::unique_ptr<SearchMethod>>& AllMethods() {
  static const auto* const methods = [] {
    auto* list = new std::vector<std::unique_ptr<SearchMethod>>;
#define RLC_SEARCH_METHOD(Function) list->push_back(Function());
#include "rlc/search/methods.inc"
#undef RLC_SEARCH_METHOD
    return list;
  }();
  return *methods;
}

}  // namespace

const SearchMethod* FindMethod(std::string_view name) {
  for (const auto& method : AllMethods()) {
    if (method->name() == name) return method.get();
  }
  return nullptr;
}

std::vector<std::string> MethodNames() {
  std::vector<std::string> names;
  for (const auto& method : AllMethods()) names.emplace_back(method->name());
  return names;
}

bool BetterTrial(const SearchTrial& a, const SearchTrial& b, double max_drop) {
  const auto within = [&](const SearchTrial& trial) {
    return trial.costs && (!trial.costs->drop || trial.costs->drop->value <= max_drop);
  };
  if (!within(a)) return false;
  return !within(b) || a.costs->ratio.value < b.costs->ratio.value;
}

}  // namespace rlc
