#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FoldShapes, TakesStaticSizesOutOfADynamicShape) {
  Graph graph = Parse(R"(
      graph (float[N,3,4] x) => (y) {
        int64[3] s = Shape(x)  int64[1] a = Slice(s, %ks int64[1] = {1}, %e int64[1] = {2})  y = Mul(a, a) })");
  EXPECT_THAT(ApplyRule("fold-shapes", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Mul"}));
}

TEST(FoldShapes, CountsTheWindowOfShape) {
  Graph graph = Parse(R"(
      graph (float[N,3,4] x) => (y) { int64[1] s = Shape<start=-2, end=-1>(x)  y = Mul(s, s) })");
  EXPECT_THAT(ApplyRule("fold-shapes", graph), ElementsAre("s"));
  EXPECT_THAT(graph, OpsAre({"Mul"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[0])->ToInt64s(), ElementsAre(3));
}

TEST(FoldShapes, LeavesNames) {
  const Graph graph = Parse(R"(
      graph (float[N,3,4] x) => (y) { int64[3] s = Shape(x)  int64[] n = Gather(s, %i int64[] = {0})  y = Mul(n, n) })");
  EXPECT_THAT(RefusalsOf("fold-shapes", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
