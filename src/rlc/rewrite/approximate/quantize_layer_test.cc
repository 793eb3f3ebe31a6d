#include "rlc/rewrite/approximate/quantize_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rlc/ir/layers.h"
#include "rlc/ir/text.h"
#include "rlc/ir/verify.h"
#include "rlc/rewrite/approximate/resolve.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const Scheme kScheme{DType::kUint8, true};

Graph Parse(std::string_view text) {
  auto graph = ParseGraphText(text);
  EXPECT_TRUE(graph) << graph.error().message;
  NumberLayers(*graph);
  return *std::move(graph);
}

// A range for every value of the graph: [0, 2.55] behind Relu, Clip and Sigmoid, else [-1.27, 1.28].
Calibration Everything(const Graph& graph) {
  Calibration calibration{kScheme, {}};
  for (const ValueId value : graph.values()) {
    const Node* producer = graph.producer(value);
    const bool positive =
        producer != nullptr && (producer->Is("Relu") || producer->Is("Clip") || producer->Is("Sigmoid"));
    calibration.values[graph.value(value).name] =
        *ParamsForRange(positive ? 0 : -1.27, positive ? 2.55 : 1.28, kScheme);
  }
  return calibration;
}

Outcome TryQuantize(const Graph& graph, int layer, const Params& params) {
  const auto rule = QuantizeLayer();
  return rule->At(graph, FindLayer(graph, layer), params, {});
}

// Resolves against `original` and applies to `graph`.
void Quantize(Graph& graph, const Graph& original, int layer) {
  const auto action = ResolveQuantize(original, layer, Everything(original), kScheme);
  ASSERT_TRUE(action) << action.error().message;
  const Outcome outcome = TryQuantize(graph, layer, action->params);
  ASSERT_TRUE(std::holds_alternative<Edit>(outcome))
      << (std::holds_alternative<Refusal>(outcome) ? std::get<Refusal>(outcome).reason : "no match");
  std::get<Edit>(outcome)(graph);
  const auto verified = VerifyGraph(graph);
  ASSERT_TRUE(verified) << verified.error().message << "\n" << PrintGraph(graph);
  EXPECT_TRUE(std::holds_alternative<NoMatch>(TryQuantize(graph, layer, action->params))) << "a second time";
}

Graph Quantized(const Graph& original, const std::vector<int>& layers) {
  Graph graph = original;
  for (const int layer : layers) Quantize(graph, original, layer);
  return graph;
}

std::string ReasonAt(const Graph& graph, int layer, const Params& params) {
  const Outcome outcome = TryQuantize(graph, layer, params);
  return std::holds_alternative<Refusal>(outcome) ? std::get<Refusal>(outcome).reason : "not refused";
}

std::string Reason(const Graph& graph, int layer) {
  const auto action = ResolveQuantize(graph, layer, Everything(graph), kScheme);
  return action ? ReasonAt(graph, layer, action->params) : action.error().message;
}

// Ops in order without the dequantized constants.
std::vector<std::string> Ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.Is("DequantizeLinear") && graph.constant(node.input(0)) != nullptr) continue;
    ops.push_back(node.Is("QuantizeLinear") ? "Q" : node.Is("DequantizeLinear") ? "DQ" : node.op);
  }
  return ops;
}

// The op, its inputs and outputs as a nest of names that does not depend on made names: what computes each output.
std::string Formula(const Graph& graph, ValueId value, std::map<ValueId, std::string>& known) {
  if (const auto found = known.find(value); found != known.end()) return found->second;
  const Node* node = graph.producer(value);
  std::string text = node == nullptr ? graph.value(value).name : node->op + "(";
  if (const Tensor* tensor = graph.constant(value)) {
    text = fmt::format("[{}]", fmt::join(tensor->ToDoubles().value(), ","));
  } else if (node != nullptr) {
    for (const ValueId input : node->inputs) text += Formula(graph, input, known) + ",";
    text += ")";
  }
  return known[value] = text;
}

std::string Formula(const Graph& graph) {
  std::map<ValueId, std::string> known;
  std::string text;
  for (const ValueId output : graph.outputs())
    text += graph.value(output).name + "=" + Formula(graph, output, known) + ";";
  return text;
}

