#include "rlc/data/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One output "y" with these rows.
ModelOutputs Outputs(const std::vector<std::vector<float>>& rows) {
  ModelOutputs outputs({"y"});
  for (const std::vector<float>& row : rows) {
    const std::vector<Array> batch = {Array::Of({1, static_cast<int64_t>(row.size())}, row)};
    EXPECT_TRUE(outputs.Append(batch, 1));
  }
  return outputs;
}

Expected<Scores> ScoreBy(std::string_view metric, const ModelOutputs& outputs, const ModelOutputs& baseline,
                         const Labels& labels = {}, const CommandOptions& options = {}) {
  const auto made = MakeMetric(metric, options);
  EXPECT_TRUE(made);
  return (*made)->Score(outputs, baseline, labels);
}

TEST(ModelOutputs, SplitsBatchesIntoRows) {
  ModelOutputs outputs({"y", "z"});
  const std::vector<Array> two = {Array::Of<float>({2, 2}, {1, 2, 3, 4}), Array::Of<int64_t>({2}, {5, 6})};
  ASSERT_TRUE(outputs.Append(two, 2));
  const std::vector<Array> one = {Array::Of<float>({1, 2}, {7, 8}), Array::Of<int64_t>({3}, {9, 9, 9})};
  ASSERT_TRUE(outputs.Append(one, 1));
  EXPECT_EQ(outputs.rows(), 3U);
  EXPECT_EQ(outputs.Row(0, 1), Array::Of<float>({2}, {3, 4}));
  EXPECT_EQ(outputs.Row(1, 0), Array::Of<int64_t>({}, {5}));
  EXPECT_EQ(outputs.Row(1, 2), Array::Of<int64_t>({3}, {9, 9, 9}));
}

TEST(ModelOutputs, RefusesOutputsThatCannotBeToldApart) {
  ModelOutputs outputs({"y", "boxes"});
  const std::vector<Array> batch = {Array::Of<float>({2, 1}, {1, 2}), Array::Of<float>({3, 1}, {1, 2, 3})};
  EXPECT_THAT(outputs.Append(batch, 2).error().message, HasSubstr("output 'boxes' has shape [3,1] for 2 samples"));
  EXPECT_EQ(outputs.rows(), 0U);
}

TEST(ArgMax, FirstOfEqualsAndNoneForNan) {
  EXPECT_EQ(ArgMax(Array::Of<float>({3}, {1, 5, 5})), 1);
  EXPECT_EQ(ArgMax(Array::Of<float>({2}, {NAN, 5})), std::nullopt);
  EXPECT_EQ(ArgMax(Array::Of<float>({0}, {})), std::nullopt);
}

TEST(Top1, CountsRightClasses) {
  const ModelOutputs outputs = Outputs({{1, 0}, {0, 1}, {NAN, 1}});
  const std::vector<int64_t> labels = {0, 0, 1};
  const auto scores = ScoreBy("top1", outputs, outputs, {.classes = labels});
  ASSERT_TRUE(scores) << scores.error().message;
  EXPECT_THAT(scores->rows, ElementsAre(1, 0, 0));
  EXPECT_NEAR(scores->value, 1.0 / 3, 1e-12);
}

TEST(Top1, RefusesLabelsThatDoNotFit) {
  const ModelOutputs outputs = Outputs({{1, 0}});
  EXPECT_THAT(ScoreBy("top1", outputs, outputs, {.classes = std::vector<int64_t>{2}}).error().message,
              HasSubstr("label 2 is out of range: the model has 2 classes"));
  EXPECT_FALSE(ScoreBy("top1", outputs, outputs, {.classes = std::vector<int64_t>{-1}}));
  EXPECT_THAT(ScoreBy("top1", outputs, outputs).error().message, HasSubstr("0 labels for 1 samples"));
  const ModelOutputs single = Outputs({{1}});
  EXPECT_THAT(ScoreBy("top1", single, single, {.classes = std::vector<int64_t>{0}}).error().message,
              HasSubstr("needs an output with one float per class; per sample the model gives 'y' float32 [1]"));
}

TEST(Agreement, ComparesClassesWithTheBaseline) {
  const ModelOutputs baseline = Outputs({{1, 0}, {0, 1}, {NAN, 1}, {1, 0}});
  const ModelOutputs candidate = Outputs({{9, 8}, {2, 1}, {NAN, 1}, {NAN, 0}});
  EXPECT_THAT(ScoreBy("agreement", candidate, baseline)->rows, ElementsAre(1, 0, 1, 0));
  EXPECT_EQ(ScoreBy("agreement", baseline, baseline)->value, 1);
}

TEST(Rms, IsTheNegativeRelativeDeviation) {
  const ModelOutputs baseline = Outputs({{3, 4}, {0, 1}});
  EXPECT_EQ(ScoreBy("rms", baseline, baseline)->value, 0);
  const auto scores = ScoreBy("rms", Outputs({{3, 4.5F}, {0, 1, 2}}), baseline);
  EXPECT_NEAR(scores->rows[0], -0.1, 1e-7);
  EXPECT_EQ(scores->rows[1], -kInfinity);  // another shape
}

