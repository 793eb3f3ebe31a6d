#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CancelInverses, DropsTwoNegations) {
  Graph graph = Parse(R"(
      graph (int8[2] x) => (y) { a = Neg(x)  b = Neg(a)  y = Abs(b) })");
  EXPECT_THAT(ApplyRule("cancel-inverses", graph), ElementsAre("b"));
  EXPECT_THAT(graph, OpsAre({"Abs"}));
}

TEST(CancelInverses, KeepsACopyBetweenInputAndOutput) {
  Graph graph = Parse(R"(
      graph (bool[2] x) => (y) { a = Not(x)  y = Not(a) })");
  EXPECT_THAT(ApplyRule("cancel-inverses", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Identity"}));
}

TEST(CancelInverses, LeavesReciprocals) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = Reciprocal(x)  y = Reciprocal(a) })");
  EXPECT_THAT(RefusalsOf("cancel-inverses", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
