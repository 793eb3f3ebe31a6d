// Attributes of nodes.
#ifndef RLC_IR_ATTRIBUTE_H_
#define RLC_IR_ATTRIBUTE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "rlc/ir/tensor.h"

namespace rlc {

class Graph;

// A subgraph (body of If, Loop, Scan, ...). Shared by copies of the node; Graph::SetAttribute replaces it as a whole.
using Body = std::shared_ptr<const Graph>;

// An attribute that rlc does not look into: the serialized AttributeProto (sparse tensors, type protos, references to a
// function's attributes, newer kinds).
struct OpaqueAttribute {
  std::string bytes;
  bool operator==(const OpaqueAttribute&) const = default;
};

using AttributeValue = std::variant<int64_t, float, std::string, Tensor, Body, std::vector<int64_t>, std::vector<float>,
                                    std::vector<std::string>, std::vector<Tensor>, std::vector<Body>, OpaqueAttribute>;

struct Attribute {
  std::string name;
  AttributeValue value;
  std::string extra;  // the rest of the AttributeProto (doc string, unknown fields), serialized
};

// Equal to the bit: floats by their bits, tensors by type, dims and bytes. Bodies are the same only if they are the
// same object.
bool SameValue(const AttributeValue& a, const AttributeValue& b);
// "int", "floats", "tensor", "graph" ...: for messages.
std::string KindName(const AttributeValue& value);
// The bodies in a value: none, one or several.
std::vector<Body> BodiesOf(const AttributeValue& value);

}  // namespace rlc

#endif  // RLC_IR_ATTRIBUTE_H_
