#include "rlc/ir/attribute.h"

#include <bit>

namespace rlc {
namespace {

bool SameFloats(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return false;
  }
  return true;
}

bool SameTensors(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].SameAs(b[i])) return false;
  }
  return true;
}

struct KindNamer {
  std::string operator()(int64_t) const { return "int"; }
  std::string operator()(float) const { return "float"; }
  std::string operator()(const std::string&) const { return "string"; }
  std::string operator()(const Tensor&) const { return "tensor"; }
  std::string operator()(const Body&) const { return "graph"; }
  std::string operator()(const std::vector<int64_t>&) const { return "ints"; }
  std::string operator()(const std::vector<float>&) const { return "floats"; }
  std::string operator()(const std::vector<std::string>&) const { return "strings"; }
  std::string operator()(const std::vector<Tensor>&) const { return "tensors"; }
  std::string operator()(const std::vector<Body>&) const { return "graphs"; }
  std::string operator()(const OpaqueAttribute&) const { return "opaque"; }
};

}  // namespace

bool SameValue(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<float>(&a)) {
    return std::bit_cast<uint32_t>(*x) == std::bit_cast<uint32_t>(std::get<float>(b));
  }
  if (const auto* x = std::get_if<std::vector<float>>(&a)) return SameFloats(*x, std::get<std::vector<float>>(b));
  if (const auto* x = std::get_if<Tensor>(&a)) return x->SameAs(std::get<Tensor>(b));
  if (const auto* x = std::get_if<std::vector<Tensor>>(&a)) return SameTensors(*x, std::get<std::vector<Tensor>>(b));
  if (const auto* x = std::get_if<int64_t>(&a)) return *x == std::get<int64_t>(b);
  if (const auto* x = std::get_if<std::string>(&a)) return *x == std::get<std::string>(b);
  if (const auto* x = std::get_if<Body>(&a)) return *x == std::get<Body>(b);
  if (const auto* x = std::get_if<std::vector<int64_t>>(&a)) return *x == std::get<std::vector<int64_t>>(b);
  if (const auto* x = std::get_if<std::vector<std::string>>(&a)) return *x == std::get<std::vector<std::string>>(b);
  if (const auto* x = std::get_if<std::vector<Body>>(&a)) return *x == std::get<std::vector<Body>>(b);
  return std::get<OpaqueAttribute>(a) == std::get<OpaqueAttribute>(b);
}

std::string KindName(const AttributeValue& value) { return std::visit(KindNamer(), value); }

std::vector<Body> BodiesOf(const AttributeValue& value) {
  if (const auto* body = std::get_if<Body>(&value)) return {*body};
  if (const auto* bodies = std::get_if<std::vector<Body>>(&value)) return *bodies;
  return {};
}

}  // namespace rlc
