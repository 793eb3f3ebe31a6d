#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "merge-conv-pairs";

TEST(MergeConvPairs, MultipliesTheMatrices) {
  Graph graph = Parse(R"(
      graph (float[1,2,4,4] x) => (y) {
        a = Conv(x, %v float[2,2,1,1] = {1,2,3,4}, %p float[2] = {1,-1})
        y = Conv<strides=[2,2]>(a, %w float[1,2,1,1] = {10,1}, %q float[1] = {5}) })");
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"Conv"}));
  const Node& conv = graph.node(graph.nodes()[0]);
  EXPECT_THAT(*graph.constant(conv.inputs[1]), SameTensor(Tensor::Of<float>({1, 2, 1, 1}, {13, 24})));
  EXPECT_THAT(*graph.constant(conv.inputs[2]), SameTensor(Tensor::Of<float>({1}, {14})));
}

TEST(MergeConvPairs, KeepsPaddingWithoutAnInnerBias) {
  Graph graph = Parse(R"(
      graph (float[1,2,4] x) => (y) {
        a = Conv(x, %v float[1,2,1] = {1,2})  b = Conv<auto_pad="SAME_UPPER">(a, %w float[1,1,3] = {1,2,3})  y = Relu(b) })");
  EXPECT_THAT(ApplyRule(kRule, graph), IsEmpty());  // 6 products a pixel instead of 2 + 3
  Graph wide = Parse(R"(
      graph (float[1,1,4] x) => (y) {
        a = Conv(x, %v float[2,1,1] = {1,2})  b = Conv<auto_pad="SAME_UPPER">(a, %w float[1,2,2] = {1,2,3,4})  y = Relu(b) })");
  EXPECT_THAT(ApplyRule(kRule, wide), ElementsAre("b"));
  EXPECT_THAT(*wide.constant(wide.node(wide.nodes()[0]).inputs[1]), SameTensor(Tensor::Of<float>({1, 1, 2}, {7, 10})));
}

TEST(MergeConvPairs, Refusals) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"(graph (float[1,8,4,4] x) => (y) { a = Conv(x, %v float[1,8,1,1])  y = Conv(a, %w float[8,1,1,1]) })",
       "dearer"},
      {R"(graph (float[1,2,4,4] x) => (a, y) { a = Conv(x, %v float[2,2,1,1])  y = Conv(a, %w float[1,2,1,1]) })",
       "another reader"},
      {R"(graph (float[1,1,4,4] x) => (y) {
            a = Conv(x, %v float[4,1,1,1], %p float[4])  y = Conv<pads=[1,1,1,1]>(a, %w float[1,4,3,3]) })",
       "pads with zeros"},
      {R"(graph (float[1,2,4,4] x, float[2] p) => (y) {
            a = Conv(x, %v float[2,2,1,1], p)  y = Conv(a, %w float[1,2,1,1]) })",
       "not constant"},
  };
  for (const auto& [text, reason] : cases) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), ElementsAre(HasSubstr(std::string(reason)))) << text;
  }
}

TEST(MergeConvPairs, LeavesGroupsAndKernels) {
  for (
      const std::string_view text : {
          R"(graph (float[1,2,4,4] x) => (y) { a = Conv<group=2>(x, %v float[2,1,1,1])  y = Conv(a, %w float[1,2,1,1]) })",
          R"(graph (float[1,2,4,4] x) => (y) { a = Conv(x, %v float[2,2,2,2])  y = Conv(a, %w float[1,2,1,1]) })",
          R"(graph (float[1,2,4,4] x) => (y) { a = Conv<strides=[2,2]>(x, %v float[2,2,1,1])  y = Conv(a, %w float[1,2,1,1]) })",
          R"(graph (float[1,2,4,4] x) => (y) { a = Conv<pads=[1,0,0,0]>(x, %v float[2,2,1,1])  y = Conv(a, %w float[1,2,1,1]) })",
      }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace rlc
