#include "rlc/onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "rlc/base/file.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/test_models.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

// The model with one thing changed, as bytes.
std::string Broken(const char* text, const std::function<void(onnx::ModelProto&)>& change) {
  onnx::ModelProto proto = ProtoOf(text);
  change(proto);
  return proto.SerializeAsString();
}

std::string ErrorOf(const std::string& bytes) {
  const auto model = ParseModel(bytes, "m.onnx", "");
  if (model) return "no error";
  EXPECT_EQ(model.error().kind, ErrorKind::kInvalidInput);
  return model.error().message;
}

constexpr char kConv[] = R"(
  <ir_version: 8, opset_import: ["" : 17]>
  g (float[N,3,8,8] x) => (float[N,4,6,6] y)
  <float[4] b = {1, 2, 3, 4}>
  { y = Conv(x, w, b) })";

// The first initializer is the weight.
void GiveWeight(onnx::ModelProto& proto) {
  auto* weights = proto.mutable_graph()->mutable_initializer();
  auto* weight = weights->Add();
  weight->set_name("w");
  weight->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : {4, 3, 3, 3}) weight->add_dims(dim);
  weight->set_raw_data(std::string(4 * 3 * 3 * 3 * sizeof(float), '\0'));
  weights->SwapElements(0, 1);
}

std::string BrokenConv(const std::function<void(onnx::ModelProto&)>& change) {
  return Broken(kConv, [&](onnx::ModelProto& proto) {
    GiveWeight(proto);
    change(proto);
  });
}

TEST(ParseModel, ReadsNodesWeightsAndTypes) {
  auto model = ParseModel(BrokenConv([](auto&) {}), "m.onnx", "");
  ASSERT_TRUE(model) << model.error().message;
  const Graph& graph = model->graph;
  EXPECT_EQ(graph.opset(), 17);
  EXPECT_EQ(ToString(graph.type(graph.Find("y"))), "float[N,4,6,6]");
  ASSERT_NE(graph.constant(graph.Find("b")), nullptr);
  EXPECT_EQ(graph.constant(graph.Find("b"))->data<float>()[3], 4.0f);  // from typed data
  EXPECT_EQ(graph.node(graph.nodes()[0]).layer, 0);
}

TEST(ParseModel, RefusesWhatIsNoModel) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("m.onnx: the file is empty"));
  EXPECT_THAT(ErrorOf("Dear diary,\n\ntoday I exported a network."), HasSubstr("not an ONNX model"));
  const std::string whole = BrokenConv([](auto&) {});
  EXPECT_THAT(ErrorOf(whole.substr(0, whole.size() / 2)), HasSubstr("not an ONNX model"));
}

TEST(ParseModel, RefusesVersionsThatCannotBe) {
  EXPECT_THAT(ErrorOf(BrokenConv([](auto& m) { m.clear_ir_version(); })), HasSubstr("IR version"));
  EXPECT_THAT(ErrorOf(BrokenConv([](auto& m) { m.set_ir_version(999); })), HasSubstr("999 is newer"));
  EXPECT_THAT(ErrorOf(BrokenConv([](auto& m) { m.clear_opset_import(); })), HasSubstr("imports no operator set"));
  EXPECT_THAT(ErrorOf(BrokenConv([](auto& m) { m.mutable_opset_import(0)->set_version(9999); })),
              HasSubstr("needs version 9999 of operator set ai.onnx"));
}

TEST(ParseModel, RefusesMalformedTensors) {
  const auto weight = [](onnx::ModelProto& m) { return m.mutable_graph()->mutable_initializer(0); };
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { weight(m)->set_raw_data("short"); })),
              HasSubstr("initializer \"w\": has 5 bytes of data, its dimensions need 432"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { weight(m)->set_dims(0, -4); })), HasSubstr("negative dimension (-4)"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) {
                weight(m)->set_dims(0, int64_t{1} << 40);
                weight(m)->set_dims(1, int64_t{1} << 40);
              })),
              HasSubstr("overflows"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { weight(m)->set_dims(0, int64_t{1} << 58); })), HasSubstr("432 bytes"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) {
                weight(m)->clear_raw_data();
                weight(m)->add_float_data(1);
              })),
              HasSubstr("has 4 bytes of data"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { weight(m)->set_data_type(99); })),
              HasSubstr("element type number 99, which ONNX does not have"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { weight(m)->add_int64_data(1); })), HasSubstr("more than one field"));
}

TEST(ParseModel, RefusesBadNames) {
  const auto node = [](onnx::ModelProto& m) { return m.mutable_graph()->mutable_node(0); };
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { node(m)->set_input(0, "ghost"); })),
              HasSubstr("the Conv node that writes \"y\": reads \"ghost\", which nothing defines"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { node(m)->set_input(0, "y"); })), HasSubstr("a cycle"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { *m.mutable_graph()->add_node() = *node(m); })),
              HasSubstr("already defined elsewhere"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) {
                auto* graph = m.mutable_graph();
                *graph->add_initializer() = graph->initializer(1);
              })),
              HasSubstr("already taken"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { m.mutable_graph()->clear_node(); })), HasSubstr("output \"y\""));
}

