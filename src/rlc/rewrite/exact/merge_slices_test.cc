#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MergeSlices, ScalesOffsetsByTheFirstStep) {
  Graph graph = Parse(R"(
      graph (float[2,12] x) => (y) {
        a = Slice(x, %s int64[1] = {1}, %e int64[1] = {11}, %ka int64[1] = {1}, %p int64[1] = {2})
        y = Slice(a, %t int64[1] = {1}, %f int64[1] = {4}, %ka, %p) })");
  EXPECT_THAT(ApplyRule("merge-slices", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Slice"}));
  const Node& slice = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(slice.inputs[1])->ToInt64s(), ElementsAre(3));
  EXPECT_THAT(*graph.constant(slice.inputs[2])->ToInt64s(), ElementsAre(8));
  EXPECT_THAT(*graph.constant(slice.inputs[3])->ToInt64s(), ElementsAre(1));
  EXPECT_THAT(*graph.constant(slice.inputs[4])->ToInt64s(), ElementsAre(4));
}

TEST(MergeSlices, JoinsDifferentAxes) {
  Graph graph = Parse(R"(
      graph (float[4,6] x) => (y) { a = Slice(x, %s int64[1] = {1}, %e int64[1] = {3})  y = Slice(a, %t int64[1] = {2}, %f int64[1] = {5}, %ka int64[1] = {-1}) })");
  EXPECT_THAT(ApplyRule("merge-slices", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Slice"}));
  const Node& slice = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(slice.inputs[1])->ToInt64s(), ElementsAre(1, 2));
  EXPECT_THAT(*graph.constant(slice.inputs[2])->ToInt64s(), ElementsAre(3, 5));
  EXPECT_THAT(*graph.constant(slice.inputs[3])->ToInt64s(), ElementsAre(0, 1));
}

TEST(MergeSlices, WalksBackwards) {
  Graph graph = Parse(R"(
      graph (float[10] x) => (y) {
        a = Slice(x, %s int64[1] = {8}, %e int64[1] = {-11}, %ka int64[1] = {0}, %p int64[1] = {-2})
        y = Slice(a, %t int64[1] = {1}, %f int64[1] = {5}) })");
  EXPECT_THAT(ApplyRule("merge-slices", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Slice"}));
  const Node& slice = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(slice.inputs[1])->ToInt64s(), ElementsAre(6));
  EXPECT_THAT(*graph.constant(slice.inputs[2])->ToInt64s(), ElementsAre(-11));
  EXPECT_THAT(*graph.constant(slice.inputs[3])->ToInt64s(), ElementsAre(0));
  EXPECT_THAT(*graph.constant(slice.inputs[4])->ToInt64s(), ElementsAre(-2));
}

TEST(MergeSlices, KeepsAnEndThatCountsFromTheBack) {
  Graph graph = Parse(R"(
      graph (float[N,4] x) => (y) { a = Slice(x, %s int64[1] = {1}, %e int64[1] = {4611686018427387904})  y = Slice(a, %t int64[1] = {0}, %f int64[1] = {-1}) })");
  EXPECT_THAT(ApplyRule("merge-slices", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Slice"}));
  const Node& slice = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(slice.inputs[1])->ToInt64s(), ElementsAre(1));
  EXPECT_THAT(*graph.constant(slice.inputs[2])->ToInt64s(), ElementsAre(-1));
}

TEST(MergeSlices, TakesTheSmallerEndOfAnUnknownSize) {
  Graph graph = Parse(R"(
      graph (float[N,4] x) => (y) { a = Slice(x, %s int64[1] = {1}, %e int64[1] = {9})  y = Slice(a, %t int64[1] = {2}, %f int64[1] = {100}) })");
  EXPECT_THAT(ApplyRule("merge-slices", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Slice"}));
  const Node& slice = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(slice.inputs[1])->ToInt64s(), ElementsAre(3));
  EXPECT_THAT(*graph.constant(slice.inputs[2])->ToInt64s(), ElementsAre(9));
}

TEST(MergeSlices, RefusesTwoEndsFromTheBackOfAnUnknownSize) {
  const Graph graph = Parse(R"(
      graph (float[N,4] x) => (y) { a = Slice(x, %s int64[1] = {1}, %e int64[1] = {-1})  y = Slice(a, %t int64[1] = {0}, %f int64[1] = {-1}) })");
  EXPECT_THAT(RefusalsOf("merge-slices", graph), ElementsAre(HasSubstr("do not compose")));
}

TEST(MergeSlices, RefusesComputedStarts) {
  const Graph graph = Parse(R"(
      graph (float[8,4] x, int64[1] s) => (y) { a = Slice(x, s, %e int64[1] = {4})  y = Slice(a, %t int64[1] = {0}, %f int64[1] = {2}) })");
  EXPECT_THAT(RefusalsOf("merge-slices", graph), ElementsAre(HasSubstr("not constant")));
}

}  // namespace
}  // namespace rlc
