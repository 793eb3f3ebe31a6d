#include "rlc/onnx/import_attribute.h"

#include <onnx/onnx_pb.h>

#include <utility>
#include <vector>

namespace rlc {
namespace {

using onnx::AttributeProto;

// Fields of AttributeProto that hold a value, and which of them are there.
int CountValueFields(const AttributeProto& proto) {
  return proto.has_f() + proto.has_i() + proto.has_s() + proto.has_t() + proto.has_g() + proto.has_sparse_tensor() +
         proto.has_tp() + (proto.floats_size() > 0) + (proto.ints_size() > 0) + (proto.strings_size() > 0) +
         (proto.tensors_size() > 0) + (proto.graphs_size() > 0) + (proto.sparse_tensors_size() > 0) +
         (proto.type_protos_size() > 0);
}

// IR 1 has no `type` field: the value that is there tells.
AttributeProto::AttributeType GuessType(const AttributeProto& proto) {
  if (proto.has_f()) return AttributeProto::FLOAT;
  if (proto.has_i()) return AttributeProto::INT;
  if (proto.has_s()) return AttributeProto::STRING;
  if (proto.has_t()) return AttributeProto::TENSOR;
  if (proto.has_g()) return AttributeProto::GRAPH;
  if (proto.floats_size() > 0) return AttributeProto::FLOATS;
  if (proto.ints_size() > 0) return AttributeProto::INTS;
  if (proto.strings_size() > 0) return AttributeProto::STRINGS;
  if (proto.tensors_size() > 0) return AttributeProto::TENSORS;
  if (proto.graphs_size() > 0) return AttributeProto::GRAPHS;
  return AttributeProto::UNDEFINED;
}

bool TypeFitsValue(const AttributeProto& proto, AttributeProto::AttributeType type) {
  if (CountValueFields(proto) == 0) {
    // Zero, "" and [] may be left out; a tensor or a body may not.
    return type != AttributeProto::TENSOR && type != AttributeProto::GRAPH;
  }
  return type == GuessType(proto) || proto.has_sparse_tensor() || proto.has_tp() || proto.sparse_tensors_size() > 0 ||
         proto.type_protos_size() > 0;
}

// Names and doc strings of attribute tensors stay behind in the message; without them nothing of it is needed.
template <typename List>
void DropEmptyLeftovers(List& leftovers) {
  for (const auto& left : leftovers) {
    if (left.ByteSizeLong() > 0) return;
  }
  leftovers.Clear();
}

}  // namespace

Expected<Attribute> TakeAttribute(AttributeProto& proto, ExternalData& external,
                                  const std::function<Expected<Body>(onnx::GraphProto&)>& import_body,
                                  const std::string& where) {
  Attribute attribute;
  attribute.name = proto.name();
  const std::string place = where + ": attribute " + attribute.name;
  if (attribute.name.empty()) return MakeError(ErrorKind::kInvalidInput, "{}: has an attribute without a name", where);
  if (CountValueFields(proto) > 1) {
    return MakeError(ErrorKind::kInvalidInput, "{} holds more than one value", place);
  }
  const auto type = proto.type() == AttributeProto::UNDEFINED ? GuessType(proto) : proto.type();
  const bool reference = proto.has_ref_attr_name();
  if (!reference && !TypeFitsValue(proto, type)) {
    return MakeError(ErrorKind::kInvalidInput, "{} says it is of type {} but holds something else", place,
                     onnx::AttributeProto_AttributeType_Name(type));
  }
  switch (reference ? AttributeProto::UNDEFINED : type) {
    case AttributeProto::INT:
      attribute.value = static_cast<int64_t>(proto.i());
      proto.clear_i();
      break;
    case AttributeProto::FLOAT:
      attribute.value = proto.f();
      proto.clear_f();
      break;
    case AttributeProto::STRING:
      attribute.value = std::move(*proto.mutable_s());
      proto.clear_s();
      break;
    case AttributeProto::INTS:
      attribute.value = std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
      proto.clear_ints();
      break;
    case AttributeProto::FLOATS:
      attribute.value = std::vector<float>(proto.floats().begin(), proto.floats().end());
      proto.clear_floats();
      break;
    case AttributeProto::STRINGS:
      attribute.value = std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      proto.clear_strings();
      break;
    case AttributeProto::TENSOR: {
      RLC_ASSIGN_OR_RETURN(attribute.value, TakeTensor(*proto.mutable_t(), external, place));
      if (proto.t().ByteSizeLong() == 0) proto.clear_t();
      break;
    }
    case AttributeProto::TENSORS: {
      std::vector<Tensor> tensors;
      for (auto& item : *proto.mutable_tensors()) {
        RLC_ASSIGN_OR_RETURN(Tensor tensor, TakeTensor(item, external, place));
        tensors.push_back(std::move(tensor));
      }
      attribute.value = std::move(tensors);
      DropEmptyLeftovers(*proto.mutable_tensors());
      break;
    }
    case AttributeProto::GRAPH: {
      RLC_ASSIGN_OR_RETURN(attribute.value, import_body(*proto.mutable_g()));
      proto.clear_g();
      break;
    }
    case AttributeProto::GRAPHS: {
      std::vector<Body> bodies;
      for (auto& item : *proto.mutable_graphs()) {
        RLC_ASSIGN_OR_RETURN(Body body, import_body(item));
        bodies.push_back(std::move(body));
      }
      attribute.value = std::move(bodies);
      proto.clear_graphs();
      break;
    }
    default: {
      OpaqueAttribute opaque;
      proto.SerializeToString(&opaque.bytes);
      attribute.value = std::move(opaque);
      return attribute;
    }
  }
  proto.clear_name();
  proto.clear_type();
  if (proto.ByteSizeLong() > 0) proto.SerializeToString(&attribute.extra);
  return attribute;
}

}  // namespace rlc
