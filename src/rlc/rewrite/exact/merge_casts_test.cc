#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MergeCasts, SkipsExactWidening) {
  Graph graph = Parse(R"(
      graph (int8[2] x) => (y) { int32[2] a = Cast<to=6>(x)  y = Cast<to=3>(a) })");
  EXPECT_THAT(ApplyRule("merge-casts", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Cast"}));
}

TEST(MergeCasts, RefusesHalfInTheMiddle) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { float16[2] a = Cast<to=10>(x)  y = Cast<to=1>(a) })");
  EXPECT_THAT(RefusalsOf("merge-casts", graph), ElementsAre(HasSubstr("without loss")));
}

TEST(MergeCasts, RefusesFloatToIntToBool) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y) { int32[2] a = Cast<to=6>(x)  y = Cast<to=9>(a) })");
  EXPECT_THAT(RefusalsOf("merge-casts", graph), ElementsAre(HasSubstr("without loss")));
}

TEST(MergeCasts, RefusesLargeIntegersInFloat) {
  const Graph graph = Parse(R"(
      graph (int32[2] x) => (y) { float[2] a = Cast<to=1>(x)  y = Cast<to=6>(a) })");
  EXPECT_THAT(RefusalsOf("merge-casts", graph), ElementsAre(HasSubstr("without loss")));
}

TEST(MergeCasts, RefusesSignedInUnsigned) {
  const Graph graph = Parse(R"(
      graph (int8[2] x) => (y) { uint16[2] a = Cast<to=4>(x)  y = Cast<to=6>(a) })");
  EXPECT_THAT(RefusalsOf("merge-casts", graph), ElementsAre(HasSubstr("without loss")));
}

}  // namespace
}  // namespace rlc
