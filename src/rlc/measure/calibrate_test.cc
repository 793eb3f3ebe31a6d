#include "rlc/measure/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "rlc/measure/test_models.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kChain[] = R"(
    graph (float[N,2] x) => (float[N,2] y) {
      a = Mul(x, %two float[1] = {2})
      b = Relu(a)
      y = Neg(b)
    })";

// Three batches: rows 1, 2 and 3 long, filled with the batch's number + 1.
Expected<std::vector<NamedTensor>> Batches(int64_t index) {
  if (index >= 3) return std::vector<NamedTensor>();
  const auto value = static_cast<float>(index + 1);
  return std::vector<NamedTensor>{
      {"x", Tensor::Of<float>({index + 1, 2}, std::vector<float>(static_cast<size_t>(index + 1) * 2, value))}};
}

using Sums = std::map<std::string, double>;

Expected<int64_t> Collect(const std::vector<std::string>& values, Sums& sums, const CalibrationOptions& options = {}) {
  return StreamValues(
      TestModel(kChain), values, Batches,
      [&](const std::string& name, const Tensor& tensor) -> Expected<void> {
        for (const float value : tensor.data<float>()) sums[name] += value;
        return {};
      },
      options);
}

TEST(StreamValues, ShowsInputsInnerValuesAndOutputs) {
  Sums sums;
  const auto batches = Collect({"x", "a", "b", "y", "a"}, sums);
  ASSERT_TRUE(batches) << batches.error().message;
  EXPECT_EQ(*batches, 3);
  // 2*1 + 4*2 + 6*3 = 28
  EXPECT_THAT(sums,
              ElementsAre(std::pair("a", 56.0), std::pair("b", 56.0), std::pair("x", 28.0), std::pair("y", -56.0)));
}

TEST(StreamValues, TakesSeveralPassesWhenMemoryIsShort) {
  Sums sums;
  CalibrationOptions options;
  options.max_bytes = 8;  // one value of the first batch
  ASSERT_TRUE(Collect({"x", "a", "b", "y"}, sums, options));
  EXPECT_THAT(sums,
              ElementsAre(std::pair("a", 56.0), std::pair("b", 56.0), std::pair("x", 28.0), std::pair("y", -56.0)));
}

TEST(StreamValues, InputsAloneNeedNoRun) {
  Sums sums;
  ASSERT_TRUE(Collect({"x"}, sums));
  EXPECT_THAT(sums, ElementsAre(std::pair("x", 28.0)));
}

TEST(StreamValues, RefusesUnknownValuesAndConstants) {
  Sums sums;
  EXPECT_THAT(Collect({"nothing"}, sums).error().message, HasSubstr("no value 'nothing'"));
  EXPECT_THAT(Collect({"two"}, sums).error().message, HasSubstr("is a constant"));
}

TEST(StreamValues, HandsOnErrorsAndInterrupts) {
  const std::vector<std::string> values = {"a"};
  const auto refuse = [](const std::string& name, const Tensor&) {
    return Expected<void>(MakeError(ErrorKind::kInvalidInput, "no {}", name));
  };
  EXPECT_THAT(StreamValues(TestModel(kChain), values, Batches, refuse).error().message, HasSubstr("no a"));
  const auto accept = [](const std::string&, const Tensor&) -> Expected<void> { return {}; };
  const auto wrong = [](int64_t) -> Expected<std::vector<NamedTensor>> {
    return std::vector<NamedTensor>{{"x", Tensor::Of<float>({1, 3}, {1, 2, 3})}};
  };
  EXPECT_THAT(StreamValues(TestModel(kChain), values, wrong, accept).error().message, HasSubstr("input 'x'"));
  std::atomic<bool> stop = true;
  CalibrationOptions options;
  options.stop = StopToken(&stop);
  EXPECT_EQ(StreamValues(TestModel(kChain), values, Batches, accept, options).error().kind, ErrorKind::kInterrupted);
}

}  // namespace
}  // namespace rlc
