#include "rlc/ort/runtime_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"

namespace rlc {
namespace {

constexpr OptLevel kLevels[] = {OptLevel::kNone, OptLevel::kBasic, OptLevel::kExtended, OptLevel::kAll};

Model ParseText(std::string_view text) {
  auto model = ParseModelText(text);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return *model;
}

std::vector<RanAs> Ran(const Model& model, OptLevel level) {
  auto ran = WhatRan(model, "test.onnx", level);
  EXPECT_TRUE(ran) << (ran ? "" : ran.error().message);
  return ran ? *ran : std::vector<RanAs>();
}

// Convolutions with Relu, BatchNormalization and a depthwise one, a Gemm and a MatMul, without node names.
constexpr char kFloat[] = R"(
    graph (float[1,16,16,16] x) => (float[1,10] y) {
      c0 = Conv<pads=[1,1,1,1], kernel_shape=[3,3]>(x, %w0 float[16,16,3,3], %b0 float[16]) layer 0
      n0 = BatchNormalization(c0, %s float[16], %o float[16], %m float[16], %var float[16])
      r0 = Relu(n0)
      c1 = Conv<pads=[1,1,1,1], kernel_shape=[3,3], group=16>(r0, %w1 float[16,1,3,3]) layer 1
      h1 = HardSigmoid(c1)
      m1 = Mul(c1, h1)
      c2 = Conv<kernel_shape=[1,1]>(m1, %w2 float[16,16,1,1], %b0) layer 2
      a2 = Add(c2, r0)
      p = GlobalAveragePool(a2)
      f = Flatten(p)
      g3 = Gemm<transB=1>(f, %w3 float[10,16], %b3 float[10]) layer 3
      r3 = Relu(g3)
      y = MatMul(r3, %w4 float[10,10]) layer 4
    })";

TEST(WhatRan, FindsEveryFloatLayerAtEveryLevel) {
  const Model model = ParseText(kFloat);
  for (const OptLevel level : kLevels) {
    const auto ran = Ran(model, level);
    ASSERT_EQ(ran.size(), 5u);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(ran[i].layer, i);
      EXPECT_TRUE(ran[i].found()) << "layer " << i << " at " << OptLevelName(level);
      EXPECT_FALSE(ran[i].integer) << ran[i].op;
      EXPECT_FALSE(ran[i].quantized) << ran[i].op;
      EXPECT_TRUE(ran[i].as_planned);
    }
    EXPECT_THAT(ran[0].op, ::testing::HasSubstr("Conv"));
    EXPECT_THAT(ran[3].op, ::testing::HasSubstr("Gemm"));
  }
}

// Layer 0 and 2 in integers, layer 1 between them left float.
std::string Mixed(const std::string& barrier) {
  return R"(<opset 13>
    graph (float[1,8,8,8] x) => (float[1,8,8,8] y) {
      xq = QuantizeLinear(x, %s float[] = 0.0625, %z uint8[] = 128)
      xd = DequantizeLinear(xq, %s, %z)
      d0 = DequantizeLinear<axis=0>(%w0 int8[8,8,3,3], %t float[8] = {0.01,0.01,0.01,0.01,0.01,0.01,0.01,0.01}, %u int8[8] = {0,0,0,0,0,0,0,0})
      c0 = Conv<pads=[1,1,1,1], kernel_shape=[3,3]>(xd, d0) layer 0
      q0 = QuantizeLinear(c0, %s, %z)
      e0 = DequantizeLinear(q0, %s, %z)
      )" +
         barrier + R"(
      q1 = QuantizeLinear(r1, %s, %z)
      e1 = DequantizeLinear(q1, %s, %z)
      d2 = DequantizeLinear<axis=0>(%w2 int8[8,8,3,3], %t, %u)
      c2 = Conv<pads=[1,1,1,1], kernel_shape=[3,3]>(e1, d2) layer 2
      q2 = QuantizeLinear(c2, %s, %z)
      y = DequantizeLinear(q2, %s, %z)
    })";
}

