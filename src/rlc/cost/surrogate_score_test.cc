#include "rlc/cost/surrogate_score.h"

#include <gtest/gtest.h>

#include "rlc/testing/synthetic_request.h"

namespace rlc {
namespace {

class SurrogateScoreTest : public ::testing::Test {
 protected:
  // What the tables themselves say of quantizing each layer alone.
  std::vector<Surrogate::Measured> AsExpected() {
    Surrogate surrogate(request_.catalogue, request_.tables);
    std::vector<Surrogate::Measured> measured;
    for (int layer = 0; layer < kLayers; ++layer) {
      const int entry = request_.catalogue.Find(ActionType::kQuantize, layer);
      const Candidate candidate = Normalized(request_.catalogue, {entry});
      const auto costs = surrogate.Evaluate(candidate);
      measured.push_back({candidate, costs->latency_ms.value, costs->drop->value});
    }
    return measured;
  }

  static constexpr int kLayers = 6;
  TrainRequest request_ = SyntheticRequest(kLayers, 1);
};

TEST_F(SurrogateScoreTest, PerfectWhenMeasurementsAreWhatTablesSay) {
  const auto measured = AsExpected();
  const SurrogateScore score = ScoreSurrogate(request_.catalogue, request_.tables, {}, measured, 10);
  EXPECT_EQ(score.held_out, kLayers);
  EXPECT_EQ(score.near_best, kLayers);
  EXPECT_EQ(score.kendall, 1);
  EXPECT_EQ(score.latency_error, 0);
  EXPECT_EQ(score.pick, score.best);
  EXPECT_EQ(score.regret, 0);
  int candidates = 0;
  for (const DropError& error : score.drop) {
    candidates += error.candidates;
    EXPECT_EQ(error.largest, 0);
  }
  EXPECT_EQ(candidates, kLayers);
}

TEST_F(SurrogateScoreTest, WrongOrderIsSeen) {
  auto measured = AsExpected();
  for (auto& one : measured) {
    one.latency_ms = 100 - one.latency_ms;
    one.drop += 0.03;
  }
  const SurrogateScore score = ScoreSurrogate(request_.catalogue, request_.tables, {}, measured, 10);
  EXPECT_EQ(score.kendall, -1);
  EXPECT_GT(score.regret, 0);
  EXPECT_NE(score.pick, score.best);
  for (const DropError& error : score.drop) {
    EXPECT_NEAR(error.mean, -0.03, 1e-12);
    EXPECT_NEAR(error.mean_absolute, 0.03, 1e-12);
  }
}

TEST_F(SurrogateScoreTest, WhatWasFittedIsNotHeldOut) {
  const auto measured = AsExpected();
  const auto part = std::span(measured).first(2);
  EXPECT_EQ(ScoreSurrogate(request_.catalogue, request_.tables, part, measured).held_out, kLayers - 2);
  const SurrogateScore nothing = ScoreSurrogate(request_.catalogue, request_.tables, measured, measured);
  EXPECT_EQ(nothing.held_out, 0);
  EXPECT_EQ(nothing.near_best, 0);
  EXPECT_TRUE(nothing.drop.empty());
}

TEST_F(SurrogateScoreTest, OnlyThoseWithinTheMarginCountAsNearTheBest) {
  auto measured = AsExpected();
  for (size_t i = 0; i < measured.size(); ++i) measured[i].latency_ms = 10.0 + static_cast<double>(i);
  EXPECT_EQ(ScoreSurrogate(request_.catalogue, request_.tables, {}, measured, 0.25).near_best, 3);  // 10, 11, 12
}

}  // namespace
}  // namespace rlc
