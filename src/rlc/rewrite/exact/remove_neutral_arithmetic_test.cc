#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RemoveNeutralArithmetic, DropsWhatChangesNothing) {
  Graph graph = Parse(R"(
      graph (double[2,3] x) => (y) { double[2,3] a = Mul(x, %i double[] = {1})  double[2,3] b = Sub(a, %o double[3] = {0,0,0})  y = Neg(b) })");
  EXPECT_THAT(ApplyRule("remove-neutral-arithmetic", graph), ElementsAre("a", "b"));
  EXPECT_THAT(graph, OpsAre({"Neg"}));
}

TEST(RemoveNeutralArithmetic, RefusesToNarrowTheResult) {
  const Graph graph = Parse(R"(
      graph (float[3] x) => (y) { a = Add(x, %o float[2,3] = {0,0,0,0,0,0})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", graph), ElementsAre(HasSubstr("widen")));
}

TEST(RemoveNeutralArithmetic, RefusesOnesOverAnUnknownRank) {
  const Graph graph = Parse(R"(
      graph (float[*] x) => (y) { a = Mul(x, %o float[1,1,1] = {1})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", graph), ElementsAre(HasSubstr("widen")));
}

TEST(RemoveNeutralArithmetic, LeavesWhatIsNotNeutralOnTheLeft) {
  const Graph graph = Parse(R"(
      graph (float[3] x) => (y) { a = Sub(%o float[] = {0}, x)  b = Div(%i float[] = {1}, a)  y = Pow(%i, b) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", graph), IsEmpty());
}

TEST(RemoveNeutralArithmetic, LeavesAConstantWithoutElements) {
  const Graph graph = Parse(R"(
      graph (float[1] x) => (y) { a = Mul(x, %o float[0] = {})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", graph), IsEmpty());
}

TEST(RemoveNeutralArithmetic, LeavesTimesZero) {
  const Graph graph = Parse(R"(
      graph (float[3] x) => (y) { a = Mul(x, %o float[] = {0})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", graph), IsEmpty());
}

TEST(RemoveNeutralArithmetic, KeepsScaleAndBiasOfALayerNormTogether) {
  const Graph graph = Parse(R"(
      graph (float[2,4] x) => (y) {
        m = ReduceMean<axes=[-1]>(x)  float[2,4] d = Sub(x, m)  p = Mul(d, d)  v = ReduceMean<axes=[-1]>(p)
        s = Sqrt(v)  float[2,4] q = Div(d, s)  float[2,4] g = Mul(q, %g1 float[4] = {1,1,1,1})
        y = Add(g, %b float[4] = {0,0,0,0})
      })");
  EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", graph),
              ElementsAre(HasSubstr("normalization"), HasSubstr("normalization")));
}

}  // namespace
}  // namespace rlc
