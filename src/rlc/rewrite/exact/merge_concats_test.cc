#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(MergeConcats, JoinsNestedOnes) {
  Graph graph = Parse(R"(
      graph (float[2,3] x, float[2,4] z) => (y) { float[2,7] a = Concat<axis=1>(x, z)  y = Concat<axis=-1>(z, a, x) })");
  EXPECT_THAT(ApplyRule("merge-concats", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Concat"}));
  EXPECT_EQ(graph.node(graph.nodes()[0]).inputs.size(), 4U);
}

TEST(MergeConcats, UndoesASplit) {
  Graph graph = Parse(R"(
      graph (float[2,6] x) => (y) { a, b = Split<axis=1>(x, %s int64[2] = {2,4})  c = Concat<axis=1>(a, b)  y = Relu(c) })");
  EXPECT_THAT(ApplyRule("merge-concats", graph), ElementsAre("c"));
  EXPECT_THAT(graph, OpsAre({"Relu"}));
}

TEST(MergeConcats, LeavesPartsInAnotherOrder) {
  const Graph graph = Parse(R"(
      graph (float[2,6] x) => (y) { a, b = Split<axis=1>(x, %s int64[2] = {3,3})  y = Concat<axis=1>(b, a) })");
  EXPECT_THAT(RefusalsOf("merge-concats", graph), IsEmpty());
}

TEST(MergeConcats, RefusesAnotherReader) {
  const Graph graph = Parse(R"(
      graph (float[2,3] x, float[2,4] z) => (y, a) { float[2,7] a = Concat<axis=1>(x, z)  y = Concat<axis=1>(z, a) })");
  EXPECT_THAT(RefusalsOf("merge-concats", graph), ElementsAre(HasSubstr("another reader")));
}

TEST(MergeConcats, LeavesAnotherAxis) {
  const Graph graph = Parse(R"(
      graph (float[2,3] x, float[2,3] z) => (y) { float[2,6] a = Concat<axis=1>(x, z)  y = Concat<axis=0>(a, a) })");
  EXPECT_THAT(RefusalsOf("merge-concats", graph), IsEmpty());
}

TEST(MergeConcats, DropsPartsWithoutElements) {
  Graph graph = Parse(R"(
      graph (float[N,2] a, float[0,2] b, float[M,2] c) => (y) {
        y = Concat<axis=-2>(b, a, %e float[0,2], c) })");
  EXPECT_THAT(ApplyRule("merge-concats", graph), ElementsAre("y"));
  EXPECT_EQ(graph.node(graph.nodes()[0]).inputs.size(), 2u);
}

TEST(MergeConcats, KeepsOnePartWithoutElements) {
  Graph graph = Parse(R"(
      graph (float[2,0] a, float[2,0] b) => (y) { y = Concat<axis=1>(a, b) })");
  EXPECT_THAT(ApplyRule("merge-concats", graph), ElementsAre("y"));
  EXPECT_EQ(graph.node(graph.nodes()[0]).inputs.size(), 1u);
}

TEST(MergeConcats, KeepsPartsThatAreEmptyAlongAnotherAxis) {
  const Graph graph = Parse(R"(
      graph (float[2,0] a, float[3,0] b) => (y) { y = Concat<axis=0>(a, b) })");
  EXPECT_THAT(RefusalsOf("merge-concats", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
