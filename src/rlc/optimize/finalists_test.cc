#include "rlc/optimize/finalists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kMaxDrop = 0.01;

SearchTrial TrialOf(Candidate candidate, double ratio, double drop, double highest_drop) {
  SearchTrial trial;
  trial.candidate = std::move(candidate);
  trial.costs.emplace();
  trial.costs->ratio = {ratio, ratio - 0.01, ratio + 0.01, 20, "x"};
  trial.costs->drop = Estimate{drop, drop - 0.001, highest_drop, 100, "points"};
  return trial;
}

std::vector<Candidate> Best(const std::vector<SearchTrial>& trials) {
  std::vector<Candidate> best;
  for (const SearchTrial* trial : BestTrials(trials, kMaxDrop)) best.push_back(trial->candidate);
  return best;
}

TEST(BestTrials, AreTheBestByEstimateThenTheSureOnesThenTheFirst) {
  std::vector<SearchTrial> trials = {TrialOf({}, 0.9, 0, 0)};
  trials.push_back(TrialOf({0}, 0.80, 0.005, 0.02));  // the usual recipe
  trials.push_back(TrialOf({1}, 0.50, 0.008, 0.03));
  trials.push_back(TrialOf({2}, 0.52, 0.009, 0.03));
  trials.push_back(TrialOf({3}, 0.54, 0.007, 0.03));  // neither among the best nor sure
  trials.push_back(TrialOf({4}, 0.63, 0.001, 0.005));
  trials.push_back(TrialOf({5}, 0.60, 0.001, 0.006));
  trials.push_back(TrialOf({6}, 0.66, 0.001, 0.004));
  trials.push_back(TrialOf({7}, 0.70, 0.000, 0.001));  // sure, but there are three better ones
  EXPECT_THAT(Best(trials),
              ElementsAre(Candidate{1}, Candidate{2}, Candidate{5}, Candidate{4}, Candidate{6}, Candidate{0}));
}

TEST(BestTrials, ComeOnce) {
  const std::vector<SearchTrial> trials = {TrialOf({}, 0.9, 0, 0), TrialOf({0}, 0.5, 0, 0), TrialOf({1}, 0.6, 0, 0)};
  EXPECT_THAT(Best(trials), ElementsAre(Candidate{0}, Candidate{1}));
}

TEST(BestTrials, LeaveOutWhatIsOverTheLimitOrFailed) {
  SearchTrial failed;
  failed.candidate = {0};
  EXPECT_THAT(Best({failed, TrialOf({1}, 0.4, 0.011, 0.02)}), IsEmpty());
  // The first that was within the limit, not the first of all.
  EXPECT_THAT(Best({failed, TrialOf({1}, 0.4, 0.011, 0.02), TrialOf({2}, 0.9, 0.001, 0.02)}),
              ElementsAre(Candidate{2}));
}

TEST(BestTrials, WithoutADropAreSure) {
  std::vector<SearchTrial> trials;
  for (const int entry : {0, 1, 2, 3}) {
    trials.push_back(TrialOf({entry}, 0.9 - 0.1 * entry, 0, 0));
    trials.back().costs->drop.reset();
  }
  EXPECT_THAT(Best(trials), ElementsAre(Candidate{3}, Candidate{2}, Candidate{1}, Candidate{0}));
}

Finalist Original() {
  Finalist finalist;
  finalist.original = true;
  finalist.timing.ratio = {1, 1, 1, 20, "x"};
  return finalist;
}

Finalist Faster(Candidate candidate, double ratio, double drop, double highest_drop) {
  Finalist finalist;
  finalist.candidate = std::move(candidate);
  finalist.timing.ratio = {ratio, ratio - 0.01, ratio + 0.01, 20, "x"};
  finalist.timing.change = Change::kFaster;
  finalist.final_drop = Estimate{drop, drop - 0.001, highest_drop, 100, "points"};
  return finalist;
}

