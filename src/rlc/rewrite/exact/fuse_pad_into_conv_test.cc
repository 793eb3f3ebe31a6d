#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FusePadIntoConv, AddsThePads) {
  Graph graph = Parse(R"(
      graph (float[1,2,5,5] x) => (y) {
        a = Pad(x, %p int64[8] = {0,0,1,0,0,0,1,2}, %v float[] = {0})
        y = Conv<pads=[0,1,1,0]>(a, %w float[3,2,3,3])
      })");
  EXPECT_THAT(ApplyRule("fuse-pad-into-conv", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  EXPECT_THAT(*graph.node(graph.nodes()[0]).GetInts("pads"), ElementsAre(1, 1, 2, 2));
}

TEST(FusePadIntoConv, ReadsNegativeAxes) {
  Graph graph = Parse(R"(
      <opset 18>
      graph (float[1,2,5,5] x) => (y) {
        a = Pad(x, %p int64[4] = {1,2,3,4}, _, %ka int64[2] = {-1,2})
        y = Conv<auto_pad="VALID">(a, %w float[3,2,3,3])
      })");
  EXPECT_THAT(ApplyRule("fuse-pad-into-conv", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  EXPECT_THAT(*graph.node(graph.nodes()[0]).GetInts("pads"), ElementsAre(2, 1, 4, 3));
  EXPECT_EQ(graph.node(graph.nodes()[0]).FindAttribute("auto_pad"), nullptr);
}

TEST(FusePadIntoConv, ReadsAttributesBeforeOpset11) {
  Graph graph = Parse(R"(
      <opset 9>
      graph (float[1,2,5] x) => (y) { a = Pad<pads=[0,0,1,0,0,2]>(x)  y = Conv(a, %w float[3,2,3]) })");
  EXPECT_THAT(ApplyRule("fuse-pad-into-conv", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
}

TEST(FusePadIntoConv, RefusesCropping) {
  const Graph graph = Parse(R"(
      graph (float[1,2,7,7] x) => (y) { a = Pad(x, %p int64[8] = {0,0,-1,0,0,0,0,0})  y = Conv(a, %w float[3,2,3,3]) })");
  EXPECT_THAT(RefusalsOf("fuse-pad-into-conv", graph), ElementsAre(HasSubstr("crops")));
}

TEST(FusePadIntoConv, RefusesNewChannels) {
  const Graph graph = Parse(R"(
      graph (float[1,2,7,7] x) => (y) { a = Pad(x, %p int64[8] = {0,1,0,0,0,0,0,0})  y = Conv(a, %w float[3,3,3,3]) })");
  EXPECT_THAT(RefusalsOf("fuse-pad-into-conv", graph), ElementsAre(HasSubstr("channels")));
}

TEST(FusePadIntoConv, RefusesReflection) {
  const Graph graph = Parse(R"(
      graph (float[1,2,7,7] x) => (y) { a = Pad<mode="reflect">(x, %p int64[8] = {0,0,1,1,0,0,1,1})  y = Conv(a, %w float[3,2,3,3]) })");
  EXPECT_THAT(RefusalsOf("fuse-pad-into-conv", graph), ElementsAre(HasSubstr("reflect")));
}

TEST(FusePadIntoConv, RefusesABorderOfOnes) {
  const Graph graph = Parse(R"(
      graph (float[1,2,7,7] x) => (y) { a = Pad(x, %p int64[8] = {0,0,1,1,0,0,1,1}, %v float[] = {1})  y = Conv(a, %w float[3,2,3,3]) })");
  EXPECT_THAT(RefusalsOf("fuse-pad-into-conv", graph), ElementsAre(HasSubstr("not 0")));
}

TEST(FusePadIntoConv, RefusesSamePadding) {
  const Graph graph = Parse(R"(
      graph (float[1,2,7,7] x) => (y) { a = Pad(x, %p int64[8] = {0,0,1,1,0,0,1,1})  y = Conv<auto_pad="SAME_UPPER">(a, %w float[3,2,3,3]) })");
  EXPECT_THAT(RefusalsOf("fuse-pad-into-conv", graph), ElementsAre(HasSubstr("auto_pad")));
}

}  // namespace
}  // namespace rlc
