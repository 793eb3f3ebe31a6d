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

}  // namespace
}  // namespace rlc
