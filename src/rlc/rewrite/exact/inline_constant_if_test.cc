#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(InlineConstantIf, MovesTheChosenBranchOut) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) {
        a = Neg(x)
        y = If<then_branch=graph () => (t) { t = Exp(a) }, else_branch=graph () => (e) { u = Mul(a, x)  e = Abs(u) }>(%c bool[] = {0})
      })");
  EXPECT_THAT(ApplyRule("inline-constant-if", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Neg", "Mul", "Abs", "Identity"}));
}

TEST(InlineConstantIf, HandsOnAnOuterValue) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) {
        b = If<then_branch=graph () => (x) {  }, else_branch=graph () => (e) { e = Abs(x) }>(%c bool[] = {1})
        y = Relu(b) })");
  EXPECT_THAT(ApplyRule("inline-constant-if", graph), ElementsAre("b"));
  EXPECT_THAT(graph, OpsAre({"Identity", "Relu"}));
}

TEST(InlineConstantIf, LeavesAComputedCondition) {
  const Graph graph = Parse(R"(
      graph (float[2] x, bool[] c) => (y) {
        y = If<then_branch=graph () => (t) { t = Exp(x) }, else_branch=graph () => (e) { e = Abs(x) }>(c) })");
  EXPECT_THAT(RefusalsOf("inline-constant-if", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
