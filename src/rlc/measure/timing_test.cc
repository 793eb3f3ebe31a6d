#include "rlc/measure/timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "rlc/base/file.h"
#include "rlc/base/rng.h"
#include "rlc/measure/test_models.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

// A machine whose clock only runs while a participant does.
class FakeMachine {
 public:
  Clock clock() const { return clock_.AsClock(); }
  // Every run takes `seconds`, give or take `noise` (relative), times what drift() says.
  Participant Runs(const std::string& name, double seconds, double noise = 0) {
    return {name, [this, seconds, noise]() -> Expected<void> {
              ++runs;
              clock_.Advance(seconds * (1 + noise * rng_.Normal()) * drift);
              return {};
            }};
  }
  double drift = 1;
  int runs = 0;

 private:
  ManualClock clock_;
  Rng rng_{7};
};

TimingResult Time(const std::vector<Participant>& participants, const Participant* control,
                  const TimingOptions& options, const Clock& clock) {
  auto result = TimeInterleaved(participants, control, options, clock);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return *result;
}

TEST(TimeInterleaved, FindsTheTrueRatioInNoise) {
  FakeMachine machine;
  const std::vector<Participant> participants = {machine.Runs("base", 0.004, 0.1), machine.Runs("fast", 0.003, 0.1),
                                                 machine.Runs("slow", 0.006, 0.1)};
  const Participant control = machine.Runs("base", 0.004, 0.1);
  const auto result = Time(participants, &control, {}, machine.clock());
  ASSERT_EQ(result.models.size(), 3u);
  EXPECT_NEAR(result.models[1].ratio.value, 0.75, 0.04);
  EXPECT_NEAR(result.models[2].ratio.value, 1.5, 0.08);
  EXPECT_NEAR(result.models[0].latency_ms.value, 4, 0.1);
  EXPECT_EQ(result.models[0].ratio.value, 1);
  EXPECT_EQ(result.models[1].change, Change::kFaster);
  EXPECT_EQ(result.models[2].change, Change::kSlower);
  EXPECT_NEAR(result.control->ratio.value, 1, 0.05);
}

// The stated confidence is what the method really has: 95 % of the intervals hold the true ratio.
TEST(TimeInterleaved, IntervalsCoverTheTrueRatio) {
  FakeMachine machine;
  int covered = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    TimingOptions options;
    options.seed = seed;
    options.precision = 0;
    options.min_rounds = options.max_rounds = 25;
    const auto result =
        Time({machine.Runs("base", 0.004, 0.1), machine.Runs("fast", 0.003, 0.1)}, nullptr, options, machine.clock());
    covered += result.models[1].ratio.interval().Contains(0.75) ? 1 : 0;
  }
  EXPECT_GE(covered, 52);
}

TEST(TimeInterleaved, ClaimsNothingInsideTheNoise) {
  FakeMachine machine;
  const std::vector<Participant> participants = {machine.Runs("base", 0.004, 0.2), machine.Runs("same", 0.00399, 0.2)};
  const Participant control = machine.Runs("base", 0.004, 0.2);
  TimingOptions options;
  options.max_rounds = 20;
  const auto result = Time(participants, &control, options, machine.clock());
  EXPECT_EQ(result.models[1].change, Change::kNone);
}

// The whole machine becomes three times slower half-way: in the ratio nothing of it is seen.
TEST(TimeInterleaved, SharedDriftCancelsOut) {
  FakeMachine machine;
  int calls = 0;
  std::vector<Participant> participants = {machine.Runs("base", 0.004), machine.Runs("fast", 0.002)};
  for (Participant& participant : participants) {
    participant.run = [&, run = participant.run] {
      machine.drift = ++calls > 400 ? 3 : 1;
      return run();
    };
  }
  TimingOptions options;
  options.precision = 0;
  const auto result = Time(participants, nullptr, options, machine.clock());
  EXPECT_GT(result.models[0].run_ms.back(), 2 * result.models[0].run_ms.front());
  EXPECT_NEAR(result.models[1].ratio.value, 0.5, 0.01);
}

