#include "rlc/search/methods.h"

#include <algorithm>

#include "rlc/search/best_by_estimate.h"
#include "rlc/search/recipe.h"
#include "rlc/search/test_problem.h"
#include "rlc/testing/expected.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// All actions alike.
class UniformPolicy : public Policy {
 public:
  std::string name() const override { return "uniform"; }
  Expected<void> Logits(std::span<const float> observation, std::span<float> logits) override {
    RLC_CHECK_EQ(observation.size(), size_t{kObservationSize});
    std::fill(logits.begin(), logits.end(), 0.0F);
    return {};
  }
};

class FailingPolicy : public UniformPolicy {
 public:
  Expected<void> Logits(std::span<const float>, std::span<float>) override {
    return MakeError(ErrorKind::kInvalidInput, "policy.onnx: wrong size");
  }
};

SearchResult RunMethod(const std::string& name, SearchWorld& world, int evaluations, uint64_t seed = 0) {
  UniformPolicy policy;
  world.problem.policy = &policy;
  world.problem.seed = seed;
  world.problem.budget.evaluations = evaluations;
  auto result = FindMethod(name)->Run(world.problem);
  EXPECT_THAT(result, IsOk());
  return *std::move(result);
}

TEST(Methods, AreFoundByName) {
  EXPECT_THAT(MethodNames(), ElementsAre("greedy", "random", "rl", "static"));
  for (const std::string& name : MethodNames()) EXPECT_EQ(FindMethod(name)->name(), name);
  EXPECT_EQ(FindMethod("magic"), nullptr);
}

class EachMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(EachMethod, KeepsTheBudgetTheLimitAndNeverRepeats) {
  for (const int evaluations : {1, 2, 17}) {
    SearchWorld world(SyntheticRequest(12, 3));
    const SearchResult result = RunMethod(GetParam(), world, evaluations);
    EXPECT_LE(world.evaluator.evaluations(), evaluations);
    ASSERT_GE(result.best, 0);
    EXPECT_TRUE(result.trials[0].candidate.empty());
    EXPECT_LE(result.trials[static_cast<size_t>(result.best)].costs->drop->value, world.problem.max_drop);
    std::vector<Candidate> asked = world.evaluator.asked;
    std::sort(asked.begin(), asked.end());
    EXPECT_EQ(std::adjacent_find(asked.begin(), asked.end()), asked.end());
    for (const SearchTrial& trial : result.trials) {
      EXPECT_FALSE(BetterTrial(trial, result.trials[static_cast<size_t>(result.best)], world.problem.max_drop));
    }
  }
}

TEST_P(EachMethod, SameSeedSameTrials) {
  SearchWorld one(SyntheticRequest(9, 3)), two(SyntheticRequest(9, 3));
  RunMethod(GetParam(), one, 15, 5);
  RunMethod(GetParam(), two, 15, 5);
  EXPECT_EQ(one.evaluator.asked, two.evaluator.asked);
}

TEST_P(EachMethod, StopsWhenTold) {
  SearchWorld world(SyntheticRequest(12, 3));
  std::atomic<bool> stop = false;
  world.problem.stop = StopToken(&stop);
  world.evaluator.on_evaluate = [&](const Candidate&) { stop = world.evaluator.asked.size() >= 3; };
  const SearchResult result = RunMethod(GetParam(), world, 100);
  EXPECT_EQ(world.evaluator.asked.size(), 3U);
  EXPECT_TRUE(result.interrupted);
}

TEST_P(EachMethod, LivesWithFailuresAndAnEmptyCatalogue) {
  SearchWorld world(SyntheticRequest(6, 3));
  world.evaluator.fails = BestByEstimate(world.request.catalogue, world.surrogate, world.problem.max_drop);
  ASSERT_FALSE(world.evaluator.fails.empty());
  EXPECT_GE(RunMethod(GetParam(), world, 30).best, 0);
  TrainRequest empty = SyntheticRequest(3, 3);
  empty.catalogue.entries.clear();
  empty.tables.entry_drop.clear();
  SearchWorld nothing(empty);
  EXPECT_EQ(RunMethod(GetParam(), nothing, 10).best, 0);
}

INSTANTIATE_TEST_SUITE_P(All, EachMethod, ::testing::ValuesIn(MethodNames()), [](const auto& of) { return of.param; });

// Tables of another machine: the surrogate is wrong, measurements are right.
SurrogateTables OtherTruth(const TrainRequest& request) {
  SurrogateTables truth = request.tables;
  for (size_t layer = 0; layer < truth.layers.size(); ++layer)
    truth.layers[layer].int8_ms *= layer % 2 == 0 ? 0.7 : 1.5;
  return truth;
}

class LearningMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(LearningMethod, FindsTheOptimumWithEnoughEvaluationsAlthoughTheSurrogateIsWrong) {
  TrainRequest request = SyntheticRequest(6, 2);
  request.env.target_drop = 0.004;
  TrainRequest real = request;
  real.tables = OtherTruth(request);
  SearchWorld world(request, &real.tables);
  const SearchResult result = RunMethod(GetParam(), world, 400);
  const double best = result.trials[static_cast<size_t>(result.best)].costs->latency_ms.value;
  EXPECT_LE(best, 1.01 * BestLatencyByForce(real));
}

INSTANTIATE_TEST_SUITE_P(All, LearningMethod, ::testing::Values("greedy", "random", "rl"),
                         [](const auto& of) { return of.param; });

TEST(StaticSearch, TriesFoldsThenInt8ThenPruning) {
  SearchWorld world(SyntheticRequest(6, 3));
  RunMethod("static", world, 100);
  std::vector<size_t> sizes;
  for (const Candidate& candidate : world.evaluator.asked) sizes.push_back(candidate.size());
  EXPECT_THAT(sizes, ElementsAre(0, 5, 11, 13));  // 5 folds, 6 int8 layers, 2 prunings
}

TEST(GreedySearch, AsksTheSurrogateAfterTheRecipe) {
  SearchWorld shorter(SyntheticRequest(12, 3)), longer(SyntheticRequest(12, 3));
  const Candidate recipe = Normalized(shorter.request.catalogue, QuantizeEverything(shorter.request.catalogue));
  RunMethod("greedy", shorter, 2);
  EXPECT_THAT(shorter.evaluator.asked, ElementsAre(Candidate{}, recipe));
  const Candidate estimated = BestByEstimate(shorter.request.catalogue, shorter.surrogate, shorter.problem.max_drop);
  RunMethod("greedy", longer, 3);
  EXPECT_THAT(longer.evaluator.asked, ElementsAre(Candidate{}, recipe, estimated));
}

TEST(Methods, SayWhatTheyNeed) {
  SearchWorld world(SyntheticRequest(6, 3));
  EXPECT_THAT(FindMethod("rl")->Run(world.problem), IsErrorOf(ErrorKind::kUsage, HasSubstr("--policy")));
  world.problem.surrogate = nullptr;
  EXPECT_THAT(FindMethod("greedy")->Run(world.problem), IsErrorOf(ErrorKind::kUsage, HasSubstr("surrogate")));
  for (const char* name : {"random", "static"}) EXPECT_THAT(FindMethod(name)->Run(world.problem), IsOk());
}

TEST(RlSearch, PassesOnWhatThePolicySays) {
  SearchWorld world(SyntheticRequest(6, 3));
  FailingPolicy policy;
  world.problem.policy = &policy;
  EXPECT_THAT(FindMethod("rl")->Run(world.problem), IsError(HasSubstr("wrong size")));
}

}  // namespace
}  // namespace rlc