constexpr std::string_view kChain = R"(
    graph (float[1,2,8,8] x) => (y) {
      float[1,4,8,8] c0 = Conv<pads=[1,1,1,1]>(x, %w0 float[4,2,3,3], %b0 float[4])
      float[1,4,8,8] r0 = Relu(c0)
      float[1,4,8,8] c1 = Conv<pads=[1,1,1,1]>(r0, %w1 float[4,4,3,3], %b1 float[4])
      float[1,4,8,8] r1 = Clip(c1, %low float[] = {0}, %high float[] = {6})
      float[1,4,8,8] c2 = Conv<pads=[1,1,1,1]>(r1, %w2 float[4,4,3,3])
      float[1,4,8,8] y = Relu(c2)
    })";

constexpr std::string_view kResidual = R"(
    graph (float[1,4,8,8] x) => (y) {
      float[1,4,8,8] c0 = Conv<pads=[1,1,1,1]>(x, %w0 float[4,4,3,3], %b0 float[4])
      float[1,4,8,8] r0 = Relu(c0)
      float[1,4,8,8] c1 = Conv<pads=[1,1,1,1]>(r0, %w1 float[4,4,3,3], %b1 float[4])
      float[1,4,8,8] s = Add(c1, r0)
      float[1,4,8,8] rs = Relu(s)
      float[1,4,8,8] c2 = Conv<pads=[1,1,1,1]>(rs, %w2 float[4,4,3,3], %b2 float[4])
      float[1,4,8,8] t = Add(c2, rs)
      float[1,4,8,8] rt = Relu(t)
      float[1,4,1,1] g = GlobalAveragePool(rt)
      float[1,4] f = Flatten(g)
      float[1,3] y = Gemm<transB=1>(f, %w3 float[3,4], %b3 float[3])
    })";

TEST(QuantizeLayer, AbsorbsReluAndQuantizesWeightBiasInputAndOutput) {
  const Graph graph = Quantized(Parse(kChain), {0});
  EXPECT_THAT(Ops(graph), ElementsAre("Q", "DQ", "Conv", "Q", "DQ", "Conv", "Clip", "Conv", "Relu"));
  const Node& conv = graph.node(FindLayer(graph, 0));
  EXPECT_EQ(graph.value(conv.output(0)).name, "r0");
  const Node* weight = graph.producer(conv.input(1));
  ASSERT_NE(weight, nullptr);
  EXPECT_EQ(weight->GetInt("axis", 1), 0);
  EXPECT_EQ(graph.constant(weight->input(0))->dtype(), DType::kInt8);
  EXPECT_EQ(graph.constant(weight->input(1))->dims(), (std::vector<int64_t>{4}));
  const Node* bias = graph.producer(conv.input(2));
  ASSERT_NE(bias, nullptr);
  EXPECT_EQ(graph.constant(bias->input(0))->dtype(), DType::kInt32);
  EXPECT_EQ(graph.Find("w0"), ValueId::kNone) << "the float weight stays behind";
}

TEST(QuantizeLayer, NeighboursShareOnePair) {
  const Graph graph = Quantized(Parse(kChain), {0, 1, 2});
  EXPECT_THAT(Ops(graph), ElementsAre("Q", "DQ", "Conv", "Q", "DQ", "Conv", "Q", "DQ", "Conv", "Q", "DQ"));
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "y");
}

TEST(QuantizeLayer, TheOrderOfActionsDoesNotMatter) {
  for (const std::string_view text : {kChain, kResidual}) {
    const Graph original = Parse(text);
    std::vector<int> layers = {0, 1, 2};
    if (text == kResidual) layers.push_back(3);
    const std::string expected = Formula(Quantized(original, layers));
    while (std::next_permutation(layers.begin(), layers.end())) {
      EXPECT_EQ(Formula(Quantized(original, layers)), expected);
    }
    // Also for every subset of them.
    EXPECT_EQ(Formula(Quantized(original, {2, 0})), Formula(Quantized(original, {0, 2})));
    EXPECT_EQ(Formula(Quantized(original, {1, 2})), Formula(Quantized(original, {2, 1})));
    EXPECT_EQ(Formula(Quantized(original, {1, 0})), Formula(Quantized(original, {0, 1})));
  }
}

TEST(QuantizeLayer, AResidualNetworkIsIntegerFromEndToEnd) {
  const Graph graph = Quantized(Parse(kResidual), {0, 1, 2, 3});
  // Every op but the first and last conversion stands between pairs; Relu is gone.
  EXPECT_THAT(Ops(graph),
              ElementsAre("Q", "DQ", "Conv", "Q", "DQ", "Conv", "Q", "DQ", "Add", "Q", "DQ", "Conv", "Q", "DQ", "Add",
                          "Q", "DQ", "GlobalAveragePool", "Q", "DQ", "Flatten", "Q", "DQ", "Gemm"));
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.Is("Add") && !node.Is("Conv")) continue;
    for (const ValueId input : node.inputs) {
      const Node* producer = graph.producer(input);
      ASSERT_NE(producer, nullptr);
      EXPECT_TRUE(producer->Is("DequantizeLinear")) << PrintNode(graph, id);
    }
    EXPECT_EQ(graph.value(node.output(0)).uses.size(), 1U) << PrintNode(graph, id);
  }
}