TEST(ParseModel, RefusesBadOperators) {
  const auto node = [](onnx::ModelProto& m) { return m.mutable_graph()->mutable_node(0); };
  const auto add_int = [](onnx::NodeProto* n, const char* name, int64_t value) {
    auto* attribute = n->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  };
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { node(m)->set_op_type("Konv"); })), HasSubstr("Konv does not exist"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { add_int(node(m), "group", 0); })), HasSubstr("group is 0"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) { add_int(node(m), "strides", 1); })), HasSubstr("strides"));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) {
                node(m)->mutable_input()->RemoveLast();
                node(m)->mutable_input()->RemoveLast();
              })),
              HasSubstr("the Conv node that writes \"y\""));
  EXPECT_THAT(ErrorOf(BrokenConv([&](auto& m) {
                add_int(node(m), "group", 1);
                node(m)->mutable_attribute(0)->set_f(1.0f);
              })),
              HasSubstr("more than one value"));
}

TEST(ParseModel, RefusesOperatorSetsThatAreNotImported) {
  const auto with_domain = [](const char* domain) {
    return BrokenConv([&](auto& m) {
      m.mutable_graph()->mutable_node(0)->set_domain(domain);
      m.mutable_graph()->mutable_node(0)->set_op_type("Mystery");
    });
  };
  EXPECT_THAT(ErrorOf(with_domain("org.example")), HasSubstr("imports no operator set org.example"));
  EXPECT_TRUE(ParseModel(with_domain("com.microsoft"), "m.onnx", "")) << "the runtime reads such files";
}

TEST(ParseModel, RefusesRankMismatchBeforeItCrashesTheLibrary) {
  EXPECT_THAT(ErrorOf(BrokenConv([](auto& m) { m.mutable_graph()->mutable_initializer(0)->add_dims(1); })),
              HasSubstr("input 1 has 5 dimensions, Conv needs 4"));
}

TEST(ParseModel, SortsNodes) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x) => (float[2] y) { a = Relu(x)  y = Neg(a) })");
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(*SerializeModel(model)));
  proto.mutable_graph()->mutable_node()->SwapElements(0, 1);
  const auto sorted = ParseModel(proto.SerializeAsString(), "m", "");
  ASSERT_TRUE(sorted) << sorted.error().message;
  EXPECT_EQ(sorted->graph.node(sorted->graph.nodes()[0]).op, "Relu");
}

TEST(ParseModel, ConstantNodesHaveTensors) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g () => (int64[2] a, float b, float[1] c) {
        a = Constant<value_ints = [3, 4]>()
        b = Constant<value_float = 2.5>()
        c = Constant<value = float[1] {7}>()
      })");
  const Graph& graph = model.graph;
  EXPECT_EQ(graph.constant(graph.Find("a"))->data<int64_t>()[1], 4);
  EXPECT_EQ(graph.constant(graph.Find("b"))->data<float>()[0], 2.5f);
  EXPECT_EQ(graph.constant(graph.Find("c"))->data<float>()[0], 7.0f);
  EXPECT_EQ(graph.nodes().size(), 3u);
}

TEST(ParseModel, OldModelsListConstantsAsInputs) {
  const auto read = [](int ir_version) {
    onnx::ModelProto proto = ProtoOf(R"(
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x, float[2] w, float[2] z) => (float[2] y) <float[2] w = {1, 2}> { s = Mul(x, w)  y = Add(s, z) })");
    proto.set_ir_version(ir_version);
    return *ParseModel(proto.SerializeAsString(), "m", "");
  };
  const Model old = read(3);
  EXPECT_EQ(old.graph.inputs().size(), 2u);
  EXPECT_NE(old.graph.constant(old.graph.Find("w")), nullptr);
  onnx::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(*SerializeModel(old)));
  ASSERT_EQ(written.graph().input_size(), 3);
  EXPECT_EQ(written.graph().input(1).name(), "w");  // in its old place

  const Model newer = read(8);
  EXPECT_EQ(newer.graph.inputs().size(), 3u);
  EXPECT_EQ(newer.graph.constant(newer.graph.Find("w")), nullptr);  // callers may override it
  EXPECT_EQ(newer.graph.value(newer.graph.Find("w")).kind, Value::Kind::kOverridable);
}

