#include "rlc/rewrite/pipeline.h"

#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

PipelineOptions Only(const std::string& rule) {
  PipelineOptions options;
  options.only = {rule};
  return options;
}

PipelineOptions Skipping(const std::string& rule) {
  PipelineOptions options;
  options.skip = {rule};
  return options;
}

TEST(Pipeline, RunsRulesThatMakeRoomForEachOther) {
  Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (float[1,2,4,4] y) {
        c = Conv(x, %w float[2,2,1,1])
        i = Identity(c)
        s = Constant<value=float[2] = {2,3}>()
        b = BatchNormalization(i, s, %bias float[2], %mean float[2], %var float[2])
        one = Div(%d float[] = {2}, %d)
        y = Mul(b, one)
      })");
  const auto report = Simplify(graph, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->changed());
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  EXPECT_THAT(graph, IsValid());
}

TEST(Pipeline, SimplifiesBodies) {
  Graph graph = Parse(R"(
      graph (float[2] x, bool[] c) => (float[2] y) {
        a = Exp(x)
        y = If<then_branch=graph () => (float[2] t) { i = Identity(a)  t = Neg(i) },
               else_branch=graph () => (float[2] e) { d = Abs(x)  e = Exp(x) }>(c)
      })");
  const auto report = Simplify(graph, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(graph, IsValid());
  const Node& branch = graph.node(NodeOf(graph, "y"));
  EXPECT_THAT(*std::get<Body>(branch.FindAttribute("then_branch")->value), OpsAre({"Neg"}));
  EXPECT_THAT(*std::get<Body>(branch.FindAttribute("else_branch")->value), OpsAre({"Exp"}));
}

TEST(Pipeline, DropsWhatOnlyADeadPartOfABodyRead) {
  Graph graph = Parse(R"(
      graph (float[2] x, bool[] c) => (float[2] y) {
        a = Exp(x)
        y = If<then_branch=graph () => (float[2] t) { unread = Neg(a)  t = Neg(x) },
               else_branch=graph () => (float[2] e) { e = Exp(x) }>(c)
      })");
  ASSERT_THAT(Simplify(graph, {}), IsOk());
  EXPECT_THAT(graph, OpsAre({"If"}));
}

TEST(Pipeline, KeepsTheModelSmall) {
  Graph graph = Parse(R"(
      graph (float[4] x) => (float[4] y, float[64,16] t) {
        float[16,64] b = Transpose<perm=[1,0]>(%table float[64,16])
        s = ReduceSum(b)
        y = Mul(x, s)
        t = Exp(%table)
      })");
  PipelineOptions small;
  small.growth_limit = 100;
  ASSERT_THAT(Simplify(graph, {}, small), IsOk());
  EXPECT_THAT(Ops(graph), ::testing::Contains("Transpose")) << "the table would be stored twice";
  PipelineOptions large;
  large.growth_limit = 10'000;
  ASSERT_THAT(Simplify(graph, {}, large), IsOk());
  EXPECT_THAT(Ops(graph), ::testing::Not(::testing::Contains("Transpose")));
}

TEST(Pipeline, DoesNotBelieveRecordsNorDeclaredOutputs) {
  // The records say that the reshapes do nothing. Nothing infers types here, so nothing may be concluded from them.
  Graph graph = Parse(R"(
      graph (float[*] x) => (float[2,3] y) {
        float[2,3] a = Relu(x)
        float[2,3] b = Reshape(a, %s int64[2] = {2,3})
        y = Neg(b)
      })");
  const Graph before = graph;
  ASSERT_THAT(Simplify(graph, {}), IsOk());
  EXPECT_THAT(graph, OpsAre({"Relu", "Reshape", "Neg"}));
  EXPECT_THAT(graph, HasInterfaceOf(before));
}

TEST(Pipeline, OneNameForAllUnknownSizesIsNoName) {
  Graph graph = Parse(R"(
      graph (float["?","?"] x, float["?","?"] z) => (y) {
        float["?","?"] e = Expand(x, %s int64[2] = {1,1})
        y = Concat<axis=0>(e, z)
      })");
  const Type declared = graph.type(graph.inputs()[0]);
  ASSERT_THAT(Simplify(graph, {}), IsOk());
  EXPECT_EQ(graph.type(graph.inputs()[0]), declared);
}

TEST(Pipeline, SkipsAndSelectsRules) {
  constexpr std::string_view kText =
      "graph (float[2] x) => (y) { a = Identity(x)  b = Exp(a)  c = Neg(b)  y = Neg(c) }";
  Graph skipped = Parse(kText);
  ASSERT_THAT(Simplify(skipped, {}, Skipping("cancel-inverses")), IsOk());
  EXPECT_THAT(skipped, OpsAre({"Exp", "Neg", "Neg"}));
  Graph selected = Parse(kText);
  ASSERT_THAT(Simplify(selected, {}, Only("cancel-inverses")), IsOk());
  EXPECT_THAT(selected, OpsAre({"Identity", "Exp"}));
}

TEST(Pipeline, NamesUnknownAndApproximateRules) {
  Graph graph = Parse("graph (float[2] x) => (y) { y = Exp(x) }");
  EXPECT_THAT(Simplify(graph, {}, Only("fuse-everything")), IsErrorOf(ErrorKind::kUsage, HasSubstr("fuse-everything")));
  EXPECT_THAT(Simplify(graph, {}, Skipping("quantize-layer")), IsErrorOf(ErrorKind::kUsage, HasSubstr("exact")));
}

TEST(Pipeline, ReportsNearMissesOfTheFinalGraph) {
  Graph graph = Parse(R"(
      graph (float[1,3,6,6] x) => (float[1,4,4,4] a, float[1,4,4,4] y) {
        a = Conv(x, %w float[4,3,3,3])
        y = Mul(a, %c float[4,1,1])
      })");
  const auto report = Simplify(graph, {});
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(report->refused.size(), 1U);
  EXPECT_EQ(report->refused[0].rule, "fuse-arithmetic-into-layer");
  EXPECT_EQ(report->refused[0].site, "y");
}

TEST(Pipeline, LeavesAModelAloneThatRedefinesOperators) {
  Model model = ParseToModel("graph (float[2] x) => (y) { a = Identity(x)  y = Exp(a) }");
  model.functions.push_back({.domain = "", .name = "Identity", .overload = "", .bytes = ""});
  const auto report = Simplify(model, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_FALSE(report->changed());
}

}  // namespace
}  // namespace rlc
