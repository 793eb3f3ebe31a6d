#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MergeReshapes, KeepsTheLastOne) {
  Graph graph = Parse(R"(
      graph (float[2,3,4] x) => (y) { float[6,4] a = Reshape(x, %s int64[2] = {6,4})  y = Reshape(a, %t int64[2] = {2,12}) })");
  EXPECT_THAT(ApplyRule("merge-reshapes", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Reshape"}));
}

TEST(MergeReshapes, ReplacesACopiedSizeByItself) {
  Graph graph = Parse(R"(
      graph (float[2,3,4] x) => (y) { float[6,4] a = Reshape(x, %s int64[2] = {6,4})  y = Reshape(a, %t int64[3] = {0,2,2}) })");
  EXPECT_THAT(ApplyRule("merge-reshapes", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Reshape"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(6, 2, 2));
}

TEST(MergeReshapes, KeepsACopiedNameThatIsStillThere) {
  Graph graph = Parse(R"(
      graph (float[N,3,4] x) => (y) { float[N,12] a = Flatten(x)  y = Reshape(a, %t int64[3] = {0,4,3}) })");
  EXPECT_THAT(ApplyRule("merge-reshapes", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Reshape"}));
}

TEST(MergeReshapes, RefusesACopiedSizeThatIsNotKnown) {
  const Graph graph = Parse(R"(
      graph (float[N,4] x) => (y) { float[?,2] a = Reshape(x, %s int64[2] = {-1,2})  y = Reshape(a, %t int64[3] = {0,2,1}) })");
  EXPECT_THAT(RefusalsOf("merge-reshapes", graph), ElementsAre(HasSubstr("not known")));
}

TEST(MergeReshapes, TakesAnUnsqueezeIn) {
  Graph graph = Parse(R"(
      graph (float[2,3,4] x) => (y) { float[2,12] a = Reshape(x, %s int64[2] = {0,-1})  y = Unsqueeze(a, %axes int64[1] = {1}) })");
  EXPECT_THAT(ApplyRule("merge-reshapes", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Reshape"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(2, 1, 12));
}

TEST(MergeReshapes, TakesASqueezeInThatLeavesOneSizeOpen) {
  Graph graph = Parse(R"(
      graph (float[N,3,1] x) => (y) { float[1,?] a = Flatten<axis=0>(x)  b = Squeeze(a, %axes int64[1] = {0})  y = Neg(b) })");
  EXPECT_THAT(ApplyRule("merge-reshapes", graph), ElementsAre("b"));
  EXPECT_THAT(graph, OpsAre({"Reshape", "Neg"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(-1));
}

TEST(MergeReshapes, CopiesSeveralSizesThatStayInPlace) {
  Graph graph = Parse(R"(
      graph (float[N,M,12] x) => (y) { float[N,M,3,4] a = Reshape(x, %s int64[4] = {0,0,3,4})  y = Unsqueeze(a, %axes int64[1] = {2}) })");
  EXPECT_THAT(ApplyRule("merge-reshapes", graph), ElementsAre("y"));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(0, 0, 1, 3, 4));
}

TEST(MergeReshapes, RefusesAnUnsqueezeThatMovesTwoOpenSizes) {
  const Graph graph = Parse(R"(
      graph (float[N,M,12] x) => (y) { float[N,M,3,4] a = Reshape(x, %s int64[4] = {0,0,3,4})  y = Unsqueeze(a, %axes int64[1] = {0}) })");
  EXPECT_THAT(RefusalsOf("merge-reshapes", graph), ElementsAre(HasSubstr("not known")));
}

TEST(MergeReshapes, RefusesASqueezeBesideAnotherReader) {
  const Graph graph = Parse(R"(
      graph (float[2,3] x) => (y, z) {
        float[1,3,2] a = Reshape(x, %s int64[3] = {1,3,2})  y = Squeeze(a, %axes int64[1] = {0})  z = Neg(a) })");
  EXPECT_THAT(RefusalsOf("merge-reshapes", graph), ElementsAre(HasSubstr("another reader")));
}

}  // namespace
}  // namespace rlc
