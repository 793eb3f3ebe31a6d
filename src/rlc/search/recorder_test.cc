#include "rlc/search/recorder.h"

#include "rlc/search/test_problem.h"
#include "rlc/testing/expected.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Recorder, MeasuresTheEmptyCandidateFirstAndEachOtherOnce) {
  SearchWorld world(SyntheticRequest(6, 1));
  Recorder recorder(world.problem);
  const int last = world.request.catalogue.Find(ActionType::kQuantize, 5);
  const SearchTrial* trial = recorder.Try({last});
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->candidate, Candidate{last});
  EXPECT_EQ(recorder.Try({last, last}), trial) << "the same set";
  EXPECT_TRUE(recorder.Known({last}));
  EXPECT_THAT(world.evaluator.asked, ElementsAre(Candidate{}, Candidate{last}));
  const SearchResult result = std::move(recorder).Finish();
  EXPECT_EQ(result.trials.size(), 2U);
  EXPECT_EQ(result.trials[1].evaluation, 2);
  EXPECT_FALSE(result.interrupted);
}

TEST(Recorder, EndsWithTheBudgetOfEvaluations) {
  SearchWorld world(SyntheticRequest(6, 1));
  world.problem.budget.evaluations = 2;
  Recorder recorder(world.problem);
  EXPECT_EQ(recorder.evaluations_left(), 1);
  EXPECT_NE(recorder.Try({0}), nullptr);
  EXPECT_TRUE(recorder.Done());
  EXPECT_EQ(recorder.Try({1}), nullptr);
  EXPECT_EQ(world.evaluator.evaluations(), 2);
  EXPECT_NE(recorder.Try({0}), nullptr) << "what is known costs nothing";
}

TEST(Recorder, EndsWithTheClock) {
  SearchWorld world(SyntheticRequest(6, 1));
  world.problem.budget.seconds = 10;
  Recorder recorder(world.problem);
  world.clock.Advance(9);
  EXPECT_FALSE(recorder.Done());
  world.clock.Advance(2);
  EXPECT_TRUE(recorder.Done());
}

TEST(Recorder, EndsWhenToldToStop) {
  SearchWorld world(SyntheticRequest(6, 1));
  std::atomic<bool> stop = false;
  world.problem.stop = StopToken(&stop);
  Recorder recorder(world.problem);
  stop = true;
  EXPECT_TRUE(recorder.Done());
  EXPECT_TRUE(std::move(recorder).Finish().interrupted);
}

TEST(Recorder, AFailureIsATrialAndNeverTheBest) {
  SearchWorld world(SyntheticRequest(6, 1));
  world.evaluator.fails = {0};
  Recorder recorder(world.problem);
  const SearchTrial* trial = recorder.Try({0});
  ASSERT_NE(trial, nullptr);
  EXPECT_FALSE(trial->costs.has_value());
  EXPECT_THAT(trial->failure, HasSubstr("crashed"));
  EXPECT_THAT(recorder.best()->candidate, IsEmpty());
}

TEST(Recorder, TheBestKeepsTheLimit) {
  TrainRequest request = SyntheticRequest(6, 1);
  const int prune = request.catalogue.Find(ActionType::kPrune, 1),
            quantize = request.catalogue.Find(ActionType::kQuantize, 5);
  request.tables.entry_drop[static_cast<size_t>(prune)] = 0.5;
  request.tables.entry_drop[static_cast<size_t>(quantize)] = 0;
  request.tables.layers[5] = {1, 0.1, 0.01, 0.01};
  SearchWorld world(request);
  int called = 0;
  world.problem.on_trial = [&](const SearchTrial& trial, const SearchTrial* best) {
    ++called;
    ASSERT_NE(best, nullptr);
    EXPECT_EQ(best->candidate == trial.candidate, called != 2);
  };
  Recorder recorder(world.problem);
  recorder.Try({prune});
  recorder.Try({quantize});
  EXPECT_EQ(called, 3);
  EXPECT_THAT(recorder.best()->candidate, ElementsAre(quantize));
}

TEST(Recorder, CorrectsTheSurrogate) {
  const TrainRequest request = SyntheticRequest(6, 1);
  SurrogateTables truth = request.tables;
  truth.layers[5].int8_ms *= 0.5;
  SearchWorld world(request, &truth);
  const int quantize = request.catalogue.Find(ActionType::kQuantize, 5);
  const double before = world.surrogate.Evaluate({quantize})->latency_ms.value;
  Recorder recorder(world.problem);
  recorder.Try({quantize});
  const double measured = recorder.best()->costs->latency_ms.value;
  // One measurement counts by the square of the candidate's speed-up against one of ridge.
  const double speed = request.tables.baseline_ms / measured, weight = speed * speed;
  EXPECT_NEAR(world.surrogate.Evaluate({quantize})->latency_ms.value,
              before + (measured - before) * weight / (weight + 1), 1e-9);
}

}  // namespace
}  // namespace rlc
