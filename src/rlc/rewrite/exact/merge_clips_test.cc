#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MergeClips, RaisesTheLowerBoundToZero) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { float[2] a = Relu(x)  y = Clip(a, %l float[] = {-1}, %h float[] = {0.5}) })");
  EXPECT_THAT(ApplyRule("merge-clips", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Clip"}));
  EXPECT_THAT(ConstantNamed(graph, "y_min"), ElementsAre(0));
  EXPECT_THAT(ConstantNamed(graph, "y_max"), ElementsAre(0.5));
}

TEST(MergeClips, KeepsAMissingMaximumMissing) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { float[2] a = Relu(x)  y = Clip(a, %l float[] = {0.25}) })");
  EXPECT_THAT(ApplyRule("merge-clips", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Clip"}));
  EXPECT_EQ(graph.node(graph.nodes()[0]).inputs.size(), 2U);
}

TEST(MergeClips, LetsTheOuterMaximumWinWhereBoundsCross) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { float[2] a = Relu(x)  y = Clip(a, %l float[] = {2}, %h float[] = {-1}) })");
  EXPECT_THAT(ApplyRule("merge-clips", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Clip"}));
  EXPECT_THAT(ConstantNamed(graph, "y_max"), ElementsAre(-1));
}

TEST(MergeClips, WritesAttributesBeforeOpset11) {
  Graph graph = Parse(R"(
      <opset 6>
      graph (float[2] x) => (y) { float[2] a = Relu(x)  y = Clip<min=-1.0, max=1.0>(a) })");
  EXPECT_THAT(ApplyRule("merge-clips", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Clip"}));
  EXPECT_EQ(graph.node(graph.nodes()[0]).GetFloat("min", 7), 0.0F);
}

TEST(MergeClips, MakesOneReluOfTwo) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { float[2] a = Relu(x)  y = Relu(a) })");
  EXPECT_THAT(ApplyRule("merge-clips", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Relu"}));
}

TEST(MergeClips, RefusesInnerBoundsThatCross) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { float[2] a = Clip(x, %l float[] = {2}, %h float[] = {-1})  y = Relu(a) })");
  EXPECT_THAT(RefusalsOf("merge-clips", graph), ElementsAre(HasSubstr("cross")));
}

TEST(MergeClips, RefusesComputedBounds) {
  const Graph graph = Parse(R"(
      graph (float[2] x, float[] h) => (y) { float[2] a = Clip(x, _, h)  y = Relu(a) })");
  EXPECT_THAT(RefusalsOf("merge-clips", graph), ElementsAre(HasSubstr("not constant")));
}

}  // namespace
}  // namespace rlc
