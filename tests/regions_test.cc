// Compiled regions compute what the plain subgraph computes: with librlc_ops.so registered (our kernels), without it
// (the runtime inlines the functions), layer by layer in every form, and on random networks.
#include "rlc/rewrite/regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rlc/base/rng.h"
#include "rlc/ir/layers.h"
#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"
#include "rlc/optimize/compare.h"
#include "rlc/optimize/services.h"
#include "rlc/ort/session.h"
#include "rlc/rewrite/pipeline.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/paths.h"
#include "rlc/testing/random_graph.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> OpsLibrary() { return {BuildPath("librlc_ops.so")}; }

Model ParseNumbered(const std::string& text) {
  auto model = ParseModelText(text);
  EXPECT_THAT(model, IsOk());
  model->graph.SetName("g");
  NumberLayers(model->graph);
  return *std::move(model);
}

std::map<int, std::string> AllLayersAs(const Graph& graph, const std::string& form) {
  std::map<int, std::string> forms;
  for (const NodeId id : graph.nodes()) {
    if (graph.node(id).Is("Conv") && graph.node(id).layer >= 0) forms[graph.node(id).layer] = form;
  }
  return forms;
}

// The largest relative deviation of the outputs, with and without the library.
struct Deviations {
  double compiled = 0, inlined = 0;
};

Expected<Deviations> DeviationsOf(const Model& model, const Model& compiled, uint64_t seed) {
  RLC_ASSIGN_OR_RETURN(const std::string before, SerializeModel(model));
  RLC_ASSIGN_OR_RETURN(const std::string after, SerializeModel(compiled));
  CompareInputs inputs;
  inputs.random_runs = 2;
  inputs.seed = seed;
  for (const ValueId input : model.graph.inputs()) {
    const Type& type = model.graph.type(input);
    std::vector<int64_t> dims;
    for (const Dim& dim : *type.shape) dims.push_back(dim.known() ? dim.value : 2);
    inputs.shapes[model.graph.value(input).name] = dims;
  }
  RLC_ASSIGN_OR_RETURN(const auto inlined, CompareModels(before, after, inputs));
  inputs.custom_op_libraries = OpsLibrary();
  RLC_ASSIGN_OR_RETURN(const auto ours, CompareModels(before, after, inputs));
  return Deviations{Largest(ours).relative_rms, Largest(inlined).relative_rms};
}

Expected<Model> CompileAs(const Model& model, const std::string& form) {
  StandardServices services(model);
  RegionOptions options;
  options.forms = AllLayersAs(model.graph, form);
  return CompileRegions(model, options, services.get());
}

// Compiles the text's graph with all layers in that form and holds it against the original.
void ExpectSame(const std::string& text, const std::string& form, size_t regions = 1) {
  const Model model = ParseNumbered(text);
  const auto compiled = CompileAs(model, form);
  ASSERT_THAT(compiled, IsOk()) << text;
  EXPECT_THAT(compiled->functions, SizeIs(regions)) << text;
  const auto deviations = DeviationsOf(model, *compiled, 1);
  ASSERT_THAT(deviations, IsOk()) << text;
  EXPECT_LT(deviations->compiled, form == "bf16" ? 2e-2 : 1e-5) << form << "\n" << text;
  EXPECT_LT(deviations->inlined, 1e-6) << text;
}

std::string GraphOf(const std::string& nodes, const std::string& input = "float[1,20,9,7] x") {
  return "graph g (" + input + ") => (y) {\n" + nodes + "\n}";
}

class RegionForms : public ::testing::TestWithParam<const char*> {};

TEST_P(RegionForms, LayersWithTheirEpilogues) {
  const std::string conv = "c = Conv<pads=[1,1,1,1]>(x, %w float[24,20,3,3], %b float[24])\n";
  for (const std::string tail :
       {"y = Relu(c)", "y = Clip(c, %lo float[] = -0.5, %hi float[] = 0.75)", "y = HardSwish(c)", "y = Sigmoid(c)",
        "s = Sigmoid(c)  y = Mul(c, s)", "s = HardSigmoid<alpha=0.25, beta=0.4>(c)  y = Mul(s, c)",
        "y = LeakyRelu<alpha=0.1>(c)", "y = HardSigmoid(c)", "y = Tanh(c)", "y = Add(c, %k float[24,1,1])",
        "y = Mul(c, c)", "y = Sub(c, %k float[1,24,1,1])", "d = Relu(c)  y = Concat<axis=1>(d, x)",
        "d = Relu(c)  y = Add(c, d)"}) {
    ExpectSame("<opset 17>\n" + GraphOf(conv + tail), GetParam());
  }
}

