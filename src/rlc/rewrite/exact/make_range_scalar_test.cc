#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(MakeRangeScalar, TakesConstantListsOfOne) {
  Graph graph = Parse(R"(
      graph (int64[1] n) => (y) { y = Range(%a int64[1] = {0}, n, %c int64[] = {2}) })");
  EXPECT_THAT(ApplyRule("make-range-scalar", graph), ElementsAre("y"));
  const Node& range = graph.node(graph.nodes()[0]);
  EXPECT_THAT(graph.constant(range.inputs[0])->dims(), IsEmpty());
  EXPECT_EQ(graph.value(range.inputs[1]).name, "n");
  EXPECT_THAT(ApplyRule("make-range-scalar", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
