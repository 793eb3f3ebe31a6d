#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MergeTransposes, ComposesPermutations) {
  Graph graph = Parse(R"(
      graph (float[2,3,4] x) => (y) { a = Transpose<perm=[1,2,0]>(x)  y = Transpose<perm=[0,2,1]>(a) })");
  EXPECT_THAT(ApplyRule("merge-transposes", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Transpose"}));
  EXPECT_THAT(*graph.node(graph.nodes()[0]).GetInts("perm"), ElementsAre(1, 0, 2));
}

TEST(MergeTransposes, ReversesByDefault) {
  Graph graph = Parse(R"(
      graph (float[2,3,4] x) => (y) { float[4,3,2] a = Transpose(x)  y = Transpose<perm=[1,2,0]>(a) })");
  EXPECT_THAT(ApplyRule("merge-transposes", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Transpose"}));
  EXPECT_THAT(*graph.node(graph.nodes()[0]).GetInts("perm"), ElementsAre(1, 0, 2));
}

TEST(MergeTransposes, RefusesAnUnknownRank) {
  const Graph graph = Parse(R"(
      graph (float[*] x) => (y) { float[*] a = Transpose(x)  y = Transpose<perm=[1,2,0]>(a) })");
  EXPECT_THAT(RefusalsOf("merge-transposes", graph), ElementsAre(HasSubstr("rank")));
}

}  // namespace
}  // namespace rlc
