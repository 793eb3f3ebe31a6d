#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FoldReshapeTarget, CopiesWhatTheInputHasAtTheSamePlace) {
  Graph graph = Parse(R"(
      graph (float[?,?,?] x) => (y) {
        float[?,?,?] a = Relu(x)
        int64[3] s = Shape(x)  int64[2] b = Slice(s, %ks int64[1] = {0}, %e int64[1] = {2})
        int64[4] t = Concat<axis=0>(b, %h int64[2] = {4,-1})  y = Reshape(a, t) })");
  EXPECT_THAT(ApplyRule("fold-reshape-target", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Relu", "Reshape"}));
  EXPECT_THAT(*graph.constant(graph.node(NodeOf(graph, "y")).inputs[1])->ToInt64s(), ElementsAre(0, 0, 4, -1));
}

TEST(FoldReshapeTarget, LeavesOneOtherSizeOpen) {
  Graph graph = Parse(R"(
      graph (float[N,6] x, float[M] z) => (y) {
        int64[1] s = Shape(z)  int64[3] t = Concat<axis=0>(%a int64[2] = {2,3}, s)  y = Reshape(x, t) })");
  EXPECT_THAT(ApplyRule("fold-reshape-target", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Reshape"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(2, 3, -1));
}

TEST(FoldReshapeTarget, LeavesAMultipleOfASizeOpen) {
  Graph graph = Parse(R"(
      graph (float[4,N,24] x) => (y) {
        int64[3] s = Shape(x)  int64[] n = Gather(s, %i int64[] = {1})  int64[] m = Mul(n, %k int64[] = {3})
        int64[1] u = Unsqueeze(m, %z int64[1] = {0})
        int64[3] t = Concat<axis=0>(%a int64[1] = {4}, u, %b int64[1] = {8})  y = Reshape(x, t) })");
  EXPECT_THAT(ApplyRule("fold-reshape-target", graph), ElementsAre("y"));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(4, -1, 8));
}

TEST(FoldReshapeTarget, FollowsSizesThroughALayer) {
  Graph graph = Parse(R"(
      graph (float[?,?,6] x) => (y) {
        float[?,?,6] p = MatMul(x, %w float[6,6])  float[?,?,6] q = Add(%b float[6], p)
        float[?,?,6] r = Add(q, x)  float[?,6,?] o = Transpose<perm=[0,2,1]>(r)
        int64[3] s = Shape(x)  int64[1] n = Slice(s, %ks int64[1] = {1}, %e int64[1] = {2})
        float[?,?,6] v = Transpose<perm=[0,2,1]>(o)
        int64[4] t = Concat<axis=0>(%z int64[1] = {0}, n, %h int64[2] = {2,3})  y = Reshape(v, t) })");
  EXPECT_THAT(ApplyRule("fold-reshape-target", graph), ElementsAre("y"));
  EXPECT_THAT(*graph.constant(graph.node(NodeOf(graph, "y")).inputs[1])->ToInt64s(), ElementsAre(0, 0, 2, 3));
}

TEST(FoldReshapeTarget, DoesNotBelieveASizeThatMayBeWidened) {
  const Graph graph = Parse(R"(
      graph (float[?,6] x, float[?,6] z) => (y) {
        float[?,6] r = Add(x, z)  int64[2] s = Shape(x)  int64[1] n = Slice(s, %ks int64[1] = {0}, %e int64[1] = {1})
        int64[3] t = Concat<axis=0>(n, %h int64[2] = {0,-1})  y = Reshape(r, t) })");
  EXPECT_THAT(RefusalsOf("fold-reshape-target", graph), ElementsAre(HasSubstr("neither constant")));
}

TEST(FoldReshapeTarget, RefusesTwoOpenSizes) {
  const Graph graph = Parse(R"(
      graph (float[6] x, float[N,M] z) => (y) { int64[2] s = Shape(z)  y = Reshape(x, s) })");
  EXPECT_THAT(RefusalsOf("fold-reshape-target", graph), ElementsAre(HasSubstr("neither constant")));
}

}  // namespace
}  // namespace rlc
