#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FuseBnIntoLayer, FoldsScaleAndShiftIntoConv) {
  Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        c = Conv(x, %w float[2,2,1,1] = {1,2,3,4}, %b float[2] = {10,20})
        y = BatchNormalization<epsilon=0.0>(c, %scale float[2] = {2,6}, %bias float[2] = {1,-1}, %mean float[2] = {3,4}, %var float[2] = {4,9})
      })");
  EXPECT_THAT(ApplyRule("fuse-bn-into-layer", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  const Node& conv = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(conv.inputs[1]), SameTensor(Tensor::Of<float>({2, 2, 1, 1}, {1, 2, 6, 8})));
  EXPECT_THAT(*graph.constant(conv.inputs[2]), SameTensor(Tensor::Of<float>({2}, {8, 31})));
}

TEST(FuseBnIntoLayer, CopiesASharedWeight) {
  Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y, z) {
        c = Conv(x, %w float[2,2,1,1], %b float[2])
        y = BatchNormalization(c, %scale float[2], %bias float[2], %mean float[2], %var float[2])
        z = Conv(x, %w, %b)
      })");
  EXPECT_THAT(ApplyRule("fuse-bn-into-layer", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Conv", "Conv"}));
  const NodeId other = NodeOf(graph, "z");
  EXPECT_EQ(graph.value(graph.node(other).inputs[1]).name, "w");
  EXPECT_EQ(graph.value(graph.node(other).inputs[2]).name, "b");
}

TEST(FuseBnIntoLayer, ScalesAxisOneOfAGroupedConvTranspose) {
  Graph graph = Parse(R"(
      graph (float[1,2,1,1] x) => (y) {
        c = ConvTranspose<group=2>(x, %w float[2,1,1,1] = {1,1})
        y = BatchNormalization<epsilon=0.0>(c, %scale float[2] = {2,3}, %bias float[2] = {0,0}, %mean float[2] = {0,0}, %var float[2] = {1,1})
      })");
  EXPECT_THAT(ApplyRule("fuse-bn-into-layer", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"ConvTranspose"}));
  const Node& layer = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(layer.inputs[1]), SameTensor(Tensor::Of<float>({2, 1, 1, 1}, {2, 3})));
}

TEST(FuseBnIntoLayer, TurnsAMatMulIntoAGemm) {
  Graph graph = Parse(R"(
      graph (float[3,4] x) => (y) {
        float[3,5] c = MatMul(x, %w float[4,5])
        y = BatchNormalization(c, %scale float[5], %bias float[5], %mean float[5], %var float[5])
      })");
  EXPECT_THAT(ApplyRule("fuse-bn-into-layer", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Gemm"}));
}

TEST(FuseBnIntoLayer, KeepsTheLayerNumberAndTheNameOfTheLayer) {
  Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        c = Conv(x, %w float[2,2,1,1]) @"stem" layer 7
        y = BatchNormalization(c, %scale float[2], %bias float[2], %mean float[2], %var float[2]) @"norm"
      })");
  EXPECT_THAT(ApplyRule("fuse-bn-into-layer", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  EXPECT_EQ(graph.node(graph.nodes()[0]).layer, 7);
  EXPECT_EQ(graph.node(graph.nodes()[0]).name, "stem");
}

TEST(FuseBnIntoLayer, RefusesASecondReader) {
  const Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y, z) {
        c = Conv(x, %w float[2,2,1,1])
        y = BatchNormalization(c, %scale float[2], %bias float[2], %mean float[2], %var float[2])
        z = Relu(c)
      })");
  EXPECT_THAT(RefusalsOf("fuse-bn-into-layer", graph), ElementsAre(HasSubstr("another reader")));
}

TEST(FuseBnIntoLayer, RefusesAReaderInABody) {
  const Graph graph = Parse(R"(
      graph (float[1,2,4,4] x, bool[] cond) => (y, z) {
        c = Conv(x, %w float[2,2,1,1])
        y = BatchNormalization(c, %scale float[2], %bias float[2], %mean float[2], %var float[2])
        z = If<then_branch=graph () => (t) { t = Relu(c) }, else_branch=graph () => (e) { e = Neg(x) }>(cond)
      })");
  EXPECT_THAT(RefusalsOf("fuse-bn-into-layer", graph), ElementsAre(HasSubstr("another reader")));
}

TEST(FuseBnIntoLayer, RefusesTrainingMode) {
  const Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        c = Conv(x, %w float[2,2,1,1])
        y = BatchNormalization<training_mode=1>(c, %scale float[2], %bias float[2], %mean float[2], %var float[2])
      })");
  EXPECT_THAT(RefusalsOf("fuse-bn-into-layer", graph), ElementsAre(HasSubstr("training mode")));
}

TEST(FuseBnIntoLayer, RefusesAnOverridableBias) {
  const Graph graph = Parse(R"(
      graph (float[1,2,4,4] x, float[2] b = {0, 0}) => (y) {
        c = Conv(x, %w float[2,2,1,1], b)
        y = BatchNormalization(c, %scale float[2], %bias float[2], %mean float[2], %var float[2])
      })");
  EXPECT_THAT(RefusalsOf("fuse-bn-into-layer", graph), ElementsAre(HasSubstr("bias is not constant")));
}

TEST(FuseBnIntoLayer, RefusesFoldedValuesThatAreNotFinite) {
  const Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        c = Conv(x, %w float[2,2,1,1])
        y = BatchNormalization<epsilon=0.0>(c, %scale float[2], %bias float[2], %mean float[2], %var float[2] = {1, 0})
      })");
  EXPECT_THAT(RefusalsOf("fuse-bn-into-layer", graph), ElementsAre(HasSubstr("not be finite")));
}

TEST(FuseBnIntoLayer, LeavesTheChannelsOfARankThreeProduct) {
  const Graph graph = Parse(R"(
      graph (float[2,4,3] x) => (y) {
        float[2,4,4] c = MatMul(x, %w float[3,4])
        y = BatchNormalization(c, %scale float[4], %bias float[4], %mean float[4], %var float[4])
      })");
  EXPECT_THAT(RefusalsOf("fuse-bn-into-layer", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
