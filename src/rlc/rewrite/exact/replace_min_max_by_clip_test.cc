#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ReplaceMinMaxByClip, ReadsBothOrders) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y, z) {
        float[2] a = Max(x, %l float[] = {0})  y = Min(%h float[1] = {6}, a)
        float[2] b = Min(x, %h)  z = Max(b, %l) })");
  EXPECT_THAT(ApplyRule("replace-min-max-by-clip", graph), ElementsAre("y", "z"));
  EXPECT_THAT(graph, OpsAre({"Clip", "Clip"}));
}

TEST(ReplaceMinMaxByClip, RefusesCrossedBoundsUnderMax) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (z) { float[2] b = Min(x, %h float[] = {-1})  z = Max(b, %l float[] = {1}) })");
  EXPECT_THAT(RefusalsOf("replace-min-max-by-clip", graph), ElementsAre(HasSubstr("cross")));
}

TEST(ReplaceMinMaxByClip, RefusesIntegers) {
  const Graph graph = Parse(R"(
      graph (int32[2] x) => (y) { int32[2] a = Max(x, %l int32[] = {0})  y = Min(a, %h int32[] = {6}) })");
  EXPECT_THAT(RefusalsOf("replace-min-max-by-clip", graph), ElementsAre(HasSubstr("float types")));
}

TEST(ReplaceMinMaxByClip, LeavesABoundThatWidens) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { float[3,2] a = Max(x, %l float[3,1] = {0,0,0})  y = Min(a, %h float[] = {6}) })");
  EXPECT_THAT(RefusalsOf("replace-min-max-by-clip", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
