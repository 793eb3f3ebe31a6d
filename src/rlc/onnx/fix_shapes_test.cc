#include "rlc/onnx/fix_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rlc/ir/text.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

Model Parse(const std::string& text) {
  auto model = ParseModelText(text);
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

std::string TypeOf(const Model& model, const std::string& name) {
  return ToString(model.graph.type(model.graph.Find(name)));
}

TEST(FixShapes, ReachTheWholeInterface) {
  Model model = Parse(
      "graph g (float[N,3,H,8] x, float[N,1] p) => (float[N,3,H2,8] y, float[N,?] q) {\n"
      "  y = MaxPool<kernel_shape=[2,1], strides=[2,1]>(x)\n"
      "  q = Concat<axis=1>(p, p)\n"
      "}");
  ASSERT_TRUE(FixShapes(model, {{"x", {2, 3, 6, 8}}}));
  EXPECT_EQ(TypeOf(model, "x"), "float[2,3,6,8]");
  EXPECT_EQ(TypeOf(model, "p"), "float[2,1]");
  EXPECT_EQ(TypeOf(model, "y"), "float[2,3,3,8]");
  EXPECT_EQ(TypeOf(model, "q"), "float[2,2]");
}

TEST(FixShapes, RefuseWhatDoesNotFit) {
  const Model original = Parse("graph g (float[N,3] x, float[N] p, float[*] r) => (y) { y = Relu(x) }");
  const auto message = [&](const std::map<std::string, std::vector<int64_t>>& shapes) {
    Model model = original;
    const auto fixed = FixShapes(model, shapes);
    EXPECT_EQ(PrintModel(model), PrintModel(original));
    return fixed ? "" : fixed.error().message;
  };
  EXPECT_EQ(message({{"nowhere", {1}}}), "the model has no input 'nowhere' whose shape could be fixed");
  EXPECT_EQ(message({{"y", {1, 3}}}), "the model has no input 'y' whose shape could be fixed");
  EXPECT_THAT(message({{"x", {1, 4}}}), HasSubstr("cannot have the shape [1,4]"));
  EXPECT_THAT(message({{"x", {1, 3, 1}}}), HasSubstr("cannot have the shape [1,3,1]"));
  EXPECT_EQ(message({{"p", {2}}, {"x", {1, 3}}}), "input 'x': dimension 'N' would be 2 and 1");
}

}  // namespace
}  // namespace rlc
