#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FuseMatmulAddIntoGemm, TakesAFullMatrix) {
  Graph graph = Parse(R"(
      graph (float[3,4] x, float[3,5] c) => (y) { float[3,5] a = MatMul(x, %w float[4,5]) layer 0  y = Add(c, a) })");
  EXPECT_THAT(ApplyRule("fuse-matmul-add-into-gemm", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Gemm"}));
  EXPECT_EQ(graph.node(graph.nodes()[0]).layer, 0);
}

TEST(FuseMatmulAddIntoGemm, StandsBehindASummandThatIsComputedLater) {
  Graph graph = Parse(R"(
      graph (float[3,4] x, float[5] c) => (y) { float[3,5] a = MatMul(x, %w float[4,5]) layer 2  float[5] b = Exp(c)  y = Add(a, b) })");
  EXPECT_THAT(ApplyRule("fuse-matmul-add-into-gemm", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Exp", "Gemm"}));
  EXPECT_EQ(graph.node(NodeOf(graph, "y")).layer, 2);
}

TEST(FuseMatmulAddIntoGemm, RefusesAWiderSum) {
  const Graph graph = Parse(R"(
      graph (float[3,3] x, float[4] c) => (y) { float[3,1] a = MatMul(x, %w float[3,1])  y = Add(a, c) })");
  EXPECT_THAT(RefusalsOf("fuse-matmul-add-into-gemm", graph), ElementsAre(HasSubstr("wider")));
}

TEST(FuseMatmulAddIntoGemm, LeavesStacksOfMatrices) {
  const Graph graph = Parse(R"(
      graph (float[2,3,4] x, float[5] c) => (y) { float[2,3,5] a = MatMul(x, %w float[4,5])  y = Add(a, c) })");
  EXPECT_THAT(RefusalsOf("fuse-matmul-add-into-gemm", graph), IsEmpty());
}

TEST(FuseMatmulAddIntoGemm, RefusesIntegers) {
  const Graph graph = Parse(R"(
      graph (int32[3,4] x, int32[5] c) => (y) { int32[3,5] a = MatMul(x, %w int32[4,5])  y = Add(a, c) })");
  EXPECT_THAT(RefusalsOf("fuse-matmul-add-into-gemm", graph), ElementsAre(HasSubstr("float types")));
}

TEST(FuseMatmulAddIntoGemm, RefusesAQuantizedLayer) {
  const Graph graph = Parse(R"(
      graph (uint8[3,4] q, float[5] c) => (y) {
        float[3,4] x = DequantizeLinear(q, %s float[] = {0.5})
        float[3,5] a = MatMul(x, %w float[4,5])  y = Add(a, c) })");
  EXPECT_THAT(RefusalsOf("fuse-matmul-add-into-gemm", graph), ElementsAre(HasSubstr("quantized")));
}

}  // namespace
}  // namespace rlc
