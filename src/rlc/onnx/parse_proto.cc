// A large file is parsed in two parts: the message without the raw bytes of its large initializers, by protobuf, and
// these bytes by hand. What is looked at by hand is the wire format down to TensorProto.raw_data, nothing else; a file
// that is unusual there (graph or raw_data twice, groups, damage) is left to protobuf as a whole.
#include "rlc/onnx/parse_proto.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rlc/onnx/wire.h"

namespace rlc {
namespace {

constexpr size_t kLargeWeight = size_t{1} << 16;  // bytes; smaller ones are not worth the trouble
constexpr size_t kPieceBytes = size_t{1} << 20;

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::string_view whole, value;  // value: of kBytes only
  bool IsBytes(uint32_t wanted) const { return type == WireType::kBytes && number == wanted; }
};

// The fields of one message, one after another.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : left_(bytes) {}
  // Nothing: the end, or bytes that are no plain field; then failed().
  std::optional<Field> Next() {
    if (left_.empty()) return std::nullopt;
    failed_ = true;
    const std::string_view start = left_;
    const auto tag = Varint();
    Field field;
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return std::nullopt;
    field.number = static_cast<uint32_t>(*tag >> 3);
    field.type = static_cast<WireType>(*tag & 7);
    uint64_t size = 0;
    if (field.type == WireType::kVarint) {
      if (!Varint()) return std::nullopt;
    } else if (field.type == WireType::kBytes) {
      const auto length = Varint();
      if (!length) return std::nullopt;
      size = *length;
    } else if (field.type == WireType::kFixed64 || field.type == WireType::kFixed32) {
      size = field.type == WireType::kFixed64 ? 8 : 4;
    } else {
      return std::nullopt;  // groups
    }
    if (size > left_.size()) return std::nullopt;
    field.value = left_.substr(0, size);
    left_.remove_prefix(size);
    field.whole = start.substr(0, start.size() - left_.size());
    failed_ = false;
    return field;
  }
  bool failed() const { return failed_; }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string_view left_;
  bool failed_ = false;
};

struct Weight {
  int initializer = 0;
  std::string_view bytes;
};

// A message without its large weights, and these.
struct Split {
  std::string rest;
  std::vector<Weight> weights;
};

void AppendMessage(uint32_t field, std::string_view message, std::string& out) {
  AppendFieldHeader(field, message.size(), out);
  out += message;
}

// False: unusual.
bool SplitTensor(std::string_view tensor, int initializer, Split& split) {
  std::string rest;
  int raw_fields = 0;
  Fields fields(tensor);
  while (const auto field = fields.Next()) {
    const bool raw = field->IsBytes(kTensorRawData);
    raw_fields += raw ? 1 : 0;
    if (raw && field->value.size() >= kLargeWeight) {
      split.weights.push_back({initializer, field->value});
    } else {
      rest += field->whole;
    }
  }
  AppendMessage(kGraphInitializer, rest, split.rest);
  return !fields.failed() && raw_fields <= 1;
}

bool SplitGraph(std::string_view graph, Split& split) {
  int initializers = 0;
  Fields fields(graph);
  while (const auto field = fields.Next()) {
    if (!field->IsBytes(kGraphInitializer)) {
      split.rest += field->whole;
    } else if (!SplitTensor(field->value, initializers++, split)) {
      return false;
    }
  }
  return !fields.failed();
}

std::optional<Split> SplitModel(std::string_view model) {
  Split split;
  int graphs = 0;
  Fields fields(model);
  while (const auto field = fields.Next()) {
    if (!field->IsBytes(kModelGraph)) {
      split.rest += field->whole;
      continue;
    }
    Split graph;
    if (++graphs > 1 || !SplitGraph(field->value, graph)) return std::nullopt;
    AppendMessage(kModelGraph, graph.rest, split.rest);
    split.weights = std::move(graph.weights);
  }
  if (fields.failed()) return std::nullopt;
  return split;
}

std::string_view TextOf(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

bool ParseProto(std::string_view bytes, onnx::ModelProto& proto) {
  return proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool ParseProto(const MappedFile& file, onnx::ModelProto& proto) {
  const auto split = SplitModel(TextOf(file));
  if (!split || split->weights.empty()) return ParseProto(TextOf(file), proto);
  if (!ParseProto(split->rest, proto)) return false;
  for (const Weight& weight : split->weights) {
    std::string& raw = *proto.mutable_graph()->mutable_initializer(weight.initializer)->mutable_raw_data();
    raw.reserve(weight.bytes.size());
    for (size_t done = 0; done < weight.bytes.size(); done += kPieceBytes) {
      const std::string_view piece = weight.bytes.substr(done, kPieceBytes);
      raw += piece;
      file.DropPages(std::as_bytes(std::span(piece)));
    }
  }
  return true;
}

}  // namespace rlc
