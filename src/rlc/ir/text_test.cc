#include "rlc/ir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "rlc/base/rng.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr PrintOptions kAll{std::nullopt, true};

Graph Parsed(std::string_view text) {
  auto graph = ParseGraphText(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? *std::move(graph) : Graph();
}

std::string ParseError(std::string_view text) {
  const auto graph = ParseGraphText(text);
  return graph ? "parsed" : graph.error().message;
}

TEST(Text, ParsesTheExampleOfTheStyleGuide) {
  const Graph graph = Parsed(R"(
      graph (float[1,2,4,4] x) => (y) {
        c = Conv(x, %w float[2,2,3,3], %b float[2])
        y = BatchNormalization<epsilon=1e-5>(c, %scale float[2], %bias float[2], %mean float[2], %var float[2])
      })");
  ASSERT_EQ(graph.nodes().size(), 2U);
  EXPECT_EQ(graph.opset(), 17);
  EXPECT_EQ(graph.initializers().size(), 6U);
  const Node& norm = graph.node(graph.nodes()[1]);
  EXPECT_EQ(norm.GetFloat("epsilon", 0), 1e-5F);
  EXPECT_EQ(ToString(graph.type(graph.inputs()[0])), "float[1,2,4,4]");
  ASSERT_NE(graph.constant(norm.input(4)), nullptr);
  for (const float value : graph.constant(norm.input(4))->data<float>()) EXPECT_GE(value, 0.5F);
}

TEST(Text, GeneratedValuesDependOnTheNameAlone) {
  const Graph a = Parsed("graph (float[2] x) => (y) { y = Add(x, %w float[2]) }");
  const Graph b = Parsed("graph (float[2] q) => (z) { p = Neg(q) z = Mul(p, %w float[2]) }");
  const Graph c = Parsed("graph (float[2] x) => (y) { y = Add(x, %v float[2]) }");
  EXPECT_TRUE(a.constant(a.Find("w"))->SameAs(*b.constant(b.Find("w"))));
  EXPECT_FALSE(a.constant(a.Find("w"))->SameAs(*c.constant(c.Find("v"))));
}

// Everything that the text can say, in the printer's own spelling.
constexpr std::string_view kEverything = R"(<ir 9, opset 13, opset com.example 2, opset "odd domain" 1>
graph "my net" (float[1,N,?,"a b"] x, float[*] r, untyped, int64[2] shape = {1, -2}, opaque "0a0b" seq) => (float[1,2] y, "1", float[2] w) {
  %unread sparse "00ff"
  %captured bool[2] = {true, false}
  float[1,2] a, _, b = com.example::Split<axis=1, ratio=0.5, whole=2.0>(x, _, %w float[2] = {0.5, -1e-07}) @"node 1" layer 3
  "1" = "odd domain"::"Op::x" overload "v2"(a, %"2" int64[] = 7, %h float16[2] = {0.5, inf}, %q int4[3] = {-8, 7, 0})
  c = If<then_branch=graph then () => (t) {
    t = Relu(a)
  }, else_branch=graph () => (u) {
    %k float[1] = {2}
    v = Loop<body=graph (int64[] i) => (o) {
      o = Where(captured, a, k)
    }>(b)
    u = Add(v, %k)
  }>(b)
  d = Many<ints=[1,-2], floats=[0.5, 2.0], strings=["a", "q\"\x01"], none=[], nofloats=floats[], t=float[2] = {1, 2}, ts=[int64[1] = {3}, string[1] = {"s"}], o=opaque "beef", bodies=[graph () => () {
  }]>(c, %n float[1] = bytes "0100c07f")
  () = Sink(d)
  y = Identity(d)
}
function com.example::Split "c0ffee"
)";

TEST(Text, PrintingWhatWasParsedGivesTheSameText) {
  const auto model = ParseModelText(kEverything);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(PrintModel(*model, kAll), kEverything);
}

