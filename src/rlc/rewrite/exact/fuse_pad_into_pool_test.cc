#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FusePadIntoPool, CountsThePaddedZeros) {
  Graph graph = Parse(R"(
      graph (float[1,2,5,5] x) => (y) { a = Pad(x, %p int64[8] = {0,0,1,1,0,0,1,1})  y = AveragePool<kernel_shape=[2,2]>(a) })");
  EXPECT_THAT(ApplyRule("fuse-pad-into-pool", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"AveragePool"}));
  EXPECT_EQ(graph.node(graph.nodes()[0]).GetInt("count_include_pad", 0), 1);
}

TEST(FusePadIntoPool, RefusesAPoolThatDoesNotCountItsOwnPads) {
  const Graph graph = Parse(R"(
      graph (float[1,2,5,5] x) => (y) { a = Pad(x, %p int64[8] = {0,0,1,1,0,0,1,1})  y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(a) })");
  EXPECT_THAT(RefusalsOf("fuse-pad-into-pool", graph), ElementsAre(HasSubstr("own pads")));
}

TEST(FusePadIntoPool, RefusesAZeroThatCanBeTheMaximum) {
  const Graph graph = Parse(R"(
      graph (float[1,2,5,5] x) => (y) { a = Pad(x, %p int64[8] = {0,0,1,1,0,0,1,1})  y = MaxPool<kernel_shape=[2,2]>(a) })");
  EXPECT_THAT(RefusalsOf("fuse-pad-into-pool", graph), ElementsAre(HasSubstr("maximum")));
}

TEST(FusePadIntoPool, RefusesPadsAsLargeAsTheKernel) {
  const Graph graph = Parse(R"(
      graph (float[1,2,5,5] x) => (y) { a = Pad(x, %p int64[8] = {0,0,2,1,0,0,1,1})  y = AveragePool<kernel_shape=[2,2]>(a) })");
  EXPECT_THAT(RefusalsOf("fuse-pad-into-pool", graph), ElementsAre(HasSubstr("large as the kernel")));
}

}  // namespace
}  // namespace rlc
