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

TEST(RemoveNeutralArithmetic, DropsBoundsBeyondAllValues) {
  for (const char* text : {
           "graph (float[2] x) => (y) { a = Max(x, %c float[] = {-inf})  y = Neg(a) }",
           "graph (double[2] x) => (y) { a = Min(%c double[1] = {inf}, x)  y = Neg(a) }",
           "graph (int32[2] x) => (y) { a = Max(x, %c int32[] = {-2147483648})  y = Neg(a) }",
           "graph (uint8[2] x) => (y) { a = Max(x, %c uint8[] = {0})  y = Not(a) }",
           "graph (float[2] x) => (y) { a = Clip(x, %l float[] = {-inf}, %h float[] = {inf})  y = Neg(a) }",
           "graph (int8[2] x) => (y) { a = Clip(x, %l int8[] = {-128})  y = Neg(a) }",
       }) {
    Graph graph = Parse(text);
    EXPECT_THAT(ApplyRule("remove-neutral-arithmetic", graph), ElementsAre("a")) << text;
  }
}

TEST(RemoveNeutralArithmetic, LeavesBoundsThatValuesReach) {
  for (const char* text : {
           "graph (float[2] x) => (y) { a = Max(x, %c float[] = {-3.4e38})  y = Neg(a) }",
           "graph (float[2] x) => (y) { a = Max(x, %c float[] = {0})  y = Neg(a) }",
           "graph (int32[2] x) => (y) { a = Min(x, %c int32[] = {-2147483648})  y = Neg(a) }",
           "graph (int8[2] x) => (y) { a = Clip(x, %l int8[] = {-127})  y = Neg(a) }",
       }) {
    EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", Parse(text)), IsEmpty()) << text;
  }
}

TEST(RemoveNeutralArithmetic, DropsAWhereThatHasChosen) {
  Graph first = Parse("graph (float[2,3] x, float[3] z) => (y) { a = Where(%c bool[1] = {1}, x, z)  y = Neg(a) }");
  EXPECT_THAT(ApplyRule("remove-neutral-arithmetic", first), ElementsAre("a"));
  EXPECT_EQ(first.value(first.node(first.nodes()[0]).inputs[0]).name, "x");
  Graph second = Parse("graph (float[] x, float[N] z) => (y) { a = Where(%c bool[] = {0}, x, z)  y = Neg(a) }");
  EXPECT_THAT(ApplyRule("remove-neutral-arithmetic", second), ElementsAre("a"));
  EXPECT_EQ(second.value(second.node(second.nodes()[0]).inputs[0]).name, "z");
}

TEST(RemoveNeutralArithmetic, RefusesAWhereThatWidens) {
  for (const char* text : {
           "graph (float[1] x, float[3] z) => (y) { a = Where(%c bool[] = {1}, x, z)  y = Neg(a) }",
           "graph (float[N] x, float[M] z) => (y) { a = Where(%c bool[] = {1}, x, z)  y = Neg(a) }",
           "graph (float[1] x, float[] z) => (y) { a = Where(%c bool[2] = {1, 1}, x, z)  y = Neg(a) }",
       }) {
    EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", Parse(text)), ElementsAre(HasSubstr("widen"))) << text;
  }
  const Graph mixed = Parse("graph (float[2] x) => (y) { a = Where(%c bool[2] = {1, 0}, x, x)  y = Neg(a) }");
  EXPECT_THAT(RefusalsOf("remove-neutral-arithmetic", mixed), IsEmpty());
}

}  // namespace
}  // namespace rlc