TEST(QuantizeLayer, ALayerLeftFloatReadsAScalePerChannel) {
  const Graph graph = Quantized(Parse(kChain), {0, 2});
  const Node& conv = graph.node(FindLayer(graph, 1));
  const Node* input = graph.producer(conv.input(0));
  ASSERT_NE(input, nullptr);
  ASSERT_TRUE(input->Is("DequantizeLinear"));
  EXPECT_EQ(graph.constant(input->input(1))->dims(), (std::vector<int64_t>{4}));
  EXPECT_EQ(input->GetInt("axis", -9), 1);
  EXPECT_NE(graph.constant(conv.input(1)), nullptr);
}

TEST(QuantizeLayer, AFloatLayerBehindAPoolIsKeptFloatByASum) {
  const Graph graph = Quantized(Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        float[1,4,8,8] c = Conv<pads=[1,1,1,1]>(x, %w0 float[4,2,3,3])
        float[1,4,8,8] r = Relu(c)
        float[1,4,4,4] m = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)
        float[1,4,2,2] y = Conv(m, %w1 float[4,4,3,3])
      })"),
                                {0});
  EXPECT_THAT(Ops(graph), ElementsAre("Q", "DQ", "Conv", "Q", "DQ", "MaxPool", "Sum", "Conv"));
}

TEST(QuantizeLayer, QuantizingAKeptLayerLaterLeavesNoTraceOfTheBarrier) {
  const Graph original = Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        float[1,4,8,8] c = Conv<pads=[1,1,1,1]>(x, %w0 float[4,2,3,3])
        float[1,4,8,8] r = Relu(c)
        float[1,4,4,4] m = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)
        float[1,4,2,2] y = Conv(m, %w1 float[4,4,3,3])
      })");
  const Graph graph = Quantized(original, {0, 1});
  EXPECT_THAT(Ops(graph), ElementsAre("Q", "DQ", "Conv", "Q", "DQ", "MaxPool", "Q", "DQ", "Conv", "Q", "DQ"));
  EXPECT_EQ(Formula(graph), Formula(Quantized(original, {1, 0})));
}

TEST(QuantizeLayer, SharedWeightsAreCopied) {
  const Graph graph = Quantized(Parse(R"(
      graph (float[1,2,8,8] x) => (y, z) {
        y = Conv(x, %w float[2,2,3,3])
        z = Conv(x, %w)
      })"),
                                {0});
  EXPECT_NE(graph.constant(graph.node(FindLayer(graph, 1)).input(1)), nullptr);
  EXPECT_NE(graph.Find("w"), ValueId::kNone);
}

TEST(QuantizeLayer, AnOutputThatIsReadTooKeepsItsNameAndIsRead) {
  const Graph graph = Quantized(Parse(R"(
      graph (float[1,2,8,8] x) => (r, y) {
        c = Conv(x, %w0 float[2,2,3,3])
        r = Relu(c)
        y = Conv(r, %w1 float[2,2,3,3])
      })"),
                                {1, 0});
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "r");
  EXPECT_TRUE(graph.producer(graph.outputs()[0])->Is("DequantizeLinear"));
  EXPECT_EQ(graph.value(graph.node(FindLayer(graph, 0)).output(0)).uses.size(), 1U);
}

TEST(QuantizeLayer, GemmAndMatMulQuantizeTheirOutputAxis) {
  const Graph graph = Quantized(Parse(R"(
      graph (float[2,8] x) => (y) {
        float[2,4] a = Gemm(x, %w0 float[8,4], %b0 float[4])
        float[2,4] r = Relu(a)
        float[2,3] y = MatMul(r, %w1 float[4,3])
      })"),
                                {0, 1});
  EXPECT_THAT(Ops(graph), ElementsAre("Q", "DQ", "Gemm", "Q", "DQ", "MatMul"));
  for (const int layer : {0, 1}) {
    EXPECT_EQ(graph.producer(graph.node(FindLayer(graph, layer)).input(1))->GetInt("axis", -9), 1);
  }
}

