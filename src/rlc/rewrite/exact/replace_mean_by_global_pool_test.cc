#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "replace-mean-by-global-pool";

TEST(ReplaceMeanByGlobalPool, TakesBothFormsOfAxes) {
  Graph attribute = Parse(R"(<opset 13> graph (float[N,3,H,W] x) => (y) { y = ReduceMean<axes=[-1,2]>(x) })");
  EXPECT_THAT(ApplyRule(kRule, attribute), ElementsAre("y"));
  EXPECT_THAT(attribute, OpsAre({"GlobalAveragePool"}));
  Graph input = Parse(
      R"(<opset 18> graph (float[N,3,H,4,W] x) => (y) { y = ReduceMean<keepdims=1>(x, %a int64[3] = {4,2,-2}) })");
  EXPECT_THAT(ApplyRule(kRule, input), ElementsAre("y"));
  EXPECT_THAT(input, OpsAre({"GlobalAveragePool"}));
}

TEST(ReplaceMeanByGlobalPool, RefusesToDropAxes) {
  const Graph graph =
      Parse(R"(<opset 13> graph (float[1,3,4,5] x) => (y) { y = ReduceMean<axes=[2,3], keepdims=0>(x) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("drops")));
}

TEST(ReplaceMeanByGlobalPool, RefusesTheMeansOfANormalization) {
  const Graph graph = Parse(R"(
      <opset 13> graph (float[1,3,4,5] x) => (y) {
        m = ReduceMean<axes=[2,3]>(x)  d = Sub(x, m)  float[1,3,4,5] p = Pow(d, %two float[] = {2})
        y = ReduceMean<axes=[2,3]>(p)
      })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("normalization"), HasSubstr("normalization")));
}

TEST(ReplaceMeanByGlobalPool, RefusesDoubles) {
  const Graph graph = Parse(R"(<opset 13> graph (double[1,3,4,5] x) => (y) { y = ReduceMean<axes=[2,3]>(x) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("double")));
}

TEST(ReplaceMeanByGlobalPool, RefusesIntegers) {
  const Graph graph = Parse(R"(<opset 13> graph (int32[1,3,4,5] x) => (y) { y = ReduceMean<axes=[2,3]>(x) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("int32")));
}

TEST(ReplaceMeanByGlobalPool, RefusesEmptyImages) {
  const Graph graph = Parse(R"(<opset 13> graph (float[1,3,4,0] x) => (y) { y = ReduceMean<axes=[2,3]>(x) })");
  EXPECT_THAT(RefusalsOf(kRule, graph), ElementsAre(HasSubstr("empty")));
}

TEST(ReplaceMeanByGlobalPool, LeavesOtherAxes) {
  for (const std::string_view text : {
           R"(<opset 13> graph (float[1,3,4,5] x) => (y) { y = ReduceMean<axes=[2]>(x) })",
           R"(<opset 13> graph (float[1,3,4,5] x) => (y) { y = ReduceMean<axes=[1,2,3]>(x) })",
           R"(<opset 13> graph (float[1,3,4,5] x) => (y) { y = ReduceMean<axes=[2,2]>(x) })",
           R"(<opset 13> graph (float[1,3,4,5] x) => (y) { y = ReduceMean(x) })",
           R"(<opset 13> graph (float[3,4,5] x) => (y) { y = ReduceMean<axes=[2]>(x) })",
           R"(<opset 13> graph (x) => (y) { y = ReduceMean<axes=[2,3]>(x) })",
       }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace rlc