TEST_P(RegionForms, WindowsOfAllKinds) {
  for (const std::string conv :
       {"y = Conv(x, %w float[5,20,1,1])", "y = Conv<strides=[2,2], pads=[0,1,1,2]>(x, %w float[16,20,3,3])",
        "y = Conv<pads=[2,0,1,3]>(x, %w float[7,20,3,3], %b float[7])",
        "y = Conv<dilations=[2,3], pads=[2,2,2,2]>(x, %w float[8,20,3,2])",
        "y = Conv<group=20, pads=[1,1,1,1]>(x, %w float[20,1,3,3])",
        "y = Conv<group=4, pads=[1,1,1,1]>(x, %w float[12,5,3,3], %b float[12])",
        "y = Conv<auto_pad=\"VALID\">(x, %w float[3,20,5,5])"}) {
    ExpectSame(GraphOf(conv), GetParam());
  }
}

TEST_P(RegionForms, ResidualsMayOrMayNotBeOverwritten) {
  const std::string first = "a = Conv<pads=[1,1,1,1]>(x, %w float[20,20,3,3])  b = Relu(a)\n";
  ExpectSame(GraphOf(first + "c = Conv<pads=[1,1,1,1]>(b, %v float[20,20,3,3])  d = Add(c, x)  y = Relu(d)"),
             GetParam());
  ExpectSame(GraphOf(first + "c = Conv<pads=[1,1,1,1]>(b, %v float[20,20,3,3])  d = Add(b, c)  y = Relu(d)"),
             GetParam());
  ExpectSame(GraphOf(first + "c = Conv<pads=[1,1,1,1]>(x, %v float[20,20,3,3])  d = Add(b, c)  y = Relu(d)"),
             GetParam());
  ExpectSame(
      GraphOf(first + "c = Conv<pads=[1,1,1,1]>(x, %v float[20,20,3,3])  d = Add(b, c)  e = Relu(d)  y = Add(e, b)"),
      GetParam());
}

INSTANTIATE_TEST_SUITE_P(Regions, RegionForms, ::testing::Values("direct", "winograd2", "winograd4", "bf16"),
                         [](const auto& form) { return std::string(form.param); });

TEST(Regions, HeadsAndPools) {
  const std::string conv = "c = Conv<pads=[1,1,1,1]>(x, %w float[24,20,3,3])\n";
  for (const std::string tail :
       {"p = GlobalAveragePool(c)  f = Flatten(p)  y = Gemm<transB=1>(f, %v float[10,24], %b float[10])",
        "p = ReduceMean<axes=[2,3], keepdims=0>(c)  m = MatMul(p, %v float[24,6])  y = Softmax(m)",
        "p = ReduceMean<axes=[-1,-2], keepdims=1>(c)  y = Relu(p)",
        "y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(c)",
        "y = MaxPool<kernel_shape=[3,2], strides=[2,2], ceil_mode=1>(c)",
        "y = AveragePool<kernel_shape=[3,2], strides=[2,2], ceil_mode=1>(c)",
        "b = BatchNormalization(c, %s float[24], %t float[24], %m float[24], %var float[24])  y = Relu(b)",
        "y = BatchNormalization<epsilon=0.1>(c, %s float[24], %t float[24], %m float[24], %var float[24])",
        "y = AveragePool<kernel_shape=[3,2], pads=[1,0,1,1]>(c)",
        "y = AveragePool<kernel_shape=[3,2], pads=[1,0,1,1], count_include_pad=1>(c)",
        "p = GlobalAveragePool(c)  h = HardSigmoid(p)  y = Mul(c, h)",
        "p = GlobalAveragePool(c)  q = Conv(p, %wq float[4,24,1,1])  r = Relu(q)  s = Conv(r, %ws float[24,4,1,1])  "
        "t = Sigmoid(s)  y = Mul(t, c)",
        "y = Reshape(c, %shape int64[3] = {0, 4, -1})", "a = Flatten(c)  b = Relu(c)  d = Flatten(b)  y = Add(a, d)"}) {
    ExpectSame(GraphOf(conv + tail), "direct");
  }
}

TEST(Regions, WhatCannotBeCompiledStaysOutside) {
  // Erf in the middle: two regions; one that leaves and comes back is none.
  ExpectSame(GraphOf("a = Conv(x, %w float[8,20,1,1])  e = Erf(a)  y = Conv(e, %v float[4,8,1,1])"), "direct", 2);
  ExpectSame(GraphOf("a = Conv(x, %w float[8,20,1,1])  e = Erf(a)  b = Conv(a, %v float[8,8,1,1])  s = Add(b, e)  "
                     "y = Conv(s, %u float[4,8,1,1])"),
             "direct", 2);
  ExpectSame(GraphOf("a = Erf(x)  y = Relu(a)"), "direct", 0);  // no layer
}

TEST(Regions, InputsHandedThroughAndOutputsReadTwice) {
  const std::string text = R"(graph g (float[N,3,8,8] x) => (y, z, y2) {
    y = Conv<pads=[1,1,1,1]>(x, %w float[16,3,3,3])
    z = Relu(y)
    f = Flatten(y)
    y2 = Gemm(f, %v float[1024,2])
  })";
  for (const char* form : {"direct", "winograd4", "bf16"}) ExpectSame(text, form);
}

