#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "move-constants-into-bodies";

const Graph& BodyOf(const Graph& graph, std::string_view output, std::string_view attribute) {
  return **std::get_if<Body>(&graph.node(NodeOf(graph, output)).FindAttribute(attribute)->value);
}

TEST(MoveConstantsIntoBodies, MovesWhatOneBodyReads) {
  Graph graph = Parse(R"(
      graph (float[100] x, bool[] c) => (y) {
        %w float[100]
        y = If<then_branch=graph () => (float[100] t) { t = Mul(x, w) }, else_branch=graph () => (float[100] e) { e = Exp(x) }>(c)
      })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph.initializers(), IsEmpty());
  EXPECT_EQ(BodyOf(graph, "y", "then_branch").initializers().size(), 1U);
  EXPECT_THAT(BodyOf(graph, "y", "else_branch").initializers(), IsEmpty());
}

TEST(MoveConstantsIntoBodies, CopiesSmallOnes) {
  Graph graph = Parse(R"(
      graph (float[3] x, bool[] c) => (y) {
        %w float[3]
        a = If<then_branch=graph () => (float[3] t) { t = Mul(x, w) }, else_branch=graph () => (float[3] e) { e = Add(x, w) }>(c)
        y = Mul(a, w)
      })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("a"));
  EXPECT_EQ(graph.initializers().size(), 1U);
  EXPECT_EQ(BodyOf(graph, "a", "then_branch").initializers().size(), 1U);
  EXPECT_EQ(BodyOf(graph, "a", "else_branch").initializers().size(), 1U);
}

TEST(MoveConstantsIntoBodies, RefusesToStoreLargeOnesTwice) {
  const Graph graph = Parse(R"(
      graph (float[100] x, bool[] c) => (y) {
        %w float[100]
        y = If<then_branch=graph () => (float[100] t) { t = Mul(x, w) }, else_branch=graph () => (float[100] e) { e = Add(x, w) }>(c)
      })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("other readers")));
}

TEST(MoveConstantsIntoBodies, LeavesDefaultsThatACallerMayReplace) {
  const Graph graph = Parse(R"(
      graph (float[2] x, bool[] c, float[2] w = {1,2}) => (y) {
        y = If<then_branch=graph () => (float[2] t) { t = Mul(x, w) }, else_branch=graph () => (float[2] e) { e = Exp(x) }>(c)
      })");
  EXPECT_THAT(RefusalsOf(kRule, graph), IsEmpty());
}

}  // namespace
}  // namespace rlc
