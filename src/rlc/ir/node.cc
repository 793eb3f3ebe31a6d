#include <algorithm>

#include "rlc/ir/graph.h"

namespace rlc {
namespace {

template <typename T>
std::optional<T> Get(const Node& node, std::string_view name, T absent) {
  const Attribute* attribute = node.FindAttribute(name);
  if (attribute == nullptr) return absent;
  const T* value = std::get_if<T>(&attribute->value);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

}  // namespace

const Attribute* Node::FindAttribute(std::string_view attribute) const {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& candidate) { return candidate.name == attribute; });
  return found == attributes.end() ? nullptr : &*found;
}

std::optional<int64_t> Node::GetInt(std::string_view attribute, int64_t absent) const {
  return Get<int64_t>(*this, attribute, absent);
}

std::optional<float> Node::GetFloat(std::string_view attribute, float absent) const {
  return Get<float>(*this, attribute, absent);
}

std::optional<std::vector<int64_t>> Node::GetInts(std::string_view attribute, std::vector<int64_t> absent) const {
  return Get<std::vector<int64_t>>(*this, attribute, std::move(absent));
}

std::optional<std::string> Node::GetString(std::string_view attribute, std::string absent) const {
  return Get<std::string>(*this, attribute, std::move(absent));
}

bool Node::HasBody() const {
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const Attribute& attribute) { return !BodiesOf(attribute.value).empty(); });
}

}  // namespace rlc
