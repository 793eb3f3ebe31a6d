#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RemoveDeadCode, RemovesChainsAndTheirWeights) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { a = Exp(x)  b = Mul(a, %w float[2])  y = Relu(x) })");
  EXPECT_THAT(ApplyRule("remove-dead-code", graph), ElementsAre("graph"));
  EXPECT_THAT(graph, OpsAre({"Relu"}));
  EXPECT_TRUE(graph.initializers().empty());
}

TEST(RemoveDeadCode, KeepsForeignOperators) {
  const Graph graph = Parse(R"(
      <opset 17, opset com.example 1>
      graph (float[2] x) => (y) { a = com.example::Log(x)  y = Relu(x) })");
  EXPECT_THAT(RefusalsOf("remove-dead-code", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
