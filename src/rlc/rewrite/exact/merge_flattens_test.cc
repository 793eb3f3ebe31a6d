#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MergeFlattens, ReshapesAtOnce) {
  Graph graph = Parse(R"(
      graph (float[2,3,4] x) => (y) { float[3,2,4] a = Reshape(x, %s int64[3] = {3,2,4})  y = Flatten<axis=-1>(a) })");
  EXPECT_THAT(ApplyRule("merge-flattens", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Reshape"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(6, 4));
}

TEST(MergeFlattens, LeavesOneSizeOpen) {
  Graph graph = Parse(R"(
      graph (float[N,12] x) => (y) { float[N,3,4] a = Reshape(x, %s int64[3] = {0,3,4})  y = Flatten(a) })");
  EXPECT_THAT(ApplyRule("merge-flattens", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Reshape"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(-1, 12));
}

TEST(MergeFlattens, RefusesTwoUnknownSizes) {
  const Graph graph = Parse(R"(
      graph (float[N,M,1] x) => (y) { float[N,M] a = Squeeze(x, %s int64[1] = {2})  y = Flatten(a) })");
  EXPECT_THAT(RefusalsOf("merge-flattens", graph), ElementsAre(HasSubstr("neither")));
}

}  // namespace
}  // namespace rlc
