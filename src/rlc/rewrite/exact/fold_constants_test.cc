#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FoldConstants, FoldsShapeArithmetic) {
  Graph graph = Parse(R"(
      graph (float[2,6] x) => (y) { s = Concat<axis=0>(%a int64[1] = {3}, %b int64[1] = {4})  y = Reshape(x, s) })");
  EXPECT_THAT(ApplyRule("fold-constants", graph), ElementsAre("s"));
  EXPECT_THAT(graph, OpsAre({"Reshape"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(3, 4));
}

TEST(FoldConstants, HoldsAGraphOutputInAConstantNode) {
  Graph graph = Parse(R"(
      graph () => (float[2] y) { float[2] y = Add(%a float[2] = {1,2}, %b float[2] = {3,4}) })");
  EXPECT_THAT(ApplyRule("fold-constants", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Constant"}));
}

TEST(FoldConstants, LeavesDefaultsThatCallersMaySet) {
  const Graph graph = Parse(R"(
      graph (float[2] x, float[2] d = {1, 2}) => (y) { a = Neg(d)  y = Add(x, a) })");
  EXPECT_THAT(RefusalsOf("fold-constants", graph), IsEmpty());
}

TEST(FoldConstants, LeavesRandomNumbers) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = RandomNormal<shape=[2]>()  y = Add(x, a) })");
  EXPECT_THAT(RefusalsOf("fold-constants", graph), IsEmpty());
}

TEST(FoldConstants, LeavesTrainingDropout) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = Dropout(%ka float[2], %r float[] = {0.5}, %t bool[] = {1})  y = Add(x, a) })");
  EXPECT_THAT(RefusalsOf("fold-constants", graph), IsEmpty());
}

TEST(FoldConstants, LeavesDequantizedWeights) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = DequantizeLinear(%q int8[2], %s float[] = {0.5})  y = Add(x, a) })");
  EXPECT_THAT(RefusalsOf("fold-constants", graph), IsEmpty());
}

TEST(FoldConstants, LeavesForeignOperators) {
  const Graph graph = Parse(R"(
      <opset 17, opset com.example 1>
      graph (float[2] x) => (y) { a = com.example::Table(%q float[2])  y = Add(x, a) })");
  EXPECT_THAT(RefusalsOf("fold-constants", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