// Another program takes the processor for 5 ms every 20 ms. Batches of 10 ms are hit half of the time, and what they
// show is neither the models' times nor their ratio.
TEST(TimeInterleaved, RepeatsBatchesThatOthersDisturb) {
  for (const bool counted : {true, false}) {
    ManualClock clock;
    int64_t preemptions = 0;
    double next = 0.02;
    const auto run = [&](double seconds) {
      return [&, seconds]() -> Expected<void> {
        clock.Advance(seconds);
        if (clock.AsClock()() > next) {
          clock.Advance(0.005);
          next = clock.AsClock()() + 0.02;
          ++preemptions;
        }
        return {};
      };
    };
    const std::vector<Participant> participants = {{"base", run(0.002)}, {"fast", run(0.0015)}};
    TimingOptions options;
    options.precision = 0;
    const auto result = TimeInterleaved(participants, nullptr, options, clock.AsClock(), {},
                                        counted ? [&] { return preemptions; } : PreemptionCount());
    ASSERT_TRUE(result);
    const double error = std::abs(result->models[0].latency_ms.high - 2);
    if (counted) {
      EXPECT_LT(error, 1e-9);
      EXPECT_FALSE(result->models[0].disturbed);
      EXPECT_GE(result->models[0].run_ms.size(), 15u);
    } else {
      EXPECT_GT(error, 0.5);
    }
  }
}

TEST(TimeInterleaved, SaysWhenThereIsNoQuiet) {
  FakeMachine machine;
  int64_t preemptions = 0;
  TimingOptions options;
  options.budget_seconds = 0.5;
  const auto result = TimeInterleaved(std::vector<Participant>{machine.Runs("a", 0.01), machine.Runs("b", 0.01)},
                                      nullptr, options, machine.clock(), {}, [&] { return ++preemptions; });
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->models[0].disturbed && result->models[1].disturbed);
  EXPECT_GE(result->rounds, options.min_rounds);
  EXPECT_EQ(result->models[0].run_ms.size(), static_cast<size_t>(result->rounds)) << "then all count";
}

TEST(TimeInterleaved, FillsBatchesAndKeepsTheBudget) {
  FakeMachine machine;
  TimingOptions options;
  options.budget_seconds = 2;
  options.precision = 0;
  const auto result =
      Time({machine.Runs("a", 0.0001, 0.01), machine.Runs("b", 0.05, 0.01)}, nullptr, options, machine.clock());
  EXPECT_NEAR(result.models[0].runs_per_batch, 100, 15);
  EXPECT_EQ(result.models[1].runs_per_batch, 1);
  EXPECT_TRUE(result.stable);
  EXPECT_NEAR(result.seconds, 2, 0.3);
  EXPECT_EQ(result.models[0].run_ms.size(), static_cast<size_t>(result.rounds));
}

TEST(TimeInterleaved, StopsEarlyWhenItIsSure) {
  FakeMachine machine;
  TimingOptions options;
  options.budget_seconds = 1000;
  options.max_rounds = 100'000;
  const auto result =
      Time({machine.Runs("a", 0.01, 0.001), machine.Runs("b", 0.02, 0.001)}, nullptr, options, machine.clock());
  EXPECT_LT(result.seconds, 10);
}

TEST(TimeInterleaved, SaysWhenWarmUpDidNotSettle) {
  FakeMachine machine;
  const Participant restless{"restless", [&]() -> Expected<void> {
                               machine.drift *= 1.2;
                               return machine.Runs("", 0.001).run();
                             }};
  TimingOptions options;
  options.budget_seconds = 0.05;
  options.min_rounds = options.max_rounds = 2;
  EXPECT_FALSE(Time({restless}, nullptr, options, machine.clock()).stable);
}

TEST(TimeInterleaved, SurvivesAClockThatStandsStill) {
  TimingOptions options;
  options.min_rounds = options.max_rounds = 3;
  const Participant nothing{"nothing", []() -> Expected<void> { return {}; }};
  ManualClock clock;
  EXPECT_TRUE(TimeInterleaved(std::vector<Participant>{nothing, nothing}, nullptr, options, clock.AsClock()));
}