TEST(QuantizeLayer, AMatMulInFrontOfABiasWritesIntegers) {
  const Graph graph = Quantized(Parse(R"(
      graph (float[2,8] x) => (y) {
        float[2,4] m = MatMul(x, %w float[8,4])
        float[2,4] y = Add(m, %b float[4])
      })"),
                                {0});
  EXPECT_THAT(Ops(graph), ElementsAre("Q", "DQ", "MatMul", "Q", "DQ", "Add"));
}

TEST(QuantizeLayer, SqueezeAndExcitationIsIntegerAroundItsFloatActivations) {
  const Graph graph = Quantized(Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        float[1,4,8,8] c = Conv(x, %w0 float[4,2,1,1])
        float[1,4,8,8] h = HardSwish(c)
        float[1,4,1,1] g = GlobalAveragePool(h)
        float[1,4,1,1] e = Conv(g, %w1 float[4,4,1,1])
        float[1,4,1,1] s = HardSigmoid(e)
        float[1,4,8,8] m = Mul(h, s)
        float[1,2,8,8] y = Conv(m, %w2 float[2,4,1,1])
      })"),
                                {2, 0, 1});
  EXPECT_THAT(Ops(graph),
              ElementsAre("Q", "DQ", "Conv", "Q", "DQ", "HardSwish", "Q", "DQ", "GlobalAveragePool", "Q", "DQ", "Conv",
                          "Q", "DQ", "HardSigmoid", "Q", "DQ", "Mul", "Q", "DQ", "Conv", "Q", "DQ"));
}

TEST(QuantizeLayer, ConcatOfQuantizedBranchesIsInteger) {
  const Graph graph = Quantized(Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        float[1,2,8,8] a = Conv(x, %w0 float[2,2,1,1])
        float[1,2,8,8] b = Conv(x, %w1 float[2,2,1,1])
        float[1,4,8,8] ab = Concat<axis=1>(a, b)
        float[1,2,8,8] y = Conv(ab, %w2 float[2,4,1,1])
      })"),
                                {0, 1, 2});
  EXPECT_THAT(Ops(graph),
              ElementsAre("Q", "DQ", "Conv", "Q", "DQ", "Conv", "Q", "DQ", "Concat", "Q", "DQ", "Conv", "Q", "DQ"));
}

TEST(QuantizeLayer, AddWithAFloatInputStaysFloat) {
  const Graph graph = Quantized(Parse(R"(
      graph (float[1,2,8,8] x, float[1,2,8,8] f) => (y) {
        float[1,2,8,8] a = Conv(x, %w0 float[2,2,1,1])
        float[1,2,8,8] s = Add(a, f)
        float[1,2,8,8] y = Conv(s, %w1 float[2,2,1,1])
      })"),
                                {0, 1});
  for (const NodeId id : graph.nodes()) {
    if (graph.node(id).Is("Add")) {
      EXPECT_EQ(graph.value(graph.node(id).input(1)).name, "f");
    }
  }
}

TEST(QuantizeLayer, RefusesAnUnfoldedBatchNormalizationUntilItIsFolded) {
  const Graph graph = Parse(R"(
      graph (float[1,2,8,8] x) => (y) {
        c = Conv(x, %w float[2,2,3,3])
        n = BatchNormalization(c, %scale float[2], %bias float[2], %mean float[2], %var float[2])
        y = Relu(n)
      })");
  EXPECT_THAT(Reason(graph, 0), HasSubstr("fold the BatchNormalization first"));
  // The parameters resolved on the unfolded graph serve the folded one.
  const auto action = ResolveQuantize(graph, 0, Everything(graph), kScheme);
  ASSERT_TRUE(action);
  Graph folded = Parse("graph (float[1,2,8,8] x) => (y) { n = Conv(x, %w float[2,2,3,3], %b float[2]) y = Relu(n) }");
  const Outcome outcome = TryQuantize(folded, 0, action->params);
  EXPECT_TRUE(std::holds_alternative<Edit>(outcome));
}

TEST(QuantizeLayer, RefusesOpsetsWithoutPerChannelScales) {
  const Graph graph = Parse("<opset 12> graph (float[1,2,8,8] x) => (y) { y = Conv(x, %w float[2,2,3,3]) }");
  EXPECT_THAT(Reason(graph, 0), HasSubstr("opset 12"));
}

