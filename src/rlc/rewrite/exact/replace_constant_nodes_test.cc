#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ReplaceConstantNodes, MakesInitializers) {
  Graph graph = Parse(R"(
      graph (float[2] x) => (y) { c = Constant<value_float=2.0>()  y = Mul(x, c) })");
  EXPECT_THAT(ApplyRule("replace-constant-nodes", graph), ElementsAre("c"));
  EXPECT_THAT(graph, OpsAre({"Mul"}));
}

TEST(ReplaceConstantNodes, KeepsGraphOutputs) {
  const Graph graph = Parse(R"(
      graph () => (c) { c = Constant<value_float=2.0>() })");
  EXPECT_THAT(RefusalsOf("replace-constant-nodes", graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