TEST(Regions, OneSessionTakesSeveralShapes) {
  const Model model = ParseNumbered(R"(graph g (float[N,3,H,W] x) => (y) {
    c = Conv<pads=[1,1,1,1]>(x, %w float[16,3,3,3])
    y = Relu(c)
  })");
  const auto compiled = CompileAs(model, "winograd2");
  ASSERT_THAT(compiled, IsOk());
  SessionOptions options;
  options.custom_op_libraries = OpsLibrary();
  const auto ours = Session::FromBytes(*SerializeModel(*compiled), "ours", options);
  const auto plain = Session::FromBytes(*SerializeModel(model), "plain", {.level = OptLevel::kNone});
  ASSERT_THAT(ours, IsOk());
  Rng rng(3);
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{
           {1, 3, 5, 6}, {2, 3, 9, 4}, {1, 3, 5, 6}, {3, 3, 1, 1}, {1, 3, 16, 2}, {1, 3, 2, 16}, {1, 3, 5, 6}}) {
    std::vector<float> values(static_cast<size_t>(*ElementCount(dims)));
    for (float& value : values) value = static_cast<float>(rng.Normal());
    const std::vector<NamedTensor> inputs = {{"x", Tensor::Of(dims, values)}};
    const auto actual = ours->Run(inputs), expected = plain->Run(inputs);
    ASSERT_THAT(actual, IsOk());
    EXPECT_LT(Deviation((*expected)[0], (*actual)[0]), 1e-5);
  }
}

TEST(Regions, RandomNetworks) {
  int regions = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Model model;
    model.ir_version = 8;
    model.graph = RandomGraph(seed, {.steps = 12, .bodies = false, .opset = 13 + static_cast<int>(seed % 6)});
    model.graph.SetName("g");
    NumberLayers(model.graph);
    StandardServices services(model);
    if (seed % 2 == 0) {
      ASSERT_THAT(Simplify(model, services.get()), IsOk());
    }
    const char* forms[] = {"direct", "winograd2", "winograd4"};
    const auto compiled = CompileAs(model, forms[seed % 3]);
    ASSERT_THAT(compiled, IsOk()) << seed;
    regions += static_cast<int>(compiled->functions.size());
    const auto deviations = DeviationsOf(model, *compiled, seed);
    ASSERT_THAT(deviations, IsOk()) << seed << "\n" << PrintModel(*compiled);
    EXPECT_LT(deviations->compiled, 1e-4) << seed << "\n" << PrintModel(*compiled);
    EXPECT_LT(deviations->inlined, 1e-4) << seed;
  }
  EXPECT_GT(regions, 30);
}

TEST(Regions, ABrokenProgramIsAnErrorOfTheSession) {
  const Model model = ParseNumbered(GraphOf("y = Conv(x, %w float[8,20,1,1])"));
  auto compiled = CompileAs(model, "direct");
  ASSERT_THAT(compiled, IsOk());
  const NodeId call = compiled->graph.nodes().back();
  ASSERT_EQ(compiled->graph.node(call).op, "Region0");
  for (const auto& [program, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "program"},
           {"rlc-region 2\n", "newer version"},
           {"rlc-region 1\ngraph r (float[1] x) => (y) { y = Relu(x) }", "inputs"},
           {"rlc-region 1\ngraph r (float[1,20,9,7] x, float[8,20,1,1] w) => (y) { y = Erf(x) }", "Erf"},
           {"rlc-region 1\ngraph r (float[1,20,9,7] x, float[8,20,1,1] w) => (y) { y = Conv<rlc_form=\"fft\">(x, w) }",
            "fft"}}) {
    compiled->graph.SetAttribute(call, {"program", program, ""});
    const auto session =
        Session::FromBytes(*SerializeModel(*compiled), "broken", {.custom_op_libraries = OpsLibrary()});
    ASSERT_FALSE(session) << program;
    EXPECT_THAT(session.error().message, HasSubstr(reason));
  }
}

TEST(Regions, AreNotCompiledTwice) {
  const Model model = ParseNumbered(GraphOf("y = Conv(x, %w float[8,20,1,1])"));
  const auto compiled = CompileAs(model, "direct");
  ASSERT_THAT(compiled, IsOk());
  EXPECT_TRUE(HasRegions(*compiled));
  EXPECT_THAT(CompileAs(*compiled, "direct"), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("already")));
}

TEST(Regions, FileKeepsItsRegionsAndItsInterface) {
  const Model model = ParseNumbered(GraphOf("c = Conv(x, %w float[8,20,1,1])  y = Relu(c)"));
  const auto compiled = CompileAs(model, "direct");
  ASSERT_THAT(compiled, IsOk());
  const auto again = ParseModel(*SerializeModel(*compiled), "again", "");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(*SerializeModel(*again), *SerializeModel(*compiled));
  EXPECT_EQ(again->ir_version, 8);
  EXPECT_EQ(again->graph.value(again->graph.outputs()[0]).name, "y");
}

}  // namespace
}  // namespace rlc
