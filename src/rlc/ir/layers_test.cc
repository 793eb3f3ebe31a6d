#include "rlc/ir/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rlc/testing/ir.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The first node of a graph with input `x` of the given shape.
LayerShape Described(std::string_view shape, std::string_view node) {
  const Graph graph = Parse(fmt::format("graph (float{} x) => (y) {{ y = {} }}", shape, node));
  const auto described = DescribeLayer(graph, graph.nodes()[0]);
  EXPECT_TRUE(described.has_value());
  return described.value_or(LayerShape());
}

TEST(Layers, AreNumberedInOrderOfConstantWeights) {
  Graph graph = Parse(R"(graph (float[1,4] x) => (d) {
      a = MatMul(x, %w float[4,4])
      b = MatMul(a, x)
      q = DequantizeLinear(%v int8[4,4], %s float[])
      c = Gemm(b, q)
      d = Conv(c, c)
    })");
  EXPECT_EQ(NumberLayers(graph), 2);
  EXPECT_EQ(graph.node(FindLayer(graph, 0)).op, "MatMul");
  EXPECT_EQ(graph.node(FindLayer(graph, 1)).op, "Gemm");
  EXPECT_EQ(FindLayer(graph, 2), NodeId::kNone);
  EXPECT_EQ(FindLayer(graph, -1), NodeId::kNone);
  EXPECT_EQ(DescribeLayer(graph, FindLayer(graph, 1))->weight_name, "v");
  EXPECT_FALSE(DescribeLayer(graph, graph.nodes()[1]).has_value());
}

TEST(Layers, DescribesConv) {
  const LayerShape shape = Described("[1,32,112,112]", "Conv<strides=[2,2], pads=[1,1,1,1]>(x, %w float[64,32,3,3])");
  EXPECT_THAT(shape.output, ElementsAre(1, 64, 56, 56));
  EXPECT_EQ(shape.macs, 56 * 56 * 64 * 32 * 9);
  EXPECT_EQ(shape.in_channels, 32);
  EXPECT_EQ(shape.out_channels, 64);
  EXPECT_FALSE(shape.depthwise());
  EXPECT_EQ(LayerSignature(shape), "conv 3x3/2 g1 32->64 @[1,32,112,112]");
}

TEST(Layers, DescribesDepthwiseAndDilatedConv) {
  const LayerShape shape = Described("[2,8,10,10]", "Conv<group=8, dilations=[2,1]>(x, %w float[16,1,3,3])");
  EXPECT_TRUE(shape.depthwise());
  EXPECT_THAT(shape.output, ElementsAre(2, 16, 6, 8));
  EXPECT_EQ(shape.macs, 2 * 16 * 6 * 8 * 9);
  EXPECT_EQ(LayerSignature(shape), "conv 3x3/1 d2x1 p0 g8 8->16 @[2,8,10,10]");
}

TEST(Layers, AutoPadIsTurnedIntoPads) {
  const LayerShape upper = Described("[1,1,5,6]", "Conv<auto_pad=\"SAME_UPPER\", strides=[2,2]>(x, %w float[1,1,3,3])");
  EXPECT_THAT(upper.pads, ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(upper.output, ElementsAre(1, 1, 3, 3));
  const LayerShape lower = Described("[1,1,5,6]", "Conv<auto_pad=\"SAME_LOWER\", strides=[2,2]>(x, %w float[1,1,3,3])");
  EXPECT_THAT(lower.pads, ElementsAre(1, 1, 1, 0));
  const LayerShape valid = Described("[1,1,5,6]", "Conv<auto_pad=\"VALID\">(x, %w float[1,1,3,3])");
  EXPECT_THAT(valid.output, ElementsAre(1, 1, 3, 4));
  const LayerShape unknown = Described("[1,1,N,6]", "Conv<auto_pad=\"SAME_UPPER\">(x, %w float[1,1,3,3])");
  EXPECT_THAT(unknown.pads, ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(unknown.output, IsEmpty());
  EXPECT_EQ(unknown.macs, -1);
  EXPECT_EQ(LayerSignature(unknown), "conv 3x3/1 p-1 g1 1->1 @?");
}

TEST(Layers, DescribesConvTranspose) {
  const LayerShape shape = Described("[1,8,5,5]",
                                     "ConvTranspose<strides=[2,2], output_padding=[1,1], pads=[1,1,1,1], "
                                     "group=2>(x, %w float[8,3,3,3])");
  EXPECT_THAT(shape.output, ElementsAre(1, 6, 10, 10));
  EXPECT_EQ(shape.macs, 25 * 8 * 3 * 9);
  const LayerShape same =
      Described("[1,8,5,5]", "ConvTranspose<strides=[2,2], auto_pad=\"SAME_UPPER\">(x, %w float[8,3,3,3])");
  EXPECT_THAT(same.output, ElementsAre(1, 3, 10, 10));
  EXPECT_THAT(same.pads, ElementsAre(0, 0, 1, 1));
  const LayerShape wanted =
      Described("[1,8,5,5]", "ConvTranspose<strides=[2,2], output_shape=[9,10]>(x, %w float[8,3,3,3])");
  EXPECT_THAT(wanted.output, ElementsAre(1, 3, 9, 10));
  EXPECT_THAT(wanted.pads, ElementsAre(1, 1, 1, 0));
}

TEST(Layers, DescribesGemmAndMatMul) {
  const LayerShape gemm = Described("[7,32]", "Gemm<transB=1>(x, %w float[10,32], %b float[10])");
  EXPECT_EQ(gemm.in_channels, 32);
  EXPECT_EQ(gemm.out_channels, 10);
  EXPECT_THAT(gemm.output, ElementsAre(7, 10));
  EXPECT_EQ(gemm.macs, 7 * 32 * 10);
  EXPECT_EQ(LayerSignature(gemm), "gemm 32->10 @[7,32]");
  const LayerShape matmul = Described("[2,5,32]", "MatMul(x, %w float[32,10])");
  EXPECT_THAT(matmul.output, ElementsAre(2, 5, 10));
  EXPECT_EQ(matmul.macs, 2 * 5 * 32 * 10);
  EXPECT_EQ(Described("[N,32]", "MatMul(x, %w float[32,10])").macs, -1);
}

TEST(Layers, NonsenseIsNotDescribed) {
  for (const char* node : {"Conv<strides=[0,0]>(x, %w float[1,1,3,3])", "Conv<pads=[1,1]>(x, %w float[1,1,3,3])",
                           "Conv<group=-1>(x, %w float[1,1,3,3])", "Conv(x, %w float[1,1,3])",
                           "Conv<pads=[0,0,0,9223372036854775807]>(x, %w float[1,1,3,3])",
                           "ConvTranspose<output_shape=[9223372036854775807,1]>(x, %w float[1,1,3,3])",
                           "Conv(x, %w float[3])", "Gemm(x, %w float[3])", "MatMul(x, %w float[])"}) {
    const Graph graph = Parse(fmt::format("graph (float[1,1,9,9] x) => (y) {{ y = {} }}", node));
    EXPECT_FALSE(DescribeLayer(graph, graph.nodes()[0]).has_value()) << node;
  }
}

}  // namespace
}  // namespace rlc
