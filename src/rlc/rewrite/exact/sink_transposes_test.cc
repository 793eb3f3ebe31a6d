#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "sink-transposes";

TEST(SinkTransposes, MovesConstantsAlong) {
  Graph graph = Parse(R"(
      graph (float[1,2,3,4] x) => (y) {
        float[1,3,4,2] a = Transpose<perm=[0,2,3,1]>(x)  float[1,3,4,2] b = Add(%c float[2] = {1,2}, a)
        float[1,3,4,2] d = Relu(b)  float[1,3,4,2] e = Mul(d, %s float[1] = {3})  y = Transpose<perm=[0,3,1,2]>(e) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Add", "Relu", "Mul", "Transpose"}));
  const Node& sum = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(sum.inputs[0]), SameTensor(Tensor::Of<float>({1, 2, 1, 1}, {1, 2})));
  EXPECT_THAT(*graph.node(NodeOf(graph, "y")).GetInts("perm"), ElementsAre(0, 1, 2, 3));
}

TEST(SinkTransposes, ComposesPermutationsOfTwoOperands) {
  Graph graph = Parse(R"(
      graph (float[2,3,4] x, float[2,3,1] z) => (y) {
        float[3,4,2] a = Transpose<perm=[1,2,0]>(x)  float[3,1,2] b = Transpose<perm=[1,2,0]>(z)
        float[3,4,2] c = Sub(a, b)  y = Transpose<perm=[1,0,2]>(c) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Sub", "Transpose"}));
  EXPECT_THAT(*graph.node(NodeOf(graph, "y")).GetInts("perm"), ElementsAre(2, 1, 0));
}

TEST(SinkTransposes, LeavesWhatOthersReadOrWhatIsNotElementWise) {
  for (
      const std::string_view text : {
          R"(graph (float[2,3] x) => (b, y) { float[3,2] a = Transpose(x)  b = Relu(a)  y = Transpose(b) })",
          R"(graph (float[2,3] x) => (a, y) { float[3,2] a = Transpose(x)  b = Relu(a)  y = Transpose(b) })",
          R"(graph (float[2,3] x) => (y) { float[3,2] a = Transpose(x)  b = Softmax(a)  y = Transpose(b) })",
          R"(graph (float[2,3] x, float[3,2] z) => (y) { float[3,2] a = Transpose(x)  b = Add(a, z)  y = Transpose(b) })",
          R"(graph (float[2,3] x) => (y) { float[3,2] a = Transpose(x)  b = Mul(a, %c float[3,2])  y = Transpose(b) })",
          R"(graph (float[2,3] x) => (y) { float[3,2] a = Transpose(x)  float[1,3,2] b = Mul(a, %c float[1,1,2])
                y = Transpose<perm=[0,2,1]>(b) })",
          R"(graph (float[2,3,3] x, float[2,3,3] z) => (y) {
                a = Transpose<perm=[0,2,1]>(x)  b = Transpose<perm=[2,1,0]>(z)  c = Add(a, b)  y = Transpose<perm=[0,2,1]>(c) })",
      }) {
    Graph graph = Parse(text);
    EXPECT_THAT(ApplyRule(kRule, graph), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace rlc
