#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rlc/ir/text.h"
#include "rlc/ir/verify.h"
#include "rlc/prune/groups.h"
#include "rlc/prune/importance.h"
#include "rlc/prune/removal.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph Parse(std::string_view text) {
  auto graph = ParseGraphText(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

std::string Reason(const Graph& graph) {
  const auto group = FindChannelGroup(graph, graph.nodes().front());
  return group ? "not refused" : group.error().message;
}

std::string Reason(std::string_view rest) {
  return Reason(
      Parse(fmt::format("graph (float[1,2,8,8] x, float[1,4,8,8] o) => (y) {{"
                        "  float[1,4,8,8] c = Conv(x, %w float[4,2,1,1], %b float[4]) {} }}",
                        rest)));
}

Graph Pruned(Graph graph, std::vector<int64_t> keep) {
  const auto group = FindChannelGroup(graph, graph.nodes().front());
  EXPECT_TRUE(group) << group.error().message;
  if (group) RemoveChannels(graph, *group, keep);
  const auto verified = VerifyGraph(graph);
  EXPECT_TRUE(verified) << verified.error().message;
  return graph;
}

std::vector<int64_t> DimsOf(const Graph& graph, size_t node, size_t input) {
  return graph.constant(graph.node(graph.nodes()[node]).input(input))->dims();
}

TEST(SliceChannels, KeepsWholeBlocksOfAnyAxis) {
  const Tensor t = Tensor::Of<int32_t>({2, 4}, {0, 1, 2, 3, 10, 11, 12, 13});
  const auto values = [](const Tensor& tensor) {
    return std::vector<int32_t>(tensor.data<int32_t>().begin(), tensor.data<int32_t>().end());
  };
  EXPECT_THAT(values(SliceChannels(t, 1, std::vector<int64_t>{0, 3}, 1)), ElementsAre(0, 3, 10, 13));
  EXPECT_THAT(values(SliceChannels(t, 1, std::vector<int64_t>{1}, 2)), ElementsAre(2, 3, 12, 13));
  EXPECT_THAT(values(SliceChannels(t, 0, std::vector<int64_t>{1}, 1)), ElementsAre(10, 11, 12, 13));
}

TEST(RemoveChannels, GoesThroughNormalizationActivationDepthwiseAndPooling) {
  const Graph graph = Pruned(Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        float[1,4,8,8] c = Conv(x, %w float[4,2,1,1], %b float[4])
        float[1,4,8,8] n = BatchNormalization(c, %scale float[4], %bias float[4], %mean float[4], %var float[4])
        float[1,4,8,8] r = Relu(n)
        float[1,4,8,8] d = Conv<group=4, pads=[1,1,1,1]>(r, %dw float[4,1,3,3], %db float[4])
        float[1,4,4,4] m = MaxPool<kernel_shape=[2,2], strides=[2,2]>(d)
        float[1,3,4,4] y = Conv(m, %v float[3,4,1,1])
      })"),
                             {1, 2});
  EXPECT_THAT(DimsOf(graph, 0, 1), ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(DimsOf(graph, 0, 2), ElementsAre(2));
  for (size_t i = 1; i <= 4; ++i) EXPECT_THAT(DimsOf(graph, 1, i), ElementsAre(2));
  EXPECT_THAT(DimsOf(graph, 3, 1), ElementsAre(2, 1, 3, 3));
  EXPECT_EQ(graph.node(graph.nodes()[3]).GetInt("group", 1), 2);
  EXPECT_THAT(DimsOf(graph, 5, 1), ElementsAre(3, 2, 1, 1));
  EXPECT_EQ(ToString(graph.type(graph.Find("m"))), "float[1,2,4,4]");
}

TEST(RemoveChannels, FlattenMakesEachChannelSeveralRows) {
  const Graph graph = Pruned(Parse(R"(
      graph (float[1,2,2,2] x) => (y) {
        float[1,3,2,2] c = Conv(x, %w float[3,2,1,1])
        float[1,12] f = Flatten(c)
        float[1,2] y = Gemm<transB=1>(f, %v float[2,12] = {0,1,2,3,4,5,6,7,8,9,10,11,20,21,22,23,24,25,26,27,28,29,30,31})
      })"),
                             {0, 2});
  const auto v = graph.constant(graph.node(graph.nodes()[2]).input(1))->data<float>();
  EXPECT_THAT(std::vector<float>(v.begin(), v.end()),
              ElementsAre(0, 1, 2, 3, 8, 9, 10, 11, 20, 21, 22, 23, 28, 29, 30, 31));
}

