#include "rlc/data/splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rlc {
namespace {

using ::testing::HasSubstr;

std::vector<std::size_t> All(const Splits& splits) {
  std::vector<std::size_t> rows;
  for (const auto* part : {&splits.calibration, &splits.search, &splits.final}) {
    rows.insert(rows.end(), part->begin(), part->end());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(Splits, CoverAllRowsOnceInTheirProportions) {
  const auto splits = MakeSplits(1000);
  ASSERT_TRUE(splits);
  EXPECT_EQ(splits->calibration.size(), 100U);
  EXPECT_EQ(splits->search.size(), 300U);
  EXPECT_EQ(splits->final.size(), 600U);
  const std::vector<std::size_t> rows = All(*splits);
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], i);
}

TEST(Splits, SeedDecidesTheOrder) {
  EXPECT_EQ(MakeSplits(100, {.seed = 1})->final, MakeSplits(100, {.seed = 1})->final);
  EXPECT_NE(MakeSplits(100, {.seed = 1})->final, MakeSplits(100, {.seed = 2})->final);
  EXPECT_FALSE(std::is_sorted(MakeSplits(100)->final.begin(), MakeSplits(100)->final.end()));
}

TEST(Splits, ClassesAreSpreadEvenly) {
  std::vector<int64_t> labels(1000, 0);
  std::fill(labels.begin(), labels.begin() + 50, 7);  // a rare class
  const auto splits = MakeSplits(labels.size(), {}, labels);
  const auto rare = [&](const std::vector<std::size_t>& part) {
    return std::count_if(part.begin(), part.end(), [&](std::size_t row) { return labels[row] == 7; });
  };
  EXPECT_NEAR(static_cast<double>(rare(splits->calibration)), 5, 1);
  EXPECT_NEAR(static_cast<double>(rare(splits->search)), 15, 1);
  EXPECT_NEAR(static_cast<double>(rare(splits->final)), 30, 1);
  // The first rows of a part are not all of one class.
  const std::vector<std::size_t> head(splits->final.begin(), splits->final.begin() + 200);
  EXPECT_NEAR(static_cast<double>(rare(head)), 10, 8);
}

TEST(Splits, EveryPartHasARowHoweverFewThereAre) {
  for (std::size_t rows = 3; rows < 30; ++rows) {
    const auto splits = MakeSplits(rows, {.calibration = 0.01, .search = 0.01});
    ASSERT_TRUE(splits);
    EXPECT_FALSE(splits->calibration.empty());
    EXPECT_FALSE(splits->search.empty());
    EXPECT_FALSE(splits->final.empty());
    EXPECT_EQ(All(*splits).size(), rows);
  }
  EXPECT_THAT(MakeSplits(2).error().message, HasSubstr("have 2 samples; at least 3"));
}

TEST(Splits, FractionsMustLeaveSomethingForEach) {
  EXPECT_EQ(MakeSplits(100, {.calibration = 0.5, .search = 0.5}).error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(MakeSplits(100, {.calibration = 0}));
  EXPECT_FALSE(MakeSplits(100, {.search = -0.1}));
}

}  // namespace
}  // namespace rlc
