#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RemoveNeutralLayout, DropsAReshapeToTheSameShape) {
  Graph graph = Parse(R"(
      graph (float[N,3] x) => (y) { a = Reshape(x, %s int64[2] = {-1,3})  y = Neg(a) })");
  EXPECT_THAT(ApplyRule("remove-neutral-layout", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Neg"}));
}

TEST(RemoveNeutralLayout, DropsExpandToOnes) {
  Graph graph = Parse(R"(
      graph (float[3,4] x) => (y) { a = Expand(x, %s int64[2] = {1,1})  y = Neg(a) })");
  EXPECT_THAT(ApplyRule("remove-neutral-layout", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Neg"}));
}

TEST(RemoveNeutralLayout, DropsASliceOfEverything) {
  Graph graph = Parse(R"(
      graph (float[3,4] x) => (y) { a = Slice(x, %s int64[2] = {0,0}, %e int64[2] = {3,100})  y = Neg(a) })");
  EXPECT_THAT(ApplyRule("remove-neutral-layout", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Neg"}));
}

TEST(RemoveNeutralLayout, LeavesAReshapeThatMayDiffer) {
  const Graph graph = Parse(R"(
      graph (float[N,M] x) => (y) { a = Reshape(x, %s int64[2] = {-1,3})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-layout", graph), IsEmpty());
}

TEST(RemoveNeutralLayout, LeavesTwoOpenSizes) {
  const Graph graph = Parse(R"(
      graph (float[N,3] x) => (y) { a = Slice(x, %s int64[1] = {0}, %e int64[1] = {5})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-layout", graph), IsEmpty());
}

TEST(RemoveNeutralLayout, LeavesExpandToAHigherRank) {
  const Graph graph = Parse(R"(
      graph (float[4] x) => (y) { a = Expand(x, %s int64[2] = {1,1})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-layout", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
