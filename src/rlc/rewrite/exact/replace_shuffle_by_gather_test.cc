#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "replace-shuffle-by-gather";

TEST(ReplaceShuffleByGather, OrdersChannels) {
  Graph graph = Parse(R"(
      graph (float[1,6,4,5] x) => (float[1,6,4,5] y) {
        float[1,2,3,4,5] a = Reshape(x, %s int64[5] = {1,2,3,4,5})
        float[1,3,2,4,5] b = Transpose<perm=[0,2,1,3,4]>(a)
        y = Reshape(b, %t int64[4] = {1,-1,4,5}) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Gather"}));
  const Node& gather = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(gather.inputs[1])->ToInt64s(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(gather.GetInt("axis", 0), 1);
}

TEST(ReplaceShuffleByGather, RefusesSizesThatMayMove) {
  const Graph graph = Parse(R"(
      graph (float[N,6,H,5] x) => (float[?,6,?,5] y) {
        float[?,2,3,?,5] a = Reshape(x, %s int64[5] = {-1,2,3,4,5})
        float[?,3,2,?,5] b = Transpose<perm=[0,2,1,3,4]>(a)
        y = Reshape(b, %t int64[4] = {-1,6,4,5}) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("may not be")));
}

TEST(ReplaceShuffleByGather, RefusesOtherReaders) {
  const Graph graph = Parse(R"(
      graph (float[1,6,4] x) => (float[1,6,4] y, float[1,3,2,4] b) {
        float[1,2,3,4] a = Reshape(x, %s int64[4] = {1,2,3,4})
        b = Transpose<perm=[0,2,1,3]>(a)
        y = Reshape(b, %t int64[3] = {1,6,4}) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("another reader")));
}

TEST(ReplaceShuffleByGather, LeavesOtherPermutationsAndTargets) {
  for (const std::string_view text : {
           R"(graph (float[1,6,4] x) => (float[1,6,4] y) { float[1,2,3,4] a = Reshape(x, %s int64[4] = {1,2,3,4})
                float[1,2,4,3] b = Transpose<perm=[0,1,3,2]>(a)  y = Reshape(b, %t int64[3] = {1,6,4}) })",
           R"(graph (float[1,6,4] x) => (float[1,4,6] y) { float[1,2,3,4] a = Reshape(x, %s int64[4] = {1,2,3,4})
                float[1,3,2,4] b = Transpose<perm=[0,2,1,3]>(a)  y = Reshape(b, %t int64[3] = {1,4,6}) })",
           R"(graph (float[1,4,6] x) => (float[1,6,4] y) { float[1,2,3,4] a = Reshape(x, %s int64[4] = {1,2,3,4})
                float[1,3,2,4] b = Transpose<perm=[0,2,1,3]>(a)  y = Reshape(b, %t int64[3] = {1,6,4}) })",
       }) {
    Graph graph = Parse(text);
    EXPECT_THAT(ApplyRule(kRule, graph), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace rlc