TEST(Text, KeepsMeaningOfEverything) {
  const auto model = ParseModelText(kEverything);
  ASSERT_TRUE(model) << model.error().message;
  const Graph& graph = model->graph;
  EXPECT_EQ(model->ir_version, 9);
  EXPECT_EQ(graph.opset("com.example"), 2);
  EXPECT_EQ(graph.name(), "my net");
  EXPECT_EQ(graph.value(graph.inputs()[3]).kind, Value::Kind::kOverridable);
  const Node& split = graph.node(graph.nodes()[0]);
  EXPECT_EQ(split.domain, "com.example");
  EXPECT_EQ(split.layer, 3);
  EXPECT_EQ(split.name, "node 1");
  EXPECT_THAT(split.outputs, ElementsAre(graph.Find("a"), ValueId::kNone, graph.Find("b")));
  EXPECT_EQ(split.GetFloat("whole", 0), 2.0F);
  EXPECT_EQ(graph.node(graph.nodes()[1]).op, "Op::x");
  EXPECT_EQ(graph.node(graph.nodes()[1]).overload, "v2");
  const Node& branch = graph.node(graph.nodes()[2]);
  EXPECT_THAT(branch.captures, ElementsAre(graph.Find("a"), graph.Find("b"), graph.Find("captured")));
  EXPECT_EQ(model->functions.at(0).bytes, "\xc0\xff\xee");
}

TEST(Text, ElidesLargeConstantsUnlessToldOtherwise) {
  const Graph graph = Parsed("graph (float[4,8] x) => (y) { y = MatMul(x, %w float[8,8]) }");
  EXPECT_EQ(PrintGraph(graph), "graph (float[4,8] x) => (y) {\n  y = MatMul(x, %w float[8,8])\n}\n");
  EXPECT_THAT(PrintGraph(graph, kAll), HasSubstr("%w float[8,8] = {"));
  EXPECT_EQ(PrintNode(graph, graph.nodes()[0]), "y = MatMul(x, %w float[8,8])");
  const Graph again = Parsed(PrintGraph(graph, kAll));
  EXPECT_TRUE(again.constant(again.Find("w"))->SameAs(*graph.constant(graph.Find("w"))));
}

TEST(Text, EveryElementTypeReadsBackToTheBit) {
  for (const std::string type : {"float", "double", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32",
                                 "uint32", "int64", "uint64", "bool", "int4", "uint4"}) {
    const Graph graph = Parsed("graph (x) => (y) { y = Op(x, %var " + type + "[5], %w " + type + "[]) }");
    const Graph again = Parsed(PrintGraph(graph, kAll));
    for (const char* name : {"var", "w"}) {
      EXPECT_TRUE(again.constant(again.Find(name))->SameAs(*graph.constant(graph.Find(name)))) << type << " " << name;
    }
  }
}

TEST(Text, ExtremeNumbersReadBackToTheBit) {
  using Limits = std::numeric_limits<float>;
  const std::vector<float> values = {Limits::infinity(),
                                     -Limits::infinity(),
                                     Limits::quiet_NaN(),
                                     -0.0F,
                                     Limits::denorm_min(),
                                     Limits::max(),
                                     1.0F / 3};
  Graph graph;
  const ValueId w = graph.AddInitializer("w", Tensor::Of<float>({7}, values));
  graph.AddInitializer("i", Tensor::Of<int64_t>({2}, {INT64_MIN, INT64_MAX}));
  graph.AddInitializer("u", Tensor::Of<uint64_t>({1}, {UINT64_MAX}));
  graph.AddInitializer("odd_bool", Tensor::FromBytes(DType::kBool, {1}, "\7"));
  graph.AddInitializer("f8", Tensor::FromBytes(DType::kFloat8E5M2, {2}, "ab"));
  graph.AddInitializer("newer", Tensor::FromBytes(static_cast<DType>(99), {2}, "abc"));
  graph.AddInitializer("empty", Tensor::Of<float>({0, 3}, {}));
  graph.AddOutput(w);
  const Graph again = Parsed(PrintGraph(graph, kAll));
  for (const ValueId id : graph.initializers()) {
    const ValueId other = again.Find(graph.value(id).name);
    ASSERT_NE(other, ValueId::kNone);
    EXPECT_TRUE(again.constant(other)->SameAs(*graph.constant(id))) << graph.value(id).name;
  }
}

