#include "rlc/onnx/export.h"

#include <gmock/gmock.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <string>

#include "rlc/base/file.h"
#include "rlc/onnx/import.h"
#include "rlc/onnx/test_models.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

// Reads and writes the model; what comes out.
onnx::ModelProto RoundTrip(const onnx::ModelProto& proto) {
  const auto model = ParseModel(proto.SerializeAsString(), "m", "");
  EXPECT_TRUE(model.has_value()) << model.error().message;
  onnx::ModelProto again;
  if (!model) return again;
  EXPECT_TRUE(again.ParseFromString(*SerializeModel(*model)));
  return again;
}

// Differences between two models, "" when there are none. Order of value_info does not count.
std::string Difference(const onnx::ModelProto& a, const onnx::ModelProto& b) {
  std::string report;
  google::protobuf::util::MessageDifferencer differ;
  differ.TreatAsSet(onnx::GraphProto::descriptor()->FindFieldByName("value_info"));
  differ.ReportDifferencesToString(&report);
  differ.Compare(a, b);
  return report;
}

// Typed data is written as raw data; everything else stays as it is.
void MakeRaw(onnx::TensorProto& tensor) {
  if (tensor.float_data_size() == 0) return;
  tensor.set_raw_data(tensor.float_data().data(), static_cast<size_t>(tensor.float_data_size()) * sizeof(float));
  tensor.clear_float_data();
}

onnx::ModelProto RawProtoOf(const char* text) {
  onnx::ModelProto proto = ProtoOf(text);
  for (auto& tensor : *proto.mutable_graph()->mutable_initializer()) MakeRaw(tensor);
  return proto;
}

constexpr char kModel[] = R"(
  <ir_version: 8, opset_import: ["" : 17, "local" : 1, "com.foreign" : 3], producer_name: "tester",
   doc_string: "about", metadata_props: ["key": "value"]>
  g (float[N,4] x, bool c) => (float[N,4] y, float[] z)
  <float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, float[N,4] m>
  {
    m = MatMul(x, w)
    f = local.Twice(m)
    o = com.foreign.Gadget<how = "well">(f, , x)
    y = If (c) <
      then_branch = t () => (float[N,4] r) { r = Neg(m) },
      else_branch = e () => (float[N,4] s) { s = Abs(m) }>
    z = Relu(o)
  }
  <domain: "local", opset_import: ["" : 17]>
  Twice (a) => (b) { b = Add(a, a) })";

TEST(RoundTrip, KeepsEverything) {
  onnx::ModelProto proto = RawProtoOf(kModel);
  auto* graph = proto.mutable_graph();
  graph->set_doc_string("graph doc");
  graph->mutable_node(0)->set_doc_string("node doc");
  graph->mutable_node(0)->set_domain("ai.onnx");
  graph->mutable_node(1)->set_name("");  // there, but empty
  graph->mutable_input(0)->set_doc_string("input doc");
  graph->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_denotation(
      "DATA_BATCH");
  graph->mutable_input(0)->mutable_type()->set_denotation("TENSOR");
  graph->mutable_output(0)->set_doc_string("output doc");
  graph->mutable_initializer(0)->set_doc_string("weight doc");
  graph->mutable_value_info(0)->set_doc_string("record doc");
  auto* annotation = graph->add_quantization_annotation();
  annotation->set_tensor_name("m");
  auto* entry = annotation->add_quant_parameter_tensor_names();
  entry->set_key("SCALE_TENSOR");
  entry->set_value("w");
  graph->mutable_node(2)->mutable_attribute(0)->set_doc_string("attribute doc");
  auto* typed = graph->mutable_node(2)->add_attribute();
  typed->set_name("kind");
  typed->set_type(onnx::AttributeProto::TYPE_PROTO);
  typed->mutable_tp()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  auto* tensor = graph->mutable_node(2)->add_attribute();
  tensor->set_name("table");
  tensor->set_type(onnx::AttributeProto::TENSOR);
  tensor->mutable_t()->set_data_type(onnx::TensorProto::INT2);  // rlc has no name for it
  tensor->mutable_t()->add_dims(4);
  tensor->mutable_t()->set_raw_data("\x1b");
  tensor->mutable_t()->set_name("named");
  EXPECT_EQ(Difference(proto, RoundTrip(proto)), "");
}

TEST(RoundTrip, KeepsUnknownFields) {
  onnx::ModelProto proto = RawProtoOf(kModel);
  const auto add = [](google::protobuf::Message& message) {
    message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(1000, "from the future");
  };
  auto* graph = proto.mutable_graph();
  add(proto);
  add(*graph);
  add(*graph->mutable_node(0));
  add(*graph->mutable_node(2)->mutable_attribute(0));
  add(*graph->mutable_initializer(0));
  add(*graph->mutable_input(1));
  add(*graph->mutable_input(1)->mutable_type());
  add(*proto.mutable_functions(0));
  EXPECT_EQ(Difference(proto, RoundTrip(proto)), "");
}

