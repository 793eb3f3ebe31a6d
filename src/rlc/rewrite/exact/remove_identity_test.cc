#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RemoveIdentity, RenamesTheReaderInABody) {
  Graph graph = Parse(R"(
      graph (float[2] x, bool[] c) => (y) {
        a = Identity(x)
        y = If<then_branch=graph () => (t) { t = Relu(a) }, else_branch=graph () => (e) { e = Neg(a) }>(c) })");
  EXPECT_THAT(ApplyRule("remove-identity", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"If"}));
}

TEST(RemoveIdentity, GivesTheProducerTheOutputsName) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y, z) { a = Exp(x)  y = Identity(a)  z = Neg(a) })");
  EXPECT_THAT(ApplyRule("remove-identity", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Exp", "Neg"}));
  EXPECT_EQ(graph.value(graph.node(NodeOf(graph, "z")).inputs[0]).name, "y");
}

TEST(RemoveIdentity, DropsDropoutWhoseRatioIsNoConcern) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = Dropout(x, %r float[] = {0.4})  y = Neg(a) })");
  EXPECT_THAT(ApplyRule("remove-identity", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Neg"}));
}

TEST(RemoveIdentity, KeepsACopyOfAnInput) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { y = Identity(x) })");
  EXPECT_THAT(RefusalsOf("remove-identity", graph), IsEmpty());
}

TEST(RemoveIdentity, KeepsTwoNamesOfOneValue) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y, z) { y = Exp(x)  z = Identity(y) })");
  EXPECT_THAT(RefusalsOf("remove-identity", graph), IsEmpty());
}

TEST(RemoveIdentity, RefusesAMaskThatIsRead) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y, m) { a, m = Dropout(x)  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-identity", graph), ElementsAre(HasSubstr("mask")));
}

TEST(RemoveIdentity, RefusesTrainingMode) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = Dropout(x, %r float[] = {0.4}, %t bool[] = {1})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-identity", graph), ElementsAre(HasSubstr("training")));
}

TEST(RemoveIdentity, DropsASumOfOne) {
  for (const char* op : {"Sum", "Max", "Min", "Mean"}) {
    Graph graph = Parse(fmt::format("graph (float[2] x) => (y) {{ a = {}(x)  y = Neg(a) }}", op));
    EXPECT_THAT(ApplyRule("remove-identity", graph), ElementsAre("a"));
  }
  const Graph two = Parse("graph (float[2] x) => (y) { a = Sum(x, x)  y = Neg(a) }");
  EXPECT_THAT(RefusalsOf("remove-identity", two), IsEmpty());
}

}  // namespace
}  // namespace rlc
