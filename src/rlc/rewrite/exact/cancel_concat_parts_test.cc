#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "cancel-concat-parts";

TEST(CancelConcatParts, HandsPartsOnAroundASplit) {
  Graph graph = Parse(R"(
      <opset 11> graph (float[2,3] x, float[2,4] z) => (y, u) {
        float[2,7] c = Concat<axis=1>(x, z)  a, b = Split<axis=-1, split=[3,4]>(c)  y = Relu(a)  u = Neg(b) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Relu", "Neg"}));
}

TEST(CancelConcatParts, TakesEqualPartsWithoutSizes) {
  Graph graph = Parse(R"(
      <opset 18> graph (float[2,3] x, float[2,3] z) => (y, u) {
        float[2,6] c = Concat<axis=1>(x, z)  a, b = Split<axis=1, num_outputs=2>(c)  y = Relu(b)  u = Neg(c) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Concat", "Relu", "Neg"}));
}

TEST(CancelConcatParts, SlicesThePartItself) {
  Graph graph = Parse(R"(
      graph (float[2,3] x, float[2,4] z) => (y, u) {
        float[2,7] c = Concat<axis=1>(x, z)
        y = Slice(c, %s int64[1] = {4}, %e int64[1] = {9223372036854775807}, %k int64[1] = {-1})
        a = Slice(c, %o int64[1] = {0}, %f int64[1] = {-4}, %k)  u = Neg(a) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y", "a"));
  EXPECT_THAT(graph, OpsAre({"Slice", "Neg"}));
  const Node& slice = graph.node(NodeOf(graph, "y"));
  EXPECT_THAT(*graph.constant(slice.inputs[1])->ToInt64s(), ElementsAre(1));
  EXPECT_THAT(*graph.constant(slice.inputs[2])->ToInt64s(), ElementsAre(4));
}

TEST(CancelConcatParts, JoinsSlicesThatMeet) {
  Graph graph = Parse(R"(
      <opset 9> graph (float[2,6] x) => (y) {
        float[2,2] a = Slice<starts=[1], ends=[3], axes=[1]>(x)  float[2,2] b = Slice<starts=[-3], ends=[-1], axes=[-1]>(x)
        y = Concat<axis=1>(a, b) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Slice"}));
  EXPECT_THAT(*graph.node(graph.nodes()[0]).GetInts("ends"), ElementsAre(5));
}

TEST(CancelConcatParts, Refusals) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"(graph (float[3] x, float[4] z) => (y) {
            float[7] c = Concat<axis=0>(x, z)  y = Slice(c, %s int64[1] = {2}, %e int64[1] = {5}) })",
       "several parts"},
      {R"(graph (float[3] x, float[4] z) => (a, y) {
            float[7] c = Concat<axis=0>(x, z)  a, b = Split(c, %s int64[2] = {3,4})  y = Neg(b) })",
       "output of the graph"},
      {R"(graph (float[3] x, float[4] z) => (u, y) {
            float[7] c = Concat<axis=0>(x, z)  a, b = Split(c, %s int64[2] = {4,3})  u = Neg(a)  y = Neg(b) })",
       "other sizes"},
      {R"(graph (float[N] x, float[4] z) => (u, y) {
            float[?] c = Concat<axis=0>(x, z)  a, b = Split(c, %s int64[2] = {3,4})  u = Neg(a)  y = Neg(b) })",
       "other sizes"},
      {R"(graph (float[6] x) => (y) {
            float[2] a = Slice(x, %s int64[1] = {0}, %e int64[1] = {2})  b = Slice(x, %f int64[1] = {3}, %g int64[1] = {6})
            y = Concat<axis=0>(a, b) })",
       "do not meet"},
      {R"(graph (float[6] x) => (y, u) {
            float[2] a = Slice(x, %s int64[1] = {0}, %e int64[1] = {2})  b = Slice(x, %e, %g int64[1] = {5})
            y = Concat<axis=0>(a, b)  u = Neg(a) })",
       "another reader"},
  };
  for (const auto& [text, reason] : cases) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), ElementsAre(HasSubstr(std::string(reason)))) << text;
  }
}

TEST(CancelConcatParts, LeavesOtherAxesAndSteps) {
  for (const std::string_view text : {
           R"(graph (float[2,2] x, float[2,2] z) => (u, y) {
                float[2,4] c = Concat<axis=1>(x, z)  a, b = Split<axis=0>(c, %s int64[2] = {1,1})  u = Neg(a)  y = Neg(b) })",
           R"(graph (float[3] x, float[4] z) => (y) {
                float[7] c = Concat<axis=0>(x, z)
                y = Slice(c, %s int64[1] = {0}, %e int64[1] = {3}, %k int64[1] = {0}, %t int64[1] = {2}) })",
           R"(graph (float[6] x, float[6] z) => (y) {
                float[2] a = Slice(x, %s int64[1] = {0}, %e int64[1] = {2})  b = Slice(z, %e, %g int64[1] = {6})
                y = Concat<axis=0>(a, b) })",
       }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace rlc
