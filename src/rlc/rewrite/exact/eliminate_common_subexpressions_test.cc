#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EliminateCommonSubexpressions, MergesEqualChains) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = Exp(x)  b = Exp(x)  c = Neg(a)  d = Neg(b)  y = Mul(c, d) })");
  EXPECT_THAT(ApplyRule("eliminate-common-subexpressions", graph), ElementsAre("graph"));
  EXPECT_THAT(graph, OpsAre({"Exp", "Neg", "Mul"}));
}

TEST(EliminateCommonSubexpressions, LetsTheFirstTakeTheOutputsName) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y, z) { a = Exp(x)  y = Exp(x)  z = Neg(a) })");
  EXPECT_THAT(ApplyRule("eliminate-common-subexpressions", graph), ElementsAre("graph"));
  EXPECT_THAT(graph, OpsAre({"Exp", "Neg"}));
}

TEST(EliminateCommonSubexpressions, KeepsTwoOutputs) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y, z) { y = Exp(x)  z = Exp(x) })");
  EXPECT_THAT(RefusalsOf("eliminate-common-subexpressions", graph), IsEmpty());
}

TEST(EliminateCommonSubexpressions, KeepsRandomNumbersApart) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = RandomNormalLike(x)  b = RandomNormalLike(x)  y = Sub(a, b) })");
  EXPECT_THAT(RefusalsOf("eliminate-common-subexpressions", graph), IsEmpty());
}

TEST(EliminateCommonSubexpressions, KeepsOtherAttributesApart) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = Elu<alpha=1.0>(x)  b = Elu<alpha=2.0>(x)  y = Sub(a, b) })");
  EXPECT_THAT(RefusalsOf("eliminate-common-subexpressions", graph), IsEmpty());
}

TEST(EliminateCommonSubexpressions, KeepsQuantizationPairsApart) {
  const Graph graph = Parse(R"(
      graph (uint8[2] q) => (y) { a = DequantizeLinear(q, %s float[] = {0.5})  b = DequantizeLinear(q, %s)  y = Sub(a, b) })");
  EXPECT_THAT(RefusalsOf("eliminate-common-subexpressions", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
