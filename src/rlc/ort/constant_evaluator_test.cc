#include "rlc/ort/constant_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rlc/ir/text.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Evaluates the first node of the text, whose inputs are its constants.
Expected<std::vector<Tensor>> EvaluateFirst(std::string_view text, ConstantLimits limits = {}) {
  auto graph = ParseGraphText(text);
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  const Node& node = graph->node(graph->nodes().front());
  std::vector<const Tensor*> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(graph->constant(id));
  return OrtConstantEvaluator(limits).Evaluate(*graph, node, inputs);
}

TEST(OrtConstantEvaluator, ComputesSmallAndLargeInputs) {
  auto small = EvaluateFirst("graph () => (y) { y = Mul(%a float[2] = {2, 3}, %b float[2] = {4, 5}) }");
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_THAT(small->front().data<float>(), ElementsAre(8, 15));
  auto large = EvaluateFirst("graph () => (y) { y = ReduceSum<keepdims=0>(%a float[4096]) }");
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(large->front().size(), 1);
}

TEST(OrtConstantEvaluator, KeepsAbsentInputsAndOutputsInTheirPlaces) {
  auto clipped = EvaluateFirst("graph () => (y) { y = Clip(%a float[3] = {-2, 0, 2}, _, %hi float[] = 1) }");
  ASSERT_TRUE(clipped) << clipped.error().message;
  EXPECT_THAT(clipped->front().data<float>(), ElementsAre(-2, 0, 1));
  auto unique = EvaluateFirst("graph () => (y) { y, _, i = Unique(%a float[3] = {3, 1, 3}) }");
  ASSERT_TRUE(unique) << unique.error().message;
  ASSERT_EQ(unique->size(), 3u);
  EXPECT_THAT((*unique)[0].data<float>(), ElementsAre(1, 3));
  EXPECT_EQ((*unique)[1].dtype(), DType::kUndefined);
  EXPECT_THAT((*unique)[2].data<int64_t>(), ElementsAre(1, 0, 1));
}

TEST(OrtConstantEvaluator, ComputesDoublesAndDataDependentSizes) {
  auto sum = EvaluateFirst("graph () => (y) { y = Add(%a double[1] = {0.1}, %b double[1] = {0.2}) }");
  ASSERT_TRUE(sum) << sum.error().message;
  EXPECT_EQ(sum->front().data<double>()[0], 0.1 + 0.2);
  auto nonzero = EvaluateFirst("graph () => (y) { y = NonZero(%a float[3] = {0, 1, 1}) }");
  ASSERT_TRUE(nonzero) << nonzero.error().message;
  EXPECT_THAT(nonzero->front().dims(), ElementsAre(1, 2));
}

TEST(OrtConstantEvaluator, RefusesWhatItMustNotRun) {
  const auto kind = [](std::string_view text) {
    auto result = EvaluateFirst(text);
    EXPECT_FALSE(result);
    return result ? ErrorKind::kInternal : result.error().kind;
  };
  EXPECT_EQ(kind("graph () => (y) { y = RandomNormal<shape=[2]>() }"), ErrorKind::kUnavailable);
  EXPECT_EQ(kind("graph () => (y) { y = my.domain::Relu(%a float[1] = {1}) }"), ErrorKind::kUnavailable);
  EXPECT_EQ(kind("graph () => (y) { y = NoSuchOp(%a float[1] = {1}) }"), ErrorKind::kUnavailable);
  // A contradiction inside the node.
  EXPECT_EQ(kind("graph () => (y) { y = MatMul(%a float[2,3], %b float[4,5]) }"), ErrorKind::kInvalidInput);
}

TEST(OrtConstantEvaluator, RefusesBombsBeforeRunningThem) {
  auto bomb = EvaluateFirst("graph () => (y) { y = Expand(%a float[1] = {1}, %s int64[2] = {1000000, 1000000}) }");
  ASSERT_FALSE(bomb);
  EXPECT_EQ(bomb.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(bomb.error().message, HasSubstr("an output would have 4.00 TB"));
  auto range =
      EvaluateFirst("graph () => (y) { y = Range(%a int64[] = 0, %b int64[] = 1000000000000, %c int64[] = 1) }");
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().kind, ErrorKind::kUnavailable);
  auto input =
      EvaluateFirst("graph () => (y) { y = Neg(%a float[1000]) }", {.input_bytes = 100, .output_bytes = 1 << 20});
  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace rlc