TEST(ParseModel, BodiesThatHideOuterNamesAreRenamed) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x, bool c) => (float[2] y) {
        h = Relu(x)
        y = If (c) <
          then_branch = t () => (float[2] r) { r = Neg(h) },
          else_branch = e () => (float[2] r) { h = Abs(x)  r = Neg(h) }>
      })");
  const Graph& graph = model.graph;
  const Node& branch = graph.node(graph.nodes()[1]);
  const auto body = [&](const char* name) { return std::get<Body>(branch.FindAttribute(name)->value); };
  EXPECT_NE(body("then_branch")->Find("h"), ValueId::kNone);  // the outer one
  EXPECT_EQ(body("then_branch")->value(body("then_branch")->Find("h")).kind, Value::Kind::kCaptured);
  EXPECT_EQ(body("else_branch")->Find("h"), ValueId::kNone);  // its own, under a new name
  EXPECT_EQ(branch.captures.size(), 2u);                      // h and x
  EXPECT_EQ(graph.value(graph.Find("h")).uses.size(), 1u);
}

TEST(ParseModel, RefusesRecursiveFunctions) {
  onnx::ModelProto proto = ProtoOf(R"(
      <ir_version: 8, opset_import: ["" : 17, "local" : 1]>
      g (float[2] x) => (float[2] y) { y = local.F(x) }
      <domain: "local", opset_import: ["" : 17, "local" : 1]>
      F (a) => (b) { b = local.G(a) }
      <domain: "local", opset_import: ["" : 17, "local" : 1]>
      G (a) => (b) { b = Neg(a) })");
  EXPECT_EQ(ErrorOf(proto.SerializeAsString()), "no error");
  proto.mutable_functions(1)->mutable_node(0)->set_op_type("F");
  proto.mutable_functions(1)->mutable_node(0)->set_domain("local");
  EXPECT_THAT(ErrorOf(proto.SerializeAsString()), HasSubstr("calls itself"));
}

TEST(ReadModel, NamesTheFile) {
  EXPECT_THAT(ReadModel("no/such/model.onnx").error().message, HasSubstr("no/such/model.onnx"));
  EXPECT_FALSE(ReadModel(".").has_value());
}

class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::move(*TempDir::Create("rlc_test"));
    ASSERT_TRUE(MakeFolders(JoinPath(folder_->path(), "model")));
    ASSERT_TRUE(WriteFileAtomically(Path("weights.bin"), std::string(500, '\1')));
    ASSERT_TRUE(WriteFileAtomically(JoinPath(folder_->path(), "outside.bin"), std::string(500, '\1')));
  }
  std::string Path(const char* name) const { return JoinPath(JoinPath(folder_->path(), "model"), name); }
  Expected<Model> ReadWith(const std::string& location, const std::string& offset) const {
    const std::string bytes = BrokenConv([&](onnx::ModelProto& proto) {
      auto* weight = proto.mutable_graph()->mutable_initializer(0);
      weight->clear_raw_data();
      weight->set_data_location(onnx::TensorProto::EXTERNAL);
      auto* entry = weight->add_external_data();
      entry->set_key("location");
      entry->set_value(location);
      entry = weight->add_external_data();
      entry->set_key("offset");
      entry->set_value(offset);
    });
    EXPECT_TRUE(WriteFileAtomically(Path("m.onnx"), bytes));
    return ReadModel(Path("m.onnx"));
  }
  std::optional<TempDir> folder_;
};

TEST_F(ExternalDataTest, IsMappedAlsoAtOddOffsets) {
  for (const char* offset : {"0", "64", "3"}) {
    const auto model = ReadWith("weights.bin", offset);
    ASSERT_TRUE(model) << model.error().message;
    const Tensor* weight = model->graph.constant(model->graph.Find("w"));
    EXPECT_EQ(weight->bytes().size(), 432u);
    EXPECT_EQ(weight->bytes()[431], std::byte{1});
  }
}

TEST_F(ExternalDataTest, StaysInsideTheFolder) {
  EXPECT_THAT(ReadWith("../outside.bin", "0").error().message, HasSubstr("outside the model's folder"));
  EXPECT_THAT(ReadWith(JoinPath(folder_->path(), "outside.bin"), "0").error().message, HasSubstr("outside"));
  std::error_code error;
  std::filesystem::create_symlink(JoinPath(folder_->path(), "outside.bin"), Path("link.bin"), error);
  ASSERT_FALSE(error);
  EXPECT_THAT(ReadWith("link.bin", "0").error().message, HasSubstr("outside the model's folder"));
}

TEST_F(ExternalDataTest, IsBounded) {
  EXPECT_THAT(ReadWith("weights.bin", "400").error().message, HasSubstr("reaches to byte 832"));
  EXPECT_THAT(ReadWith("weights.bin", "18446744073709551615").error().message, HasSubstr("not a number of bytes"));
  EXPECT_THAT(ReadWith("weights.bin", "twelve").error().message, HasSubstr("twelve"));
  EXPECT_THAT(ReadWith("absent.bin", "0").error().message, HasSubstr("missing"));
}

}  // namespace
}  // namespace rlc