TEST(RemoveChannels, ReshapeToTwoDimensionsFollows) {
  const Graph graph = Pruned(Parse(R"(
      graph (float[1,2,2,2] x) => (y) {
        float[1,3,2,2] c = Conv(x, %w float[3,2,1,1])
        float[1,12] f = Reshape(c, %shape int64[2] = {-1, 12})
        float[1,2] y = MatMul(f, %v float[12,2])
      })"),
                             {1});
  const auto shape = graph.constant(graph.node(graph.nodes()[1]).input(1))->data<int64_t>();
  EXPECT_THAT(std::vector<int64_t>(shape.begin(), shape.end()), ElementsAre(-1, 4));
  EXPECT_THAT(DimsOf(graph, 2, 1), ElementsAre(4, 2));
}

TEST(RemoveChannels, ConstantsPerChannelAndHardSwishByHand) {
  const Graph graph = Pruned(Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        float[1,4,8,8] c = Conv(x, %w float[4,2,1,1])
        float[1,4,8,8] s = Add(c, %shift float[4,1,1])
        float[1,4,8,8] h = HardSigmoid(s)
        float[1,4,8,8] m = Mul(s, h)
        float[1,4,8,8] q = Mul(m, %scalar float[])
        float[1,3,8,8] y = Conv(q, %v float[3,4,1,1])
      })"),
                             {3});
  EXPECT_THAT(DimsOf(graph, 1, 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(DimsOf(graph, 4, 1), ElementsAre());
  EXPECT_THAT(DimsOf(graph, 5, 1), ElementsAre(3, 1, 1, 1));
}

TEST(RemoveChannels, SharedConstantsAreCopied) {
  const Graph graph = Pruned(Parse(R"(
      graph (float[1,4,8,8] x) => (y, z) {
        c = Conv(x, %w float[4,4,1,1])
        y = Conv(c, %v float[4,4,1,1])
        z = Conv(x, %v)
      })"),
                             {0});
  EXPECT_THAT(DimsOf(graph, 1, 1), ElementsAre(4, 1, 1, 1));
  EXPECT_THAT(DimsOf(graph, 2, 1), ElementsAre(4, 4, 1, 1));
}

TEST(RemoveChannels, QuantizedLayersLoseTheirScalesToo) {
  const Graph graph = Pruned(Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        c = Conv(x, %w float[4,2,1,1])
        q = QuantizeLinear(c, %s float[] = {0.1}, %z uint8[] = {0})
        d = DequantizeLinear<axis=1>(q, %ss float[4], %zs uint8[4])
        wd = DequantizeLinear<axis=1>(%wq int8[3,4,1,1], %ws float[4], %wz int8[4])
        y = Conv(d, wd)
      })"),
                             {0, 1});
  EXPECT_THAT(DimsOf(graph, 2, 1), ElementsAre(2));
  EXPECT_THAT(DimsOf(graph, 2, 2), ElementsAre(2));
  EXPECT_THAT(DimsOf(graph, 3, 0), ElementsAre(3, 2, 1, 1));
  EXPECT_THAT(DimsOf(graph, 3, 1), ElementsAre(2));
}

TEST(FindChannelGroup, NamesTheActivationWhoseEnergyCounts) {
  const Graph graph = Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        c = Conv(x, %w float[4,2,1,1])
        n = BatchNormalization(c, %scale float[4], %bias float[4], %mean float[4], %var float[4])
        r = Relu(n)
        m = MaxPool<kernel_shape=[2,2]>(r)
        y = Conv(m, %v float[3,4,1,1])
      })");
  EXPECT_EQ(graph.value(FindChannelGroup(graph, graph.nodes().front())->activation).name, "r");
}

TEST(FindChannelGroup, RefusesWhatMixesChannelsOtherwise) {
  EXPECT_THAT(Reason("y = Add(c, o)"), HasSubstr("meet others in Add 'y'"));
  EXPECT_THAT(Reason("y = Concat<axis=1>(c, o)"), HasSubstr("Concat 'y'"));
  EXPECT_THAT(Reason("y = Relu(c)"), HasSubstr("graph's output 'y'"));
  EXPECT_THAT(Reason("y = Softmax<axis=1>(c)"), HasSubstr("Softmax"));
  EXPECT_THAT(Reason("y = com.example::Relu(c)"), HasSubstr("does not follow"));
  EXPECT_THAT(Reason("y = Conv<group=2>(c, %v float[2,2,1,1])"), HasSubstr("2 groups"));
  EXPECT_THAT(Reason("y = Conv(o, c)"), HasSubstr("Conv 'y'"));
  EXPECT_THAT(Reason("y = Conv(c, %v float[3,5,1,1])"), HasSubstr("does not have 4 entries"));
  EXPECT_THAT(
      Reason("n, m, v = BatchNormalization<training_mode=1>(c, %s float[4], %t float[4], %u float[4], %var float[4])"
             " y = Conv(n, %v2 float[1,4,1,1])"),
      HasSubstr("BatchNormalization"));
  EXPECT_THAT(
      Reason("g = GlobalAveragePool(c) e = Conv(g, %v float[4,4,1,1]) m = Mul(c, e) y = Conv(m, %u float[1,4,1,1])"),
      HasSubstr("meet others"));
}

