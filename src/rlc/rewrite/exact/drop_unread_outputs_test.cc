#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DropUnreadOutputs, DropsAMask) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { y, mask = Dropout(x) })");
  EXPECT_THAT(ApplyRule("drop-unread-outputs", graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Dropout"}));
  EXPECT_EQ(graph.node(graph.nodes()[0]).outputs.size(), 1U);
}

TEST(DropUnreadOutputs, KeepsAMaskThatIsRead) {
  const Graph graph = Parse(R"(
      graph (float[2] x) => (y, m) { y, m = Dropout(x) })");
  EXPECT_THAT(RefusalsOf("drop-unread-outputs", graph), IsEmpty());
}

TEST(DropUnreadOutputs, KeepsTrainingStatistics) {
  const Graph graph = Parse(R"(
      graph (float[2,2] x) => (y) { y, m, v = BatchNormalization<training_mode=1>(x, %s float[2], %b float[2], %mean float[2], %var float[2]) })");
  EXPECT_THAT(RefusalsOf("drop-unread-outputs", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
