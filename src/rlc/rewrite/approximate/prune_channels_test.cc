#include "rlc/rewrite/approximate/prune_channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rlc/ir/layers.h"
#include "rlc/ir/text.h"
#include "rlc/ir/verify.h"
#include "rlc/rewrite/approximate/quantize_layer.h"
#include "rlc/rewrite/approximate/resolve.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph Parse(std::string_view text) {
  auto graph = ParseGraphText(text);
  EXPECT_TRUE(graph) << graph.error().message;
  NumberLayers(*graph);
  return *std::move(graph);
}

Outcome TryPrune(const Graph& graph, int layer, const Json& keep) {
  Params params;
  params.values = Json{{"keep", keep}};
  return PruneChannels()->At(graph, FindLayer(graph, layer), params, {});
}

std::string Reason(const Graph& graph, int layer, const Json& keep) {
  const Outcome outcome = TryPrune(graph, layer, keep);
  return std::holds_alternative<Refusal>(outcome) ? std::get<Refusal>(outcome).reason : "not refused";
}

constexpr std::string_view kChain = R"(
    graph (float[1,2,8,8] x) => (y) {
      float[1,4,8,8] c = Conv(x, %w float[4,2,1,1])
      float[1,4,8,8] r = Relu(c)
      float[1,3,8,8] y = Conv(r, %v float[3,4,1,1])
    })";

TEST(PruneChannels, RemovesWhatThePlanDoesNotKeep) {
  Graph graph = Parse(kChain);
  const Outcome outcome = TryPrune(graph, 0, {0, 3});
  ASSERT_TRUE(std::holds_alternative<Edit>(outcome));
  std::get<Edit>(outcome)(graph);
  ASSERT_TRUE(VerifyGraph(graph));
  EXPECT_EQ(graph.constant(graph.node(FindLayer(graph, 0)).input(1))->dims(), (std::vector<int64_t>{2, 2, 1, 1}));
  EXPECT_EQ(graph.constant(graph.node(FindLayer(graph, 1)).input(1))->dims(), (std::vector<int64_t>{3, 2, 1, 1}));
  EXPECT_TRUE(std::holds_alternative<Refusal>(TryPrune(graph, 0, {0, 3}))) << "channel 3 is gone";
  EXPECT_TRUE(std::holds_alternative<NoMatch>(TryPrune(graph, 0, {0, 1}))) << "all are kept";
}

TEST(PruneChannels, RefusesBadParameters) {
  const Graph graph = Parse(kChain);
  EXPECT_THAT(Reason(graph, 0, Json::array()), HasSubstr("empty"));
  EXPECT_THAT(Reason(graph, 0, {0, 4}), HasSubstr("channel 4"));
  EXPECT_THAT(Reason(graph, 0, {-1, 2}), HasSubstr("channel -1"));
  EXPECT_THAT(Reason(graph, 0, {2, 1}), HasSubstr("ascending"));
  EXPECT_THAT(Reason(graph, 0, {1, 1}), HasSubstr("ascending"));
  EXPECT_THAT(Reason(graph, 0, "all"), HasSubstr("keep"));
  EXPECT_THAT(Reason(graph, 1, {0}), HasSubstr("output"));
}

TEST(ResolvePrune, KeepsTheChannelsWithTheMostEnergy) {
  const Graph graph = Parse(kChain);
  EXPECT_THAT(ValuesForEnergy(graph), ElementsAre("r"));
  ChannelEnergy energy;
  const std::vector<int64_t> dims{1, 4, 1, 1};
  ASSERT_TRUE(energy.Add("r", std::vector<float>{1, -9, 0.5, 3}, dims));
  const auto action = ResolvePrune(graph, 0, 0.5, energy, 1);
  ASSERT_TRUE(action) << action.error().message;
  EXPECT_EQ(action->rewrite, "prune-channels");
  EXPECT_EQ(action->site, "layer0");
  EXPECT_EQ(action->params.values["keep"], (Json{1, 3}));
}

TEST(ResolvePrune, FallsBackToWeightsAndRefusesWhenNothingWouldGo) {
  const Graph graph = Parse(kChain);
  EXPECT_TRUE(ResolvePrune(graph, 0, 0.5, {}, 1));
  EXPECT_THAT(ResolvePrune(graph, 0, 0.5, {}, 8).error().message, HasSubstr("none"));
  EXPECT_FALSE(ResolvePrune(graph, 0, 0, {}, 1));
  EXPECT_FALSE(ResolvePrune(graph, 0, 1, {}, 1));
  EXPECT_FALSE(ResolvePrune(graph, 7, 0.5, {}, 1));
}

// Both orders give a valid graph of the same sizes, from parameters that were resolved on the untouched one.
TEST(PruneChannels, ComposesWithQuantizeLayerInBothOrders) {
  const Graph original = Parse(kChain);
  Calibration calibration;
  for (const char* name : {"x", "r", "y"}) calibration.values[name] = QuantParams{0.01f, 0};
  const auto quantize = ResolveQuantize(original, 0, calibration, calibration.scheme);
  const auto prune = ResolvePrune(original, 0, 0.5, {}, 1);
  ASSERT_TRUE(quantize && prune);
  const auto apply = [](Graph& graph, const Rewrite& rule, const Action& action) {
    const Outcome outcome = rule.At(graph, rule.FindAnchor(graph, action.site), action.params, {});
    ASSERT_TRUE(std::holds_alternative<Edit>(outcome)) << action.rewrite;
    std::get<Edit>(outcome)(graph);
    const auto verified = VerifyGraph(graph);
    ASSERT_TRUE(verified) << verified.error().message;
  };
  Graph pruned_first = original, quantized_first = original;
  apply(pruned_first, *PruneChannels(), *prune);
  apply(pruned_first, *QuantizeLayer(), *quantize);
  apply(quantized_first, *QuantizeLayer(), *quantize);
  apply(quantized_first, *PruneChannels(), *prune);
  // Scales are per output channel of this layer, so the order cannot even be seen in the numbers.
  for (const Graph* graph : {&pruned_first, &quantized_first}) {
    const Node* weight = graph->producer(graph->node(FindLayer(*graph, 0)).input(1));
    EXPECT_EQ(graph->constant(weight->input(0))->dims(), (std::vector<int64_t>{2, 2, 1, 1}));
    EXPECT_EQ(graph->constant(weight->input(1))->dims(), (std::vector<int64_t>{2}));
    EXPECT_EQ(graph->constant(graph->node(FindLayer(*graph, 1)).input(1))->dims(), (std::vector<int64_t>{3, 2, 1, 1}));
    EXPECT_EQ(ToString(graph->type(graph->Find("r"))), "float[1,2,8,8]");
  }
}

}  // namespace
}  // namespace rlc
