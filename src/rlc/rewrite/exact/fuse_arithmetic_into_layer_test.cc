#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FuseArithmeticIntoLayer, FoldsAChainOfAllFour) {
  Graph graph = Parse(R"(
      graph (float[1,1,1,1] x) => (y) {
        a = Conv(x, %w float[2,1,1,1] = {1,2})
        b = Mul(a, %m float[2,1,1] = {2,3})
        c = Add(%t float[1,2,1,1] = {5,7}, b)
        d = Div(c, %kd float[] = {2})
        y = Sub(d, %u float[1,1,1,1] = {1})
      })");
  EXPECT_THAT(ApplyRule("fuse-arithmetic-into-layer", graph), ElementsAre("b", "c", "d", "y"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  const Node& conv = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(conv.inputs[1]), SameTensor(Tensor::Of<float>({2, 1, 1, 1}, {1, 3})));
  EXPECT_THAT(*graph.constant(conv.inputs[2]), SameTensor(Tensor::Of<float>({2}, {1.5, 2.5})));
}

TEST(FuseArithmeticIntoLayer, NegatesWhenTheResultIsSubtracted) {
  Graph graph = Parse(R"(
      graph (float[1,1,1,1] x) => (y) {
        a = Conv(x, %w float[1,1,1,1] = {2}, %b float[1] = {3})
        y = Sub(%c float[] = {10}, a)
      })");
  EXPECT_THAT(ApplyRule("fuse-arithmetic-into-layer", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  const Node& conv = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(conv.inputs[1]), SameTensor(Tensor::Of<float>({1, 1, 1, 1}, {-2})));
  EXPECT_THAT(*graph.constant(conv.inputs[2]), SameTensor(Tensor::Of<float>({1}, {7})));
}

TEST(FuseArithmeticIntoLayer, KeepsGemmsBetaAwayFromTheNewSummand) {
  Graph graph = Parse(R"(
      graph (float[1,1] x) => (y) {
        float[1,2] a = Gemm<beta=2.0>(x, %w float[1,2], %b float[2] = {1,2})
        y = Add(a, %c float[2] = {10,20})
      })");
  EXPECT_THAT(ApplyRule("fuse-arithmetic-into-layer", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Gemm"}));
  const Node& gemm = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(gemm.inputs[2]), SameTensor(Tensor::Of<float>({2}, {12, 24})));
  EXPECT_EQ(gemm.FindAttribute("beta"), nullptr);
}

TEST(FuseArithmeticIntoLayer, RefusesAConstantOnTheLastAxis) {
  const Graph graph = Parse(R"(
      graph (float[1,3,6,6] x) => (y) { a = Conv(x, %w float[4,3,3,3])  y = Mul(a, %c float[4]) })");
  EXPECT_THAT(RefusalsOf("fuse-arithmetic-into-layer", graph), ElementsAre(HasSubstr("not one number for each")));
}

TEST(FuseArithmeticIntoLayer, RefusesToWidenOneChannel) {
  const Graph graph = Parse(R"(
      graph (float[1,3,6,6] x) => (y) { a = Conv(x, %w float[1,3,3,3])  y = Mul(a, %c float[4,1,1]) })");
  EXPECT_THAT(RefusalsOf("fuse-arithmetic-into-layer", graph), ElementsAre(HasSubstr("not one number for each")));
}

TEST(FuseArithmeticIntoLayer, RefusesAConstantDividedByTheResult) {
  const Graph graph = Parse(R"(
      graph (float[1,3,6,6] x) => (y) { a = Conv(x, %w float[4,3,3,3])  y = Div(%c float[4,1,1], a) })");
  EXPECT_THAT(RefusalsOf("fuse-arithmetic-into-layer", graph), ElementsAre(HasSubstr("no scale")));
}

TEST(FuseArithmeticIntoLayer, RefusesADivisionByZero) {
  const Graph graph = Parse(R"(
      graph (float[1,3,6,6] x) => (y) { a = Conv(x, %w float[4,3,3,3])  y = Div(a, %c float[] = {0}) })");
  EXPECT_THAT(RefusalsOf("fuse-arithmetic-into-layer", graph), ElementsAre(HasSubstr("finite")));
}

TEST(FuseArithmeticIntoLayer, RefusesGraphOutputs) {
  const Graph graph = Parse(R"(
      graph (float[1,3,6,6] x) => (a, y) { a = Conv(x, %w float[4,3,3,3])  y = Mul(a, %c float[4,1,1]) })");
  EXPECT_THAT(RefusalsOf("fuse-arithmetic-into-layer", graph), ElementsAre(HasSubstr("another reader")));
}

TEST(FuseArithmeticIntoLayer, RefusesASummandOfARankThreeProduct) {
  const Graph graph = Parse(R"(
      graph (float[2,3,4] x) => (y) { float[2,3,5] a = MatMul(x, %w float[4,5])  y = Add(a, %c float[5]) })");
  EXPECT_THAT(RefusalsOf("fuse-arithmetic-into-layer", graph), ElementsAre(HasSubstr("matrices only")));
}

TEST(FuseArithmeticIntoLayer, RefusesHalfWeightsThatWouldSink) {
  const Graph graph = Parse(R"(
      graph (float16[1,1,1,1] x) => (y) { a = Conv(x, %w float16[1,1,1,1] = {0.5})  y = Mul(a, %c float16[1] = {0.0001}) })");
  EXPECT_THAT(RefusalsOf("fuse-arithmetic-into-layer", graph), ElementsAre(HasSubstr("precision")));
}

}  // namespace
}  // namespace rlc
