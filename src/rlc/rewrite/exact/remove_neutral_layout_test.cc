#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RemoveNeutralLayout, DropsAReshapeToTheSameShape) {
  Graph graph = Parse(R"(
      graph (float[N,3] x) => (y) { a = Reshape(x, %s int64[2] = {-1,3})  y = Neg(a) })");
  EXPECT_THAT(ApplyRule("remove-neutral-layout", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Neg"}));
}

TEST(RemoveNeutralLayout, DropsExpandToOnes) {
  Graph graph = Parse(R"(
      graph (float[3,4] x) => (y) { a = Expand(x, %s int64[2] = {1,1})  y = Neg(a) })");
  EXPECT_THAT(ApplyRule("remove-neutral-layout", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Neg"}));
}

TEST(RemoveNeutralLayout, DropsASliceOfEverything) {
  Graph graph = Parse(R"(
      graph (float[3,4] x) => (y) { a = Slice(x, %s int64[2] = {0,0}, %e int64[2] = {3,100})  y = Neg(a) })");
  EXPECT_THAT(ApplyRule("remove-neutral-layout", graph), ElementsAre("a"));
  EXPECT_THAT(graph, OpsAre({"Neg"}));
}

TEST(RemoveNeutralLayout, LeavesAReshapeThatMayDiffer) {
  const Graph graph = Parse(R"(
      graph (float[N,M] x) => (y) { a = Reshape(x, %s int64[2] = {-1,3})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-layout", graph), IsEmpty());
}

TEST(RemoveNeutralLayout, LeavesTwoOpenSizes) {
  const Graph graph = Parse(R"(
      graph (float[N,3] x) => (y) { a = Slice(x, %s int64[1] = {0}, %e int64[1] = {5})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-layout", graph), IsEmpty());
}

TEST(RemoveNeutralLayout, LeavesExpandToAHigherRank) {
  const Graph graph = Parse(R"(
      graph (float[4] x) => (y) { a = Expand(x, %s int64[2] = {1,1})  y = Neg(a) })");
  EXPECT_THAT(RefusalsOf("remove-neutral-layout", graph), IsEmpty());
}

TEST(RemoveNeutralLayout, DropsWhatLooksAtOneElementAtATime) {
  for (const char* node : {
           "MaxPool<kernel_shape=[1,1]>(x)",
           "AveragePool<kernel_shape=[1,1], pads=[0,0,0,0], strides=[1,1]>(x)",
           "DepthToSpace<blocksize=1>(x)",
           "Resize(x, _, %s float[4] = {1,1,1,1})",
           "Resize<mode=\"cubic\">(x, _, _, %s int64[4] = {1,2,4,1})",
           "ReduceMean<axes=[-1]>(x)",
           "ReduceMax<axes=[0,3], keepdims=1>(x)",
           "ReduceSum<noop_with_empty_axes=1>(x)",
           "ReduceSum(x, %axes int64[1] = {0})",
       }) {
    Graph graph = Parse(fmt::format("graph (float[1,2,4,1] x) => (y) {{ a = {}  y = Neg(a) }}", node));
    EXPECT_THAT(ApplyRule("remove-neutral-layout", graph), ElementsAre("a")) << node;
  }
}

TEST(RemoveNeutralLayout, LeavesWhatLooksAtMore) {
  for (const char* node : {
           "MaxPool<kernel_shape=[1,1], strides=[2,2]>(x)",
           "MaxPool<kernel_shape=[1,2]>(x)",
           "AveragePool<kernel_shape=[1,1], pads=[0,0,1,0]>(x)",
           "DepthToSpace<blocksize=2>(x)",
           "Resize(x, _, %s float[4] = {1,1,2,1})",
           "Resize<coordinate_transformation_mode=\"tf_crop_and_resize\">(x, %r float[8], %s float[4] = {1,1,1,1})",
           "Resize(x, _, _, %s int64[4] = {1,2,4,2})",
           "ReduceMean<axes=[2]>(x)",
           "ReduceMax<axes=[0,3], keepdims=0>(x)",
           "ReduceSum(x)",
           "ReduceL1<axes=[0]>(x)",
       }) {
    const Graph graph = Parse(fmt::format("graph (float[1,2,4,1] x) => (y) {{ a = {}  y = Neg(a) }}", node));
    EXPECT_THAT(RefusalsOf("remove-neutral-layout", graph), IsEmpty()) << node;
  }
}

}  // namespace
}  // namespace rlc
