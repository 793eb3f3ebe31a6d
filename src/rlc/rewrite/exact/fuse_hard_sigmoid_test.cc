#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FuseHardSigmoid, ReadsDivisionAtTheEnd) {
  Graph graph = Parse(R"(
      graph (float[2,3] x) => (y) {
        float[2,3] a = Add(x, %three float[] = {3})  float[2,3] c = Clip(a, %zero float[] = {0}, %six float[] = {6})
        float[2,3] m = Mul(x, c)  y = Div(m, %six)
      })");
  EXPECT_THAT(ApplyRule("fuse-hard-sigmoid", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"HardSigmoid", "Mul"}));
  EXPECT_FLOAT_EQ(*graph.node(graph.nodes()[0]).GetFloat("alpha", 0), 1.0F / 6);
  EXPECT_FLOAT_EQ(*graph.node(graph.nodes()[0]).GetFloat("beta", 0), 0.5F);
}

TEST(FuseHardSigmoid, ReadsMultiplicationByTheInverse) {
  Graph graph = Parse(R"(
      graph (float[2,3] x) => (y) {
        float[2,3] a = Add(%three float[] = {3}, x)  float[2,3] c = Clip(a, %zero float[] = {0}, %six float[] = {6})
        float[2,3] m = Mul(c, x)  y = Mul(%sixth float[1] = {0.16666667}, m)
      })");
  EXPECT_THAT(ApplyRule("fuse-hard-sigmoid", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"HardSigmoid", "Mul"}));
}

TEST(FuseHardSigmoid, ReadsAScaleOnTheGate) {
  Graph graph = Parse(R"(
      graph (float[2,3] x) => (y) {
        float[2,3] a = Add(x, %three float[] = {3})  float[2,3] c = Clip(a, %zero float[] = {0}, %six float[] = {6})
        float[2,3] g = Div(c, %six)  y = Mul(x, g)
      })");
  EXPECT_THAT(ApplyRule("fuse-hard-sigmoid", graph), ElementsAre("g"));
  EXPECT_THAT(graph, OpsAre({"HardSigmoid", "Mul"}));
}

TEST(FuseHardSigmoid, ReadsAScaleOnTheOtherFactor) {
  Graph graph = Parse(R"(
      graph (float[2,3] x) => (y) {
        float[2,3] a = Add(x, %three float[] = {3})  float[2,3] c = Clip(a, %zero float[] = {0}, %six float[] = {6})
        float[2,3] s = Div(x, %six)  y = Mul(s, c)
      })");
  EXPECT_THAT(ApplyRule("fuse-hard-sigmoid", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"HardSigmoid", "Mul"}));
}

TEST(FuseHardSigmoid, LeavesAnotherFactor) {
  const Graph graph = Parse(R"(
      graph (float[2,3] x) => (y) {
        float[2,3] a = Add(x, %three float[] = {3})  float[2,3] c = Clip(a, %zero float[] = {0}, %six float[] = {6})
        float[2,3] m = Mul(x, c)  y = Div(m, %five float[] = {5})
      })");
  EXPECT_THAT(RefusalsOf("fuse-hard-sigmoid", graph), IsEmpty());
}

TEST(FuseHardSigmoid, RefusesDouble) {
  const Graph graph = Parse(R"(
      graph (double[2,3] x) => (y) {
        double[2,3] a = Add(x, %three double[] = {3})  double[2,3] c = Clip(a, %zero double[] = {0}, %six double[] = {6})
        double[2,3] m = Mul(x, c)  y = Div(m, %six)
      })");
  EXPECT_THAT(RefusalsOf("fuse-hard-sigmoid", graph), ElementsAre(HasSubstr("float32 only")));
}

TEST(FuseHardSigmoid, LeavesAGateWithAnotherReader) {
  const Graph graph = Parse(R"(
      graph (float[2,3] x) => (y, c) {
        float[2,3] a = Add(x, %three float[] = {3})  float[2,3] c = Clip(a, %zero float[] = {0}, %six float[] = {6})
        float[2,3] m = Mul(x, c)  y = Div(m, %six)
      })");
  EXPECT_THAT(RefusalsOf("fuse-hard-sigmoid", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
