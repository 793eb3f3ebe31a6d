#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MergeSqueezes, ShiftsInnerAxesOfUnsqueeze) {
  Graph graph = Parse(R"(
      graph (float[2,3] x) => (y) { float[2,1,3] a = Unsqueeze(x, %ka int64[1] = {1})  float[1,2,1,3] y = Unsqueeze(a, %b int64[1] = {0}) })");
  EXPECT_THAT(ApplyRule("merge-squeezes", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Unsqueeze"}));
  EXPECT_THAT(*graph.constant(graph.node(graph.nodes()[0]).inputs[1])->ToInt64s(), ElementsAre(0, 2));
}

TEST(MergeSqueezes, ShiftsOuterAxesOfSqueeze) {
  Graph graph = Parse(R"(
      <opset 11>
      graph (float[1,2,1,3,1] x) => (y) { float[2,1,3,1] a = Squeeze<axes=[0]>(x)  float[2,3] y = Squeeze<axes=[1,-1]>(a) })");
  EXPECT_THAT(ApplyRule("merge-squeezes", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Squeeze"}));
  EXPECT_THAT(*graph.node(graph.nodes()[0]).GetInts("axes"), ElementsAre(0, 2, 4));
}

TEST(MergeSqueezes, RefusesASqueezeWithoutAxes) {
  const Graph graph = Parse(R"(
      graph (float[1,2,1,3] x) => (y) { float[2,1,3] a = Squeeze(x, %ka int64[1] = {0})  y = Squeeze(a) })");
  EXPECT_THAT(RefusalsOf("merge-squeezes", graph), ElementsAre(HasSubstr("not known")));
}

}  // namespace
}  // namespace rlc
