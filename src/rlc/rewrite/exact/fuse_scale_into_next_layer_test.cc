#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "fuse-scale-into-next-layer";

TEST(FuseScaleIntoNextLayer, FoldsBatchNormBeforeAConvWithoutPadding) {
  Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        a = BatchNormalization<epsilon=0.0>(x, %s float[2] = {2,3}, %b float[2] = {1,1}, %m float[2] = {0,1}, %v float[2] = {1,1})
        y = Conv(a, %w float[1,2,1,1] = {1,10}, %c float[1] = {5})
      })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  const Node& conv = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(conv.inputs[1]), SameTensor(Tensor::Of<float>({1, 2, 1, 1}, {2, 30})));
  EXPECT_THAT(*graph.constant(conv.inputs[2]), SameTensor(Tensor::Of<float>({1}, {-14})));
}

TEST(FuseScaleIntoNextLayer, MovesAScaleThroughPadding) {
  Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        a = Mul(%s float[2,1,1] = {2,3}, x)
        y = Conv<pads=[1,1,1,1]>(a, %w float[1,2,1,1] = {1,10})
      })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1]),
              SameTensor(Tensor::Of<float>({1, 2, 1, 1}, {2, 30})));
}

TEST(FuseScaleIntoNextLayer, KnowsTheInputChannelsOfGroups) {
  Graph graph = Parse(R"(
      graph (float[1,4,4,4] x) => (y) {
        a = Div(x, %s float[1,4,1,1] = {1,0.5,0.25,0.125})
        y = Conv<group=2>(a, %w float[2,2,1,1] = {1,1,1,1})
      })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1]),
              SameTensor(Tensor::Of<float>({2, 2, 1, 1}, {1, 2, 4, 8})));
}

TEST(FuseScaleIntoNextLayer, SharesTheScaleBetweenAllReaders) {
  Graph graph = Parse(R"(
      graph (float[1,1,4,4] x) => (y, z) {
        a = Sub(%c float[] = {1}, x)
        y = Conv(a, %w float[1,1,1,1] = {2})
        z = Conv(a, %w)
      })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Conv", "Conv"}));
  for (const NodeId id : graph.nodes()) {
    EXPECT_THAT(*graph.constant(graph.node(id).inputs[1]), SameTensor(Tensor::Of<float>({1, 1, 1, 1}, {-2})));
    EXPECT_THAT(*graph.constant(graph.node(id).inputs[2]), SameTensor(Tensor::Of<float>({1}, {2})));
  }
}

TEST(FuseScaleIntoNextLayer, SwapsProductAndSumBeforePadding) {
  Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        a = Mul(x, %s float[2,1,1] = {2,4})
        b = Sub(%t float[] = {8}, a)
        y = Conv<pads=[1,1,1,1]>(b, %w float[1,2,1,1] = {1,10})
      })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Add", "Conv"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1]),
              SameTensor(Tensor::Of<float>({2, 1, 1}, {-4, -2})));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[1]).inputs[1]),
              SameTensor(Tensor::Of<float>({1, 2, 1, 1}, {-2, -40})));
}

TEST(FuseScaleIntoNextLayer, FoldsBatchNormIntoGemm) {
  Graph graph = Parse(R"(
      graph (float[1,2] x) => (y) {
        float[1,2] a = BatchNormalization<epsilon=0.0>(x, %s float[2] = {2,3}, %b float[2] = {1,1}, %m float[2] = {0,0}, %v float[2] = {1,1})
        y = Gemm<alpha=2.0, beta=3.0, transB=1>(a, %w float[1,2] = {1,10}, %c float[1] = {1})
      })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  const Node& gemm = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(gemm.inputs[1]), SameTensor(Tensor::Of<float>({1, 2}, {2, 30})));
  EXPECT_THAT(*graph.constant(gemm.inputs[2]), SameTensor(Tensor::Of<float>({1}, {25})));
}

TEST(FuseScaleIntoNextLayer, RefusesAShiftBeforePadding) {
  const Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) { a = Add(x, %t float[2,1,1])  y = Conv<pads=[0,0,1,1]>(a, %w float[1,2,2,2]) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("pads with zeros")));
}

TEST(FuseScaleIntoNextLayer, RefusesAShiftBeforeAConvTranspose) {
  const Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) { a = Add(x, %t float[2,1,1])  y = ConvTranspose(a, %w float[2,1,2,2]) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("pads with zeros")));
}

TEST(FuseScaleIntoNextLayer, RefusesConstantsThatWidenOrVaryAlongOtherAxes) {
  for (const std::string_view text : {
           R"(graph (float[1,1,4,4] x) => (y) { a = Mul(x, %s float[2,1,1])  y = Conv(a, %w float[1,2,1,1]) })",
           R"(graph (x) => (y) { a = Mul(x, %s float[2,1,1])  y = Conv(a, %w float[1,2,1,1]) })",
           R"(graph (float[1,2,4,4] x) => (y) { a = Mul(x, %s float[4])  y = Conv(a, %w float[1,2,1,1]) })",
           R"(graph (x) => (y) { a = Mul(x, %s float[1,1,1,1])  y = Conv(a, %w float[1,2,1,1]) })",
       }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), ElementsAre(HasSubstr("not one number"))) << text;
  }
}

TEST(FuseScaleIntoNextLayer, LeavesWhatOthersRead) {
  for (
      const std::string_view text : {
          R"(graph (float[1,2,4,4] x) => (a, y) { a = Mul(x, %s float[])  y = Conv(a, %w float[1,2,1,1]) })",
          R"(graph (float[1,2,4,4] x) => (z, y) { a = Mul(x, %s float[])  z = Exp(a)  y = Conv(a, %w float[1,2,1,1]) })",
          R"(graph (float[1,2,4,4] x, float[1,2,1,1] w) => (y) { a = Mul(x, %s float[])  y = Conv(a, w) })",
          R"(graph (float[1,2,4,4] x) => (y) { a = Div(%s float[], x)  y = Conv(a, %w float[1,2,1,1]) })",
      }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), IsEmpty()) << text;
  }
}

TEST(FuseScaleIntoNextLayer, RefusesTheEndOfAGelu) {
  const Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        d = Div(x, %r float[] = {1.414})  e = Erf(d)  f = Add(e, %i float[] = {1})  g = Mul(x, f)
        h = Mul(g, %p float[] = {0.5})  y = Conv(h, %w float[1,2,1,1])
      })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("activation")));
}

TEST(FuseScaleIntoNextLayer, RefusesTrainingModeAndTinyHalves) {
  const Graph training = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        a = BatchNormalization<training_mode=1>(x, %s float[2], %b float[2], %m float[2], %v float[2])
        y = Conv(a, %w float[1,2,1,1])
      })");
  EXPECT_THAT(RefusalsOf(kRule, training), ElementsAre(HasSubstr("training")));
  const Graph half = Parse(R"(
      graph (float16[1,1,1,1] x) => (y) { a = Mul(x, %s float16[] = {0.0001})  y = Conv(a, %w float16[1,1,1,1] = {0.5}) })");
  EXPECT_THAT(RefusalsOf(kRule, half), ElementsAre(HasSubstr("precision")));
}

}  // namespace
}  // namespace rlc