Finalist FasterExact(double ratio, double drop, double highest_drop, double deviation = 1e-7) {
  Finalist finalist = Faster({}, ratio, drop, highest_drop);
  finalist.deviation = OutputDeviation{"y", deviation};
  return finalist;
}

TEST(KeepsLimit, AsksTheUpperEndOfWhatChangesTheFunction) {
  EXPECT_TRUE(KeepsLimit(Faster({0}, 0.5, 0.001, 0.01), kMaxDrop));
  EXPECT_FALSE(KeepsLimit(Faster({0}, 0.5, 0.001, 0.011), kMaxDrop));
}

TEST(KeepsLimit, AsksThePointEstimateOfExactRewrites) {
  EXPECT_TRUE(KeepsLimit(FasterExact(0.5, 0.01, 0.2), kMaxDrop));
  EXPECT_FALSE(KeepsLimit(FasterExact(0.5, 0.011, 0.2), kMaxDrop));
}

TEST(KeepsLimit, WantsExactRewritesToComputeTheSame) {
  EXPECT_TRUE(KeepsLimit(FasterExact(0.5, 0, 0, kExactTolerance), kMaxDrop));
  EXPECT_FALSE(KeepsLimit(FasterExact(0.5, 0, 0, 2 * kExactTolerance), kMaxDrop)) << "whatever the accuracy says";
  EXPECT_FALSE(KeepsLimit(FasterExact(0.5, 0, 0, std::numeric_limits<double>::infinity()), kMaxDrop));
  Finalist unknown = FasterExact(0.5, 0, 0);
  unknown.deviation.reset();
  EXPECT_FALSE(KeepsLimit(unknown, kMaxDrop));
}

TEST(KeepsLimit, NeedsADrop) {
  Finalist unknown = FasterExact(0.5, 0, 0);
  unknown.final_drop.reset();
  EXPECT_FALSE(KeepsLimit(unknown, kMaxDrop));
}

TEST(Choose, TakesTheFastestThatKeepsTheLimit) {
  const Choice choice =
      Choose({Original(), FasterExact(0.8, 0, 0.1), Faster({0}, 0.6, 0, 0.005), Faster({1}, 0.7, 0, 0)}, kMaxDrop);
  EXPECT_EQ(choice.winner, 2);
  EXPECT_EQ(choice.reason, "");
}

TEST(Choose, SaysWhatFasterOneFailed) {
  const Choice choice = Choose({Original(), FasterExact(0.8, 0, 0.1), Faster({0}, 0.5, 0.002, 0.02)}, kMaxDrop);
  EXPECT_EQ(choice.winner, 1);
  EXPECT_THAT(choice.reason, HasSubstr("a model 2.00x as fast failed on the final split"));
  EXPECT_THAT(choice.reason, HasSubstr("0.20 points may be as large as 2.00 points, the limit is 1.00 points"));
}

TEST(Choose, SaysThatExactRewritesWereNot) {
  Finalist exact = FasterExact(0.5, 0, 0, 0.25);
  const Choice wrong = Choose({Original(), exact}, kMaxDrop);
  EXPECT_EQ(wrong.winner, 0);
  EXPECT_THAT(wrong.reason, HasSubstr("2.00x as fast was refused: output 'y' deviates by 0.25"));
  exact.deviation.reset();
  const Choice unknown = Choose({Original(), exact}, kMaxDrop);
  EXPECT_EQ(unknown.winner, 0);
  EXPECT_THAT(unknown.reason, HasSubstr("could not be compared"));
}

TEST(Choose, KeepsTheOriginalWhenNothingIsFasterOutsideTheNoise) {
  Finalist noise = FasterExact(0.98, 0, 0);
  noise.timing.change = Change::kNone;
  Finalist unseen = Faster({0}, 0.5, 0, 0);  // not run on the final split
  unseen.final_drop.reset();
  const Choice choice = Choose({Original(), noise, unseen}, kMaxDrop);
  EXPECT_EQ(choice.winner, 0);
  EXPECT_THAT(choice.reason, HasSubstr("outside the noise"));
}

}  // namespace
}  // namespace rlc