TEST(Text, ErrorsSayWhereAndWhatWasWanted) {
  EXPECT_EQ(ParseError(""), "line 1, column 1: found the end, wanted 'graph'");
  EXPECT_EQ(ParseError("graph (x) => (y) {\n  y = Relu x\n}"), "line 2, column 12: found 'x', wanted '('");
  EXPECT_THAT(ParseError("graph (x) => (y) { y = Relu(z) }"), HasSubstr("wanted 'z' to be computed"));
  EXPECT_THAT(ParseError("graph (x) => (y) { x = Relu(x) }"), HasSubstr("'x', which is taken"));
  EXPECT_THAT(ParseError("graph (x) => (y) { }"), HasSubstr("'y' to be computed"));
  EXPECT_THAT(ParseError("graph (flaot[1] x) => (x) { }"), HasSubstr("wanted an element type"));
  EXPECT_THAT(ParseError("graph (x) => (x) { %w float[2] = {1} }"), HasSubstr("1 elements do not fill a tensor [2]"));
  EXPECT_THAT(ParseError("graph (x) => (x) { %w int8[1] = {200} }"), HasSubstr("'200' is no value of type int8"));
  EXPECT_THAT(ParseError("graph (x) => (x) { %w float[99999,99999,9] }"), HasSubstr("67108864 bytes at most"));
  EXPECT_THAT(ParseError("graph (x) => (x) { %w float[N] }"), HasSubstr("known shape"));
  EXPECT_THAT(ParseError("graph (x) => (x) { \"y"), HasSubstr("a string without an end"));
  EXPECT_THAT(ParseError("graph (x) => (x) { y = A<k=1, k=2>(x) }"), HasSubstr("one value for the attribute 'k'"));
  EXPECT_THAT(ParseError("graph (x) => (x) { y = A(%x) }"), HasSubstr("'x' to be a constant"));
  EXPECT_THAT(ParseError("graph (x) => (x) { } graph"), HasSubstr("wanted the end"));
  EXPECT_THAT(ParseError("graph (x) => (x) { y = If<b=graph () => (t) { t = Relu(q) }>(x) }"), HasSubstr("'q'"));
  EXPECT_THAT(ParseError("<opset -1> graph (x) => (x) { }"), HasSubstr("a version from 0"));
}

TEST(Text, DepthOfBodiesIsBounded) {
  std::string text = "graph (x) => (x) {";
  for (int i = 0; i < 100'000; ++i) text += "y = If<b=graph () => () {";
  EXPECT_THAT(ParseError(text), HasSubstr("fewer subgraphs inside each other"));
}

// Bytes in, an error or a graph out, whatever the bytes: damaged copies of a text that uses the whole grammar.
TEST(Text, SurvivesDamagedTexts) {
  Rng rng(7);
  int parsed = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text(kEverything);
    for (int64_t edits = rng.UniformRange(1, 3); edits > 0; --edits) {
      const auto at = static_cast<size_t>(rng.UniformInt(text.size()));
      const auto length = static_cast<size_t>(rng.UniformInt(8));
      if (rng.Bernoulli(0.5)) {
        text.erase(at, length);
      } else {
        text.insert(at, text.substr(static_cast<size_t>(rng.UniformInt(text.size())), length));
      }
    }
    if (const auto model = ParseModelText(text, {.max_generated_bytes = 1 << 16})) {
      ++parsed;
      const std::string printed = PrintModel(*model, kAll);
      const auto again = ParseModelText(printed);
      ASSERT_TRUE(again) << again.error().message << "\n" << printed;
      EXPECT_EQ(PrintModel(*again, kAll), printed);
    }
  }
  EXPECT_GT(parsed, 0);
}

}  // namespace
}  // namespace rlc
