#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MergeEqualInitializers, MergesEqualOnes) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = Add(x, %ka float[2] = {1,2})  y = Mul(a, %b float[2] = {1,2}) })");
  EXPECT_THAT(ApplyRule("merge-equal-initializers", graph), ElementsAre("graph"));
  EXPECT_THAT(graph, OpsAre({"Add", "Mul"}));
  EXPECT_EQ(graph.initializers().size(), 1U);
}

TEST(MergeEqualInitializers, KeepsOtherTypesAndSignsOfZeroApart) {
  const Graph graph = Parse(R"(
      graph (float[1] x, int32[1] n) => (y, z, v) { y = Mul(x, %a float[1] = {0})  z = Add(n, %b int32[1] = {0})  v = Add(x, %c float[1] = {-0.0}) })");
  EXPECT_THAT(RefusalsOf("merge-equal-initializers", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