TEST(FindChannelGroup, RefusesReadersInBodies) {
  EXPECT_THAT(Reason(Parse(R"(
      graph (float[1,2,8,8] x, bool[] p) => (y) {
        c = Conv(x, %w float[4,2,1,1])
        y = If<then_branch=graph () => (t) { t = Relu(c) }, else_branch=graph () => (e) { e = Neg(c) }>(p)
      })")),
              HasSubstr("inside If"));
}

TEST(FindChannelGroup, RefusesGroupedConvsNonConstantWeightsAndSingleChannels) {
  EXPECT_THAT(Reason(Parse("graph (float[1,4,8,8] x) => (y) { c = Conv<group=2>(x, %w float[4,2,1,1]) y = Conv(c, %v "
                           "float[1,4,1,1]) }")),
              HasSubstr("grouped"));
  EXPECT_THAT(
      Reason(
          Parse("graph (float[1,4,8,8] x, float[4,4,1,1] w) => (y) { c = Conv(x, w) y = Conv(c, %v float[1,4,1,1]) }")),
      HasSubstr("not constant"));
  EXPECT_THAT(Reason(Parse(
                  "graph (float[1,4,8,8] x) => (y) { c = Conv(x, %w float[1,4,1,1]) y = Conv(c, %v float[1,1,1,1]) }")),
              HasSubstr("single"));
  EXPECT_THAT(Reason(Parse("graph (float[1,4] x) => (y) { y = Gemm(x, %w float[4,4]) }")), HasSubstr("only a Conv"));
}

TEST(KeepChannels, KeepsTheMostImportantInMultiples) {
  const std::vector<double> importance{5, 1, 4, 2, 3, 3, 0, 9};
  EXPECT_THAT(KeepChannels(importance, 0.5, 1), ElementsAre(0, 2, 4, 7));
  EXPECT_THAT(KeepChannels(importance, 0.6, 1), ElementsAre(0, 2, 4, 7)) << "3.2 channels round up";
  EXPECT_THAT(KeepChannels(importance, 0.9, 1), ElementsAre(7));
  EXPECT_THAT(KeepChannels(importance, 0.9, 4), ElementsAre(0, 2, 4, 7));
  EXPECT_EQ(KeepChannels(importance, 0.1, 16).size(), 8U);
  EXPECT_EQ(KeepChannels(std::vector<double>(10, 1), 0.9, 1).size(), 1U);
}

TEST(ChannelEnergy, SumsMagnitudesOverBatchesAndRefusesBadSamples) {
  ChannelEnergy energy;
  const std::vector<int64_t> dims{2, 2, 1, 2};
  ASSERT_TRUE(energy.Add("r", std::vector<float>{1, -1, 2, 2, 0, 3, -4, 0}, dims));
  ASSERT_TRUE(energy.Add("r", std::vector<float>{1, -1, 2, 2, 0, 3, -4, 0}, dims));
  EXPECT_THAT(*energy.Find("r"), ElementsAre(10, 16));
  EXPECT_EQ(energy.Find("s"), nullptr);
  EXPECT_FALSE(energy.Add("r", std::vector<float>{1, 2, 3}, std::vector<int64_t>{1, 3}));
  EXPECT_FALSE(energy.Add("r", std::vector<float>{1, 2, 3}, dims));
  EXPECT_FALSE(energy.Add("n", std::vector<float>{1, std::nanf("")}, std::vector<int64_t>{1, 2}));
  EXPECT_THAT(*energy.Find("r"), ElementsAre(10, 16));
  ChannelEnergy other;
  ASSERT_TRUE(other.Add("r", std::vector<float>{1, 1}, std::vector<int64_t>{1, 2}));
  ASSERT_TRUE(energy.Merge(other));
  EXPECT_THAT(*energy.Find("r"), ElementsAre(11, 17));
}

TEST(WeightL1, SumsEachOutputChannel) {
  EXPECT_THAT(*WeightL1(Tensor::Of<float>({2, 2}, {1, -2, 0.5, 0})), ElementsAre(3, 0.5));
  EXPECT_FALSE(WeightL1(Tensor::Of<int8_t>({2}, {1, 2})));
}

}  // namespace
}  // namespace rlc