TEST(QuantizeLayer, RefusesWhatHasNoIntegerKernel) {
  EXPECT_THAT(Reason(Parse("graph (float[1,2,8,8] x) => (y) { y = ConvTranspose(x, %w float[2,2,3,3]) }"), 0),
              HasSubstr("ConvTranspose"));
  EXPECT_THAT(Reason(Parse("graph (float[2,8] x) => (y) { y = Gemm<alpha=2.0>(x, %w float[8,4]) }"), 0),
              HasSubstr("alpha"));
  EXPECT_THAT(Reason(Parse("graph (float[3,2,8] x) => (y) { y = MatMul(x, %w float[3,8,4]) }"), 0),
              HasSubstr("dimensions"));
  EXPECT_THAT(Reason(Parse("graph (double[2,8] x) => (y) { y = MatMul(x, %w double[8,4]) }"), 0), HasSubstr("double"));
  EXPECT_THAT(Reason(Parse("graph (float[2,8] x, float[4] b) => (y) { y = Gemm(x, %w float[8,4], b) }"), 0),
              HasSubstr("bias"));
}

TEST(QuantizeLayer, RefusesBadParametersWithTheField) {
  const Graph graph = Parse(kChain);
  const auto action = ResolveQuantize(graph, 0, Everything(graph), kScheme);
  ASSERT_TRUE(action);
  EXPECT_THAT(ReasonAt(graph, 0, {}), HasSubstr("scheme"));
  Params params = action->params;
  params.values["scheme"] = "u2s2";
  EXPECT_THAT(ReasonAt(graph, 0, params), HasSubstr("u2s2"));
  params = action->params;
  params.values["ranges"].erase("r0");
  EXPECT_THAT(ReasonAt(graph, 0, params), HasSubstr("r0"));
  params = action->params;
  params.values["ranges"]["x"]["scale"] = -1;
  EXPECT_THAT(ReasonAt(graph, 0, params), HasSubstr("scale"));
  params = action->params;
  params.values["ranges"] = 3;
  EXPECT_THAT(ReasonAt(graph, 0, params), HasSubstr("ranges"));
}

TEST(QuantizeLayer, RefusesAWeightThatIsNotFinite) {
  const Graph graph = Parse("graph (float[1,1,8,8] x) => (y) { y = Conv(x, %w float[1,1,1,1] = {inf}) }");
  EXPECT_THAT(Reason(graph, 0), HasSubstr("not finite"));
}

TEST(QuantizeLayer, AReluThatTheRangeDoesNotImplyStays) {
  // A hand-made plan whose zero point leaves room below 0.
  const Graph original = Parse(kChain);
  auto action = ResolveQuantize(original, 0, Everything(original), kScheme);
  ASSERT_TRUE(action);
  action->params.values["ranges"]["r0"] = ToJson(QuantParams{0.01f, 50});
  Graph graph = original;
  const Outcome outcome = TryQuantize(graph, 0, action->params);
  ASSERT_TRUE(std::holds_alternative<Edit>(outcome));
  std::get<Edit>(outcome)(graph);
  EXPECT_THAT(Ops(graph), ElementsAre("Q", "DQ", "Conv", "Relu", "Q", "DQ", "Conv", "Clip", "Conv", "Relu"));
}

TEST(Resolve, ObservesBordersOfLayersAndWhatLiesBetween) {
  EXPECT_THAT(ValuesToObserve(Parse(kChain)), ElementsAre("x", "r0", "r1", "y"));
  EXPECT_THAT(ValuesToObserve(Parse(kResidual)), ElementsAre("x", "r0", "c1", "rs", "c2", "rt", "g"));
}

TEST(Resolve, NamesAValueThatWasNotObserved) {
  const Graph graph = Parse(kChain);
  Calibration calibration = Everything(graph);
  calibration.values.erase("r0");
  const auto action = ResolveQuantize(graph, 0, calibration, kScheme);
  ASSERT_FALSE(action);
  EXPECT_THAT(action.error().message, HasSubstr("r0"));
  EXPECT_FALSE(ResolveQuantize(graph, 99, calibration, kScheme));
  EXPECT_FALSE(ResolveQuantize(graph, 0, calibration, {DType::kInt8, false})) << "another activation type";
}

TEST(QuantizeLayer, SitesAreTheLayersItCouldChange) {
  const Graph graph = Parse(kResidual);
  std::vector<std::string> names;
  for (const Site& site : QuantizeLayer()->Sites(graph, {})) names.push_back(site.id);
  EXPECT_THAT(names, UnorderedElementsAre("layer0", "layer1", "layer2", "layer3"));
  EXPECT_EQ(QuantizeLayer()->FindAnchor(graph, "layer2"), FindLayer(graph, 2));
  for (const char* site : {"", "layer", "layer-1", "layer1x", "layer99999999999", "rs"}) {
    EXPECT_EQ(QuantizeLayer()->FindAnchor(graph, site), NodeId::kNone) << site;
  }
}

}  // namespace
}  // namespace rlc
