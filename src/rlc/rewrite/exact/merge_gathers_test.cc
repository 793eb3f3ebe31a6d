#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "merge-gathers";

std::vector<int64_t> Indices(const Graph& graph, std::string_view output) {
  return *graph.constant(graph.node(NodeOf(graph, output)).inputs[1])->ToInt64s();
}

TEST(MergeGathers, ComposesLists) {
  Graph graph = Parse(R"(
      graph (float[2,6] x) => (y) {
        float[2,3] a = Gather<axis=1>(x, %i int32[3] = {5,-2,1})  y = Gather<axis=-1>(a, %j int64[2] = {-1,1}) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Gather"}));
  EXPECT_THAT(Indices(graph, "y"), ElementsAre(1, -2));
}

TEST(MergeGathers, SlicesTheList) {
  Graph graph = Parse(R"(
      graph (float[2,6] x) => (y, z) {
        float[2,6] a = Gather<axis=1>(x, %i int64[6] = {0,3,1,4,2,5})
        y = Slice(a, %s int64[1] = {0}, %e int64[1] = {-1}, %k int64[1] = {-1}, %t int64[1] = {2})
        z = Slice(a, %e, %f int64[1] = {9223372036854775807}, %k) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y", "z"));
  EXPECT_THAT(graph, OpsAre({"Gather", "Gather"}));
  EXPECT_THAT(Indices(graph, "y"), ElementsAre(0, 1, 2));
  EXPECT_THAT(Indices(graph, "z"), ElementsAre(5));
}

TEST(MergeGathers, TakesASqueezedSliceOfOne) {
  Graph graph = Parse(R"(
      graph (float[3,N,4] x) => (y, z) {
        float[1,N,4] a = Slice(x, %s int64[1] = {1}, %e int64[1] = {2})  y = Squeeze(a, %o int64[1] = {0})
        float[3,1,4] b = Slice(x, %m int64[1] = {-1}, %f int64[1] = {2147483647}, %k int64[1] = {1})
        z = Squeeze(b, %n int64[1] = {-2}) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y", "z"));
  EXPECT_THAT(graph, OpsAre({"Gather", "Gather"}));
  EXPECT_THAT(Indices(graph, "y"), ElementsAre(1));
  EXPECT_THAT(Indices(graph, "z"), ElementsAre(-1));
}

TEST(MergeGathers, RefusesOtherReadersOfTheList) {
  for (
      const std::string_view text : {
          R"(graph (float[6] x) => (a, y) { float[2] a = Gather(x, %i int64[2] = {1,2})  y = Gather(a, %j int64[] = {0}) })",
          R"(graph (float[6] x) => (z, y) { float[2] a = Gather(x, %i int64[2] = {1,2})  z = Exp(a)
                y = Slice(a, %s int64[1] = {0}, %e int64[1] = {1}) })",
          R"(graph (float[3,4] x) => (z, y) { float[1,4] a = Slice(x, %s int64[1] = {0}, %e int64[1] = {1})  z = Exp(a)
                y = Squeeze(a, %s) })",
      }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), ElementsAre(HasSubstr("another reader"))) << text;
  }
}

TEST(MergeGathers, RefusesSlicesThatOverlap) {
  const Graph graph = Parse(R"(
      graph (float[6] x) => (y, z) {
        float[3] a = Gather(x, %i int64[3] = {1,2,3})  y = Slice(a, %o int64[1] = {0}, %e int64[1] = {2})
        z = Slice(a, %s int64[1] = {1}, %f int64[1] = {3}) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("overlap"), HasSubstr("overlap")));
}

TEST(MergeGathers, RefusesSlicesOfMoreOrNone) {
  for (
      const std::string_view text : {
          R"(graph (float[N,4] x) => (y) { a = Slice(x, %s int64[1] = {-1}, %e int64[1] = {0})  y = Squeeze(a, %o int64[1] = {0}) })",
          R"(graph (float[N,4] x) => (y) { a = Slice(x, %s int64[1] = {0}, %e int64[1] = {-1})  y = Squeeze(a, %o int64[1] = {0}) })",
          R"(graph (float[N,4] x) => (y) { a = Slice(x, %s int64[1] = {2}, %e int64[1] = {4})  y = Squeeze(a, %o int64[1] = {0}) })",
      }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), ElementsAre(HasSubstr("more than one"))) << text;
  }
  const Graph empty = Parse(R"(
      graph (float[3,4] x) => (y) { a = Slice(x, %s int64[1] = {3}, %e int64[1] = {4})  y = Squeeze(a, %o int64[1] = {0}) })");
  EXPECT_THAT(RefusalsOf(kRule, empty), ElementsAre(HasSubstr("empty")));
}

TEST(MergeGathers, LeavesOtherAxesAndTables) {
  for (
      const std::string_view text : {
          R"(graph (float[6,6] x) => (y) { float[2,6] a = Gather(x, %i int64[2] = {1,2})  y = Gather<axis=1>(a, %j int64[] = {0}) })",
          R"(graph (float[6,6] x) => (y) { float[1,2,6] a = Gather(x, %i int64[1,2])  y = Gather(a, %j int64[] = {0}) })",
          R"(graph (float[6] x, int64[2] i) => (y) { float[2] a = Gather(x, i)  y = Gather(a, %j int64[] = {0}) })",
          R"(graph (float[1,4] x) => (y) { a = Slice(x, %s int64[1] = {0}, %e int64[1] = {1})  y = Squeeze(a) })",
      }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace rlc
