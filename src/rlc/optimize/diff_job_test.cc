#include "rlc/optimize/diff_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

Model Parse(const std::string& text) {
  auto model = ParseModelText(text);
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

TEST(Diff, FindsNothingBetweenEqualModels) {
  const Model model = Parse("graph g (float[2] x) => (y) { h = Relu(x) y = Add(h, %b float[2] = {1, 2}) @\"add\" }");
  const DiffResult result = Diff(model, model);
  EXPECT_TRUE(result.same());
  EXPECT_EQ(ToText(result), "no difference\n");
}

TEST(Diff, NamesWhatChanged) {
  const Model before = Parse("graph g (float[N] x) => (y) { h = Relu(x) z = Neg(h) y = Add(z, %b float[2] = {1, 2}) }");
  const Model after = Parse("<opset 18> graph g (float[2] x) => (y) { z = Abs(x) y = Add(z, %b float[2] = {1, 3}) }");
  const DiffResult result = Diff(before, after);
  EXPECT_FALSE(result.same());
  EXPECT_THAT(result.model, ElementsAre(Field(&Difference::name, "opset")));
  EXPECT_THAT(result.interface, ElementsAre(Field(&Difference::name, "input 0")));
  // y shows its small constant, so it differs, too.
  EXPECT_THAT(result.nodes,
              ElementsAre(Field(&Difference::name, "h"), Field(&Difference::name, "z"), Field(&Difference::name, "y")));
  EXPECT_EQ(result.nodes[0].after, "");
  EXPECT_THAT(result.nodes[1].before, HasSubstr("Neg"));
  EXPECT_THAT(result.nodes[1].after, HasSubstr("Abs"));
  EXPECT_THAT(result.constants, ElementsAre(Field(&Difference::name, "b")));
  EXPECT_THAT(ToText(result), HasSubstr("- z = Neg(h)\n+ z = Abs(x)\n"));
}

// As from a file, whose header lists the operator sets.
Model Reread(const Model& model) {
  auto back = ParseModel(SerializeModel(model).value(), "model.onnx", "");
  EXPECT_TRUE(back) << back.error().message;
  return *std::move(back);
}

TEST(Diff, NamesOperatorSetsAndNotTheHeaderThatListsThem) {
  const Model before = Reread(Parse("<opset 17> graph g (float[2] x) => (float[2] y) { y = Relu(x) }"));
  const Model after = Reread(Parse("<opset 18> graph g (float[2] x) => (float[2] y) { y = Relu(x) }"));
  EXPECT_THAT(Diff(before, after).model, ElementsAre(Field(&Difference::name, "opset")));
  Model foreign = before;
  foreign.graph.SetOpset("org.example", 3);
  EXPECT_THAT(Diff(before, Reread(foreign)).model, ElementsAre(Field(&Difference::name, "opset of org.example")));
}

TEST(Diff, NamesTheHeader) {
  const Model before = Reread(Parse("graph g (float[2] x) => (float[2] y) { y = Relu(x) }"));
  Model after = before;
  after.extra += "\x12\x03me!";  // ModelProto.producer_name
  EXPECT_THAT(Diff(before, Reread(after)).model, ElementsAre(Field(&Difference::name, HasSubstr("header"))));
}

TEST(Diff, LooksIntoBodies) {
  const char* text =
      "graph g (bool[1] c, float[2] x) => (y) { y = If<then_branch=graph () => (t) { t = OP(x) }, "
      "else_branch=graph () => (e) { e = Neg(x) }>(c) }";
  const auto with = [&](const std::string& op) {
    std::string model = text;
    return Parse(model.replace(model.find("OP"), 2, op));
  };
  EXPECT_TRUE(Diff(with("Relu"), with("Relu")).same());
  EXPECT_THAT(Diff(with("Relu"), with("Abs")).nodes, ElementsAre(Field(&Difference::name, "y")));
}

}  // namespace
}  // namespace rlc