TEST(RoundTrip, KeepsSparseInitializers) {
  onnx::ModelProto proto = RawProtoOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x) => (float[2,3] y) { y = Add(x, s) })");
  auto* sparse = proto.mutable_graph()->add_sparse_initializer();
  sparse->add_dims(2);
  sparse->add_dims(3);
  sparse->mutable_values()->set_name("s");
  sparse->mutable_values()->set_data_type(1);
  sparse->mutable_values()->add_dims(1);
  sparse->mutable_values()->add_float_data(5);
  sparse->mutable_indices()->set_data_type(7);
  sparse->mutable_indices()->add_dims(1);
  sparse->mutable_indices()->add_int64_data(4);
  EXPECT_EQ(Difference(proto, RoundTrip(proto)), "");
}

TEST(RoundTrip, TypedDataBecomesTheSameBytes) {
  onnx::ModelProto proto = ProtoOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g () => (int8[3] a, bool[2] b, double[1] c, uint64[1] d, float16[2] e)
      <int8[3] i8 = {-1, 2, 127}, bool[2] i1 = {1, 0}, double[1] f64 = {0.5}, uint64[1] u64 = {9}, string[1] text = {"x"}>
      { a = Identity(i8)  b = Identity(i1)  c = Identity(f64)  d = Identity(u64)  e = Identity(half) })");
  auto* half = proto.mutable_graph()->add_initializer();
  half->set_name("half");
  half->set_data_type(onnx::TensorProto::FLOAT16);
  half->add_dims(2);
  half->add_int32_data(0x3c00);
  half->add_int32_data(0xc000);
  const onnx::ModelProto again = RoundTrip(proto);
  const auto raw = [&](int i) { return again.graph().initializer(i).raw_data(); };
  EXPECT_EQ(raw(0), std::string("\xff\x02\x7f"));
  EXPECT_EQ(raw(1), std::string("\x01\x00", 2));
  EXPECT_EQ(raw(2), std::string("\0\0\0\0\0\0\xe0\x3f", 8));
  EXPECT_EQ(raw(3), std::string("\x09\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(again.graph().initializer(4).string_data(0), "x");
  EXPECT_EQ(raw(5), std::string("\x00\x3c\x00\xc0", 4));
}

TEST(RoundTrip, WrongOutputShapeStaysDeclared) {
  const char* text = R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[N,4] x) => (float[1,4] y) { y = Relu(x) })";
  const Model model = ModelOf(text);
  EXPECT_EQ(ToString(model.graph.type(model.graph.Find("y"))), "float[N,4]");
  EXPECT_EQ(Difference(RawProtoOf(text), RoundTrip(RawProtoOf(text))), "");
}

TEST(RoundTrip, DropsRecordsOfValuesThatDoNotExist) {
  onnx::ModelProto proto = RawProtoOf(kModel);
  proto.mutable_graph()->add_value_info()->set_name("nobody");
  EXPECT_EQ(Difference(RawProtoOf(kModel), RoundTrip(proto)), "");
}

TEST(SerializeModel, IsDeterministic) {
  const std::string once = *SerializeModel(ModelOf(kModel));
  EXPECT_EQ(once, *SerializeModel(ModelOf(kModel)));
  const auto again = ParseModel(once, "m", "");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(once, *SerializeModel(*again));
}

TEST(WriteModel, PutsLargeWeightsOutsideWhenAsked) {
  Model model = ModelOf(kModel);
  const std::vector<float> numbers(1000, 1.5f);
  const ValueId large = model.graph.AddInitializer("large", Tensor::Of({1000}, numbers));
  const auto folder = TempDir::Create("rlc_test");
  ASSERT_TRUE(folder.has_value());
  const std::string path = JoinPath(folder->path(), "m.onnx");
  ASSERT_TRUE(WriteModel(model, path, {.external_data = true}));
  EXPECT_TRUE(FileExists(path + ".data"));
  EXPECT_LT(ReadFile(path)->size(), 4000u);
  const auto again = ReadModel(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->graph.constant(again->graph.Find("large"))->SameAs(*model.graph.constant(large)));
  // Small ones stay inside, and the model inside is the same again.
  EXPECT_EQ(*SerializeModel(*again), *SerializeModel(model));
}

TEST(WriteModel, LeavesNothingBehindWhenItFails) {
  const auto written = WriteModel(ModelOf(kModel), "no/such/folder/m.onnx");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(written.error().message, HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace rlc