TEST(TimeInterleaved, HandsOnErrorsAndInterrupts) {
  FakeMachine machine;
  const Participant broken{"broken", [] { return Expected<void>(MakeError(ErrorKind::kInternal, "it broke")); }};
  auto failed =
      TimeInterleaved(std::vector<Participant>{machine.Runs("a", 0.01), broken}, nullptr, {}, machine.clock());
  EXPECT_THAT(failed.error().message, HasSubstr("it broke"));
  EXPECT_FALSE(TimeInterleaved({}, nullptr, {}, machine.clock()));

  std::atomic<bool> stop = true;
  auto stopped = TimeInterleaved(std::vector<Participant>{machine.Runs("a", 0.01)}, nullptr, {}, machine.clock(),
                                 StopToken(&stop));
  EXPECT_EQ(stopped.error().kind, ErrorKind::kInterrupted);
}

TEST(JudgeRatio, NeedsMoreThanTheControlShows) {
  const auto ratio = [](double low, double high) { return Estimate{(low + high) / 2, low, high, 20, "x"}; };
  EXPECT_EQ(JudgeRatio(ratio(0.90, 0.95), std::nullopt), Change::kFaster);
  EXPECT_EQ(JudgeRatio(ratio(0.90, 1.01), std::nullopt), Change::kNone);
  EXPECT_EQ(JudgeRatio(ratio(1.05, 1.10), std::nullopt), Change::kSlower);
  EXPECT_EQ(JudgeRatio(ratio(0.96, 0.99), ratio(0.97, 1.02)), Change::kNone);
  EXPECT_EQ(JudgeRatio(ratio(0.90, 0.96), ratio(0.97, 1.02)), Change::kFaster);
  // A control that leans to one side does not help a candidate on the other.
  EXPECT_EQ(JudgeRatio(ratio(0.99, 1.01), ratio(1.02, 1.05)), Change::kNone);
}

TEST(TimingResult, SurvivesJson) {
  FakeMachine machine;
  const Participant control = machine.Runs("a", 0.01, 0.01);
  const auto result =
      Time({machine.Runs("a", 0.01, 0.01), machine.Runs("b", 0.005, 0.01)}, &control, {}, machine.clock());
  const auto parsed = ParseJson(DumpJson(ToJson(result)), "text");
  ASSERT_TRUE(parsed);
  const auto back = TimingResultFromJson(*parsed);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->models[1].run_ms, result.models[1].run_ms);
  EXPECT_EQ(back->models[1].ratio, result.models[1].ratio);
  EXPECT_EQ(back->models[1].change, Change::kFaster);
  EXPECT_EQ(back->control->ratio, result.control->ratio);
  EXPECT_EQ(back->rounds, result.rounds);
  // An interval without an end (a metric that has none) survives too.
  const auto open =
      EstimateFromJson(ParseJson(DumpJson(EstimateToJson({1, -INFINITY, INFINITY, 3, "points"})), "text").value());
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_EQ(*open, (Estimate{1, -INFINITY, INFINITY, 3, "points"}));
  Json broken = *parsed;
  broken["models"][0]["change"] = "sideways";
  EXPECT_FALSE(TimingResultFromJson(broken));
  EXPECT_FALSE(TimingResultFromJson(Json::object()));
}

TEST(TimeModels, RunsRealModelsAgainstEachOther) {
  const auto folder = TempDir::Create();
  const std::string small = WriteTestModel(folder->path(), "small.onnx", kSmallConv);
  const std::string large = WriteTestModel(folder->path(), "large.onnx", kLargeConv);
  TimingOptions options;
  options.budget_seconds = 1;
  const std::vector<TimedModel> models = {{"large", large, OptLevel::kAll, {}}, {"small", small, OptLevel::kAll, {}}};
  const std::vector<NamedTensor> inputs = {{"x", RandomTensor({1, 8, 16, 16})}, {"unused", RandomTensor({1})}};
  const auto result = TimeModels(models, inputs, options, SteadyClock());
  ASSERT_TRUE(result) << result.error().message;
  // 64 times the work: whatever the machine does beside, this shows.
  EXPECT_LT(result->models[1].ratio.value, 1);
  EXPECT_GT(result->models[0].creation_ms, 0);
  EXPECT_GE(result->core, 0);
  const auto missing = TimeModels(models, {}, options, SteadyClock());
  EXPECT_THAT(missing.error().message, HasSubstr("input 'x'"));
}

}  // namespace
}  // namespace rlc
