#include "rlc/onnx/parse_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <string>

#include "rlc/base/rng.h"
#include "rlc/onnx/wire.h"

namespace rlc {
namespace {

constexpr size_t kLarge = 200'000;  // bytes of a weight that goes past protobuf

void AddWeight(onnx::GraphProto& graph, const std::string& name, size_t bytes) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::UINT8);
  tensor.add_dims(static_cast<int64_t>(bytes));
  std::string raw(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) raw[i] = static_cast<char>(i * 31 + bytes);
  tensor.set_raw_data(raw);
}

onnx::ModelProto LargeModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.set_producer_name("test");
  onnx::GraphProto& graph = *model.mutable_graph();
  AddWeight(graph, "a", kLarge);
  AddWeight(graph, "small", 10);
  AddWeight(graph, "b", 3 * kLarge);
  graph.add_node()->set_op_type("Relu");
  model.add_metadata_props()->set_key("k");
  return model;
}

// The message that both ways give, as bytes; "failed" where neither gives one.
std::string Parsed(const std::string& bytes) {
  const auto folder = TempDir::Create();
  EXPECT_TRUE(folder);
  const std::string path = JoinPath(folder->path(), "m.onnx");
  EXPECT_TRUE(WriteFileAtomically(path, bytes));
  const auto file = MappedFile::Open(path);
  EXPECT_TRUE(file);
  onnx::ModelProto plain, mapped;
  const bool plainly = ParseProto(std::string_view(bytes), plain);
  EXPECT_EQ(ParseProto(**file, mapped), plainly);
  if (!plainly) return "failed";
  EXPECT_TRUE(plain.SerializeAsString() == mapped.SerializeAsString());
  return mapped.SerializeAsString();
}

TEST(ParseProto, LargeWeightsAreWhereTheyWere) {
  const std::string bytes = LargeModel().SerializeAsString();
  EXPECT_TRUE(Parsed(bytes) == bytes);
}

TEST(ParseProto, UnusualFilesMeanWhatProtobufSays) {
  const onnx::ModelProto model = LargeModel();
  const std::string bytes = model.SerializeAsString();
  const std::string twice = Parsed(bytes + bytes);  // fields of the second are merged into the first
  EXPECT_GT(twice.size(), 2 * 4 * kLarge);

  const std::string raw(kLarge, 'z');
  std::string tensor = model.graph().initializer(0).SerializeAsString();
  AppendFieldHeader(kTensorRawData, raw.size(), tensor);
  tensor += raw;  // a second raw_data: the last one counts
  std::string graph, again;
  AppendFieldHeader(kGraphInitializer, tensor.size(), graph);
  graph += tensor;
  AppendFieldHeader(kModelGraph, graph.size(), again);
  again += graph;
  EXPECT_NE(Parsed(again).find(raw), std::string::npos);

  EXPECT_NE(Parsed(bytes + std::string("\xa3\x06\xa4\x06", 4)), "failed");  // an unknown group, empty
  EXPECT_EQ(Parsed(bytes + std::string("\xa3\x06", 2)), "failed");          // one that is never closed
  EXPECT_EQ(Parsed(bytes + std::string("\x00\x00", 2)), "failed");          // field 0
  EXPECT_EQ(Parsed(bytes + std::string(11, '\xff')), "failed");             // an endless number
}

TEST(ParseProto, DamagedFilesFailAlike) {
  const std::string bytes = LargeModel().SerializeAsString();
  for (const size_t cut : {size_t{1}, size_t{7}, size_t{12}, size_t{100}, kLarge, 2 * kLarge, bytes.size() - 1}) {
    Parsed(bytes.substr(0, cut));
  }
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    std::string damaged = bytes;
    // Where the structure is: near the start, the second weight, the end.
    const size_t from = i % 3 == 0 ? 0 : i % 3 == 1 ? kLarge : bytes.size() - 60;
    damaged[from + rng.UniformInt(60)] = static_cast<char>(rng.UniformInt(256));
    Parsed(damaged);
  }
}

}  // namespace
}  // namespace rlc