TEST(WhatRan, SeesLayersThatTheRuntimeQuantizesOnItsOwn) {
  const Model model = ParseText(Mixed(R"(
      c1 = Conv<pads=[1,1,1,1], kernel_shape=[3,3]>(e0, %w1 float[8,8,3,3], %b1 float[8]) layer 1
      r1 = Relu(c1))"));
  for (const OptLevel level : {OptLevel::kBasic, OptLevel::kExtended, OptLevel::kAll}) {
    const auto ran = Ran(model, level);
    ASSERT_EQ(ran.size(), 3u);
    for (const int i : {0, 2}) {
      EXPECT_TRUE(ran[i].planned && ran[i].quantized && ran[i].as_planned) << OptLevelName(level) << " layer " << i;
      EXPECT_EQ(ran[i].integer, level != OptLevel::kBasic);
    }
    // Left float by the model, but not by the runtime.
    EXPECT_TRUE(!ran[1].planned && ran[1].quantized && !ran[1].as_planned) << OptLevelName(level) << " " << ran[1].op;
  }
}

TEST(WhatRan, SeesThatABarrierKeepsALayerFloat) {
  const Model model = ParseText(Mixed(R"(
      s1 = Sum(e0)
      c1 = Conv<pads=[1,1,1,1], kernel_shape=[3,3]>(s1, %w1 float[8,8,3,3], %b1 float[8]) layer 1
      r1 = LeakyRelu<alpha=0.0>(c1))"));
  for (const OptLevel level : kLevels) {
    for (const RanAs& ran : Ran(model, level)) {
      EXPECT_TRUE(ran.as_planned) << OptLevelName(level) << " layer " << ran.layer << " " << ran.op;
    }
  }
}

TEST(WhatRan, SeesQuantizationThatIsNotFused) {
  // The output is not quantized, so there is no integer kernel for the Conv: int8 weights, float arithmetic.
  const Model model = ParseText(R"(<opset 13>
    graph (float[1,8,8,8] x) => (float[1,8,8,8] y) {
      xq = QuantizeLinear(x, %s float[] = 0.0625, %z uint8[] = 128)
      xd = DequantizeLinear(xq, %s, %z)
      d0 = DequantizeLinear(%w0 int8[8,8,3,3], %t float[] = 0.01, %u int8[] = 0)
      c0 = Conv<pads=[1,1,1,1], kernel_shape=[3,3]>(xd, d0) layer 0
      y = Tanh(c0)
    })");
  const auto ran = Ran(model, OptLevel::kAll);
  ASSERT_EQ(ran.size(), 1u);
  EXPECT_TRUE(ran[0].found());
  EXPECT_TRUE(ran[0].planned);
  EXPECT_FALSE(ran[0].integer);
  EXPECT_FALSE(ran[0].as_planned);
}

TEST(WhatRan, TellsLayersWithSharedWeightsApart) {
  const Model model = ParseText(R"(
    graph (float[1,8,8,8] x) => (float[1,8,8,8] y) {
      a = Conv<kernel_shape=[1,1]>(x, %w float[8,8,1,1]) layer 0
      b = Sin(a)
      y = Conv<kernel_shape=[1,1]>(b, %w) layer 1
    })");
  for (const OptLevel level : kLevels) {
    const auto ran = Ran(model, level);
    ASSERT_EQ(ran.size(), 2u);
    EXPECT_TRUE(ran[0].found() && ran[1].found()) << OptLevelName(level);
  }
}

TEST(ReadRuntimeGraph, ShowsTheFusedGraph) {
  const std::string bytes = SerializeModel(ParseText(kFloat)).value();
  auto none = ReadRuntimeGraph(bytes, "test.onnx", OptLevel::kNone);
  ASSERT_TRUE(none) << none.error().message;
  auto extended = ReadRuntimeGraph(bytes, "test.onnx", OptLevel::kExtended);
  ASSERT_TRUE(extended) << extended.error().message;
  EXPECT_LT(extended->model.graph.nodes().size(), none->model.graph.nodes().size());
  std::set<std::string> ops;
  for (const NodeId id : extended->model.graph.nodes()) ops.insert(extended->model.graph.node(id).op);
  EXPECT_TRUE(ops.contains("FusedConv")) << "Conv and Relu";
  EXPECT_FALSE(ops.contains("BatchNormalization"));
  EXPECT_FALSE(extended->bytes.empty());
  EXPECT_FALSE(ReadRuntimeGraph("nonsense", "x.onnx", OptLevel::kAll));
}

TEST(IsIntegerOp, KnowsTheRuntimesNames) {
  for (const char* op :
       {"QLinearConv", "QLinearMatMul", "QGemm", "MatMulIntegerToFloat", "ConvInteger", "DynamicQuantizeMatMul"}) {
    EXPECT_TRUE(IsIntegerOp(op)) << op;
  }
  for (const char* op : {"Conv", "FusedConv", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Gemm"}) {
    EXPECT_FALSE(IsIntegerOp(op)) << op;
  }
}

}  // namespace
}  // namespace rlc
