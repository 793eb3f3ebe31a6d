#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CancelUnsqueezeSqueeze, DropsThePair) {
  Graph graph = Parse(R"(
      graph (float[2,3] x) => (y) { float[2,1,3] a = Unsqueeze(x, %ka int64[1] = {1})  b = Squeeze(a, %kb int64[1] = {-2})  y = Relu(b) })");
  EXPECT_THAT(ApplyRule("cancel-unsqueeze-squeeze", graph), ElementsAre("b"));
  EXPECT_THAT(graph, OpsAre({"Relu"}));
}

TEST(CancelUnsqueezeSqueeze, DropsTheOtherWayRound) {
  Graph graph = Parse(R"(
      <opset 11>
      graph (float[2,1] x) => (y) { float[2] a = Squeeze<axes=[1]>(x)  b = Unsqueeze<axes=[1]>(a)  y = Relu(b) })");
  EXPECT_THAT(ApplyRule("cancel-unsqueeze-squeeze", graph), ElementsAre("b"));
  EXPECT_THAT(graph, OpsAre({"Relu"}));
}

TEST(CancelUnsqueezeSqueeze, RefusesOtherAxes) {
  const Graph graph = Parse(R"(
      graph (float[1,3] x) => (y) { float[1,1,3] a = Unsqueeze(x, %ka int64[1] = {1})  y = Squeeze(a, %b int64[1] = {0}) })");
  EXPECT_THAT(RefusalsOf("cancel-unsqueeze-squeeze", graph), ElementsAre(HasSubstr("differ")));
}

}  // namespace
}  // namespace rlc
