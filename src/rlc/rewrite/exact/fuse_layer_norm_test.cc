#include <gtest/gtest.h>

#include "rlc/testing/rewrite_laws.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRule = "fuse-layer-norm";

// A norm of float[2,N] with gaps for what differs.
std::string NormText(std::string_view tail, std::string_view mean = "axes=[-1]", std::string_view epsilon = "{0.5}",
                     std::string_view outputs = "y") {
  return fmt::format(
      "graph (float[2,4] x) => ({}) {{ float[2,1] m = ReduceMean<{}>(x)  float[2,4] d = Sub(x, m)\n"
      "  float[2,4] p = Pow(d, %two float[] = {{2}})  float[2,1] v = ReduceMean<axes=[1]>(p)\n"
      "  float[2,1] e = Add(v, %eps float[] = {})  float[2,1] s = Sqrt(e)  float[2,4] q = Div(d, s)\n  {} }}",
      outputs, mean, epsilon, tail);
}

TEST(FuseLayerNorm, TakesScaleAndBias) {
  Graph graph = Parse(NormText("float[2,4] g = Mul(%g1 float[4], q)  y = Add(g, %b float[4])"));
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"LayerNormalization"}));
  const Node& norm = graph.node(graph.nodes()[0]);
  EXPECT_EQ(norm.inputs.size(), 3U);
  EXPECT_EQ(norm.GetFloat("epsilon", 0), 0.5F);
}

TEST(FuseLayerNorm, TakesAScaleAlone) {
  Graph graph = Parse(NormText("y = Mul(q, %g1 float[4])"));
  EXPECT_THAT(ApplyRule(kRule, graph), ElementsAre("y"));
  EXPECT_THAT(graph, OpsAre({"LayerNormalization"}));
  EXPECT_EQ(graph.node(graph.nodes()[0]).inputs.size(), 2U);
}

TEST(FuseLayerNorm, RefusesScalesThatAreNoRow) {
  EXPECT_THAT(RefusalsOf(kRule, Parse(NormText("y = Mul(q, %g1 float[3,1,4])"))), ElementsAre(HasSubstr("scale")));
  EXPECT_THAT(RefusalsOf(kRule, Parse(NormText("g = Mul(q, %g1 float[4])  h = Neg(g)  y = Add(g, h)", "axes=[-1]",
                                               "{0.5}", "q, y"))),
              ElementsAre(HasSubstr("another reader")));
}

TEST(FuseLayerNorm, LeavesOtherNorms) {
  const std::string scale = "y = Mul(q, %g1 float[4])";
  for (const std::string& text : {
           NormText(scale, "axes=[0]"),
           NormText(scale, "axes=[-1], keepdims=0"),
           NormText(scale, "axes=[-1]", "{-0.5}"),
           NormText(scale, "axes=[-1]", "{0.5}", "d, y"),
           NormText(scale, "axes=[-1]", "{0.5}", "v, y"),
           "<opset 13> " + NormText(scale),
       }) {
    EXPECT_THAT(RefusalsOf(kRule, Parse(text)), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace rlc