TEST(Metric, RowsMustBeTheSame) {
  EXPECT_THAT(ScoreBy("agreement", Outputs({{1, 0}}), Outputs({{1, 0}, {1, 0}})).error().message,
              HasSubstr("of 1 samples cannot be compared with [y] of 2"));
  EXPECT_THAT(ScoreBy("rms", Outputs({}), Outputs({})).error().message, HasSubstr("no samples"));
}

TEST(Metric, NamesAreChecked) {
  for (const char* text : {"", "top5", "cmd:", "TOP1"}) {
    const auto metric = MakeMetric(text);
    ASSERT_FALSE(metric) << text;
    EXPECT_EQ(metric.error().kind, ErrorKind::kUsage);
  }
  for (const char* text : {"top1", "agreement", "rms", "cmd:./map.py -v"}) EXPECT_EQ((*MakeMetric(text))->name(), text);
}

TEST(Metric, DefaultDependsOnOutputsAndLabels) {
  EXPECT_EQ(DefaultMetric(Outputs({{1, 0}}), true), "top1");
  EXPECT_EQ(DefaultMetric(Outputs({{1, 0}}), false), "agreement");
  EXPECT_EQ(DefaultMetric(Outputs({{1}}), true), "rms");
}

TEST(AccuracyDrop, IsPaired) {
  const Scores baseline = {.value = 0.75, .rows = {1, 1, 1, 0}};
  const Scores candidate = {.value = 0.5, .rows = {1, 0, 1, 0}};
  const Estimate drop = AccuracyDrop(baseline, candidate);
  EXPECT_EQ(drop, PairedProportionDifference(1, 0, 4));
  EXPECT_EQ(drop.value, 0.25);
  EXPECT_EQ(drop.unit, "points");
}

TEST(Command, GetsOutputsAndLabelsAndPrintsANumber) {
  const ModelOutputs outputs = Outputs({{1, 0}, {0, 1}});
  // Names of arrays stand in the zip directory.
  const auto with = ScoreBy("cmd:grep -c -a labels.npy", outputs, outputs, {.classes = std::vector<int64_t>{0, 1}});
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_GE(with->value, 1);
  const auto y = ScoreBy("cmd:grep -c -a y.npy", outputs, outputs);
  ASSERT_TRUE(y) << y.error().message;
  EXPECT_GE(y->value, 1);
}

TEST(Command, RowsOfDifferentShapesAreSeparateArrays) {
  const ModelOutputs outputs = Outputs({{1, 0}, {0, 1, 2}});
  const auto scores = ScoreBy("cmd:grep -c -a 'y.1.npy'", outputs, outputs);
  ASSERT_TRUE(scores) << scores.error().message;
}

TEST(Command, FailuresAreErrorsWithTheReason) {
  const ModelOutputs outputs = Outputs({{1, 0}});
  EXPECT_THAT(ScoreBy("cmd:echo hello; :", outputs, outputs).error().message,
              HasSubstr("printed 'hello', wanted one number and nothing else"));
  const auto failed = ScoreBy("cmd:echo no module named x >&2; exit 4; :", outputs, outputs);
  EXPECT_EQ(failed.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("exited with code 4: no module named x"));
  EXPECT_THAT(ScoreBy("cmd:sleep 60; :", outputs, outputs, {}, {.limits = {.seconds = 0.2}}).error().message,
              HasSubstr("the time limit"));
}

TEST(Command, WithoutGroupsTheIntervalIsUnbounded) {
  const ModelOutputs outputs = Outputs({{1, 0}, {0, 1}});
  const auto a = ScoreBy("cmd:echo 0.9; :", outputs, outputs);
  const auto b = ScoreBy("cmd:echo 0.7; :", outputs, outputs);
  const Estimate drop = AccuracyDrop(*a, *b);
  EXPECT_NEAR(drop.value, 0.2, 1e-12);
  EXPECT_EQ(drop.high, kInfinity);
  EXPECT_EQ(drop.low, -kInfinity);
}

TEST(Command, GroupsGiveAnInterval) {
  // A program whose number is linear in the rows: the size of the file.
  std::vector<std::vector<float>> rows(20, {0, 0});
  const ModelOutputs outputs = Outputs(rows);
  const auto scores = ScoreBy("cmd:stat -c %s", outputs, outputs, {}, {.groups = 5});
  ASSERT_TRUE(scores) << scores.error().message;
  ASSERT_EQ(scores->pseudo_values.size(), 5U);
  // 20 rows of 8 bytes and a fixed rest: without one of 5 groups, 32 bytes less.
  for (const double value : scores->pseudo_values) EXPECT_EQ(value, 5 * scores->value - 4 * (scores->value - 32));
  Scores other = *scores;
  for (std::size_t i = 0; i < 5; ++i) other.pseudo_values[i] -= static_cast<double>(i);
  other.value -= 2;
  const Estimate drop = AccuracyDrop(*scores, other);
  EXPECT_EQ(drop.value, 2);
  // t(0.975, 4) = 2.776, standard error sqrt(2.5 / 5).
  EXPECT_NEAR(drop.high - drop.value, 2.776 * std::sqrt(0.5), 0.02);
  EXPECT_NEAR(drop.value - drop.low, drop.high - drop.value, 1e-12);
}

}  // namespace
}  // namespace rlc
