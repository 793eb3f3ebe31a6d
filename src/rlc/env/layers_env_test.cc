#include "rlc/env/layers_env.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "rlc/base/rng.h"
#include "rlc/cost/surrogate.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/synthetic_request.h"

namespace rlc {
namespace {

using ::testing::Contains;
using ::testing::Not;

using Act = LayerActionType;

// An environment with what it needs to live.
struct World {
  explicit World(TrainRequest wanted)
      : request(std::move(wanted)),
        surrogate(request.catalogue, request.tables),
        features(request.features),
        env(request.catalogue, features, surrogate, request.env) {
    RLC_CHECK(env.Reset().has_value());
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  TrainRequest request;
  Surrogate surrogate;
  GraphFeatures features;
  LayersEnv env;
};

LayerAction ActionAt(const LayersEnv& env, size_t index) {
  const auto layers = static_cast<size_t>(env.num_layers());
  return {static_cast<Act>(index / layers), static_cast<int>(index % layers)};
}

std::vector<uint8_t> MaskOf(const LayersEnv& env) {
  std::vector<uint8_t> mask(static_cast<size_t>(kLayerActionTypes * env.num_layers()));
  env.Mask(mask);
  return mask;
}

LayerAction RandomLegal(const LayersEnv& env, Rng& rng) {
  const std::vector<uint8_t> mask = MaskOf(env);
  for (;;) {
    const size_t index = rng.UniformInt(mask.size());
    if (mask[index] != 0) return ActionAt(env, index);
  }
}

bool SameState(const LayersState& a, const LayersState& b) {
  return a.chosen == b.chosen && a.history == b.history && a.costs.ratio == b.costs.ratio && a.paid == b.paid &&
         a.terminated == b.terminated && a.truncated == b.truncated;
}

RC_GTEST_PROP(LayersEnvLaws, MaskIsLegalityAndLegalPlayKeepsTheLimit, (uint64_t seed)) {
  World world(SyntheticRequest(10, seed));
  Rng rng(seed);
  while (!world.env.state().ended()) {
    const std::vector<uint8_t> mask = MaskOf(world.env);
    for (size_t index = 0; index < mask.size(); ++index) {
      const LayerAction action = ActionAt(world.env, index);
      const bool stands_once = action.type == Act::kSkip || action.type == Act::kTerminate;
      if (stands_once && action.layer > 0) {
        RC_ASSERT(mask[index] == 0);
      } else {
        RC_ASSERT((mask[index] != 0) == world.env.IsLegal(action));
      }
    }
    const auto step = world.env.Step(RandomLegal(world.env, rng));
    RC_ASSERT(step.has_value());
    RC_ASSERT(!step->illegal);
    RC_ASSERT(world.env.state().costs.drop->value <= world.request.env.target_drop + 1e-12);
  }
  RC_ASSERT(static_cast<int>(world.env.state().history.size()) <= world.env.max_steps());
}

RC_GTEST_PROP(LayersEnvLaws, DeltaRewardsSumToTheFinalPotentialAndPenalties, (uint64_t seed)) {
  TrainRequest request = SyntheticRequest(7, seed);
  request.env.mask_over_limit = seed % 2 == 0;
  World world(request);
  Rng rng(seed);
  double sum = 0;
  int illegal = 0;
  while (!world.env.state().ended()) {
    const auto index = rng.UniformInt(static_cast<uint64_t>(kLayerActionTypes * world.env.num_layers()));
    const auto step = world.env.Step(ActionAt(world.env, index));
    RC_ASSERT(step.has_value());
    sum += step->reward;
    illegal += step->illegal ? 1 : 0;
  }
  const double want =
      world.env.reward().Potential(world.env.state().costs) + illegal * request.env.reward.illegal_penalty;
  RC_ASSERT(std::abs(sum - want) < 1e-9);
}

RC_GTEST_PROP(LayersEnvLaws, ReplayingTheHistoryGivesTheSameState, (uint64_t seed)) {
  World world(SyntheticRequest(8, seed)), again(SyntheticRequest(8, seed));
  Rng rng(seed);
  std::vector<double> rewards;
  while (!world.env.state().ended()) rewards.push_back(world.env.Step(RandomLegal(world.env, rng))->reward);
  for (size_t i = 0; i < rewards.size(); ++i) {
    RC_ASSERT(again.env.Step(world.env.state().history[i])->reward == rewards[i]);
  }
  RC_ASSERT(SameState(again.env.state(), world.env.state()));
  RC_ASSERT(again.env.Observe() == world.env.Observe());
}

RC_GTEST_PROP(LayersEnvLaws, CopiesAndRestoredStatesGoOnAlike, (uint64_t seed)) {
  World world(SyntheticRequest(8, seed)), other(SyntheticRequest(8, seed));
  Rng rng(seed);
  for (int i = 0; i < 5 && !world.env.state().ended(); ++i)
    RC_ASSERT(world.env.Step(RandomLegal(world.env, rng)).has_value());
  LayersEnv copy = world.env;
  other.env.SetState(world.env.state());
  RC_ASSERT(MaskOf(copy) == MaskOf(world.env));
  RC_ASSERT(MaskOf(other.env) == MaskOf(world.env));
  while (!copy.state().ended()) {
    const LayerAction action = RandomLegal(copy, rng);
    const double reward = copy.Step(action)->reward;
    RC_ASSERT(other.env.Step(action)->reward == reward);
  }
  RC_ASSERT(SameState(copy.state(), other.env.state()));
}

RC_GTEST_PROP(LayersEnvLaws, ObservationsStayInRange, (uint64_t seed)) {
  World world(SyntheticRequest(9, seed));
  Rng rng(seed);
  for (;;) {
    for (float value : world.env.Observe()) RC_ASSERT(value >= -1.0F && value <= 1.0F);
    if (world.env.state().ended()) break;
    RC_ASSERT(world.env.Step(RandomLegal(world.env, rng)).has_value());
  }
}

TEST(LayersEnv, ShowsTheLastActionsNewestFirstAndTheStep) {
  TrainRequest request = SyntheticRequest(5, 1);
  request.env.max_steps = 8;
  World world(request);
  ASSERT_THAT(world.env.Step({Act::kFuseConvBn, 0}), IsOk());
  ASSERT_THAT(world.env.Step({Act::kQuantize, 4}), IsOk());
  const Observation seen = world.env.Observe();
  EXPECT_FLOAT_EQ(seen[17], -1.0F) << "quantize is type 0";
  EXPECT_FLOAT_EQ(seen[18], 1.0F) << "the last layer";
  EXPECT_FLOAT_EQ(seen[19], 0.0F) << "fuse_conv_bn is type 2 of 0..4";
  EXPECT_FLOAT_EQ(seen[20], -1.0F) << "layer 0";
  EXPECT_FLOAT_EQ(seen[21], -1.0F) << "no third action";
  EXPECT_FLOAT_EQ(seen[37], 2.0F * 2 / 8 - 1);
  EXPECT_FLOAT_EQ(seen[38], 1 - 2.0F * 2 / 8);
}

TEST(LayersEnv, StopTerminatesAndTheLimitTruncates) {
  TrainRequest request = SyntheticRequest(5, 1);
  request.env.max_steps = 2;
  World world(request);
  auto step = world.env.Step({Act::kSkip, 0});
  EXPECT_FALSE(step->terminated || step->truncated);
  step = world.env.Step({Act::kTerminate, 0});
  EXPECT_TRUE(step->terminated);
  EXPECT_FALSE(step->truncated) << "stop in the last step is a stop";
  ASSERT_THAT(world.env.Reset(), IsOk());
  ASSERT_THAT(world.env.Step({Act::kSkip, 0}), IsOk());
  step = world.env.Step({Act::kSkip, 0});
  EXPECT_FALSE(step->terminated);
  EXPECT_TRUE(step->truncated);
}

TEST(LayersEnv, IllegalActionsCostAPenaltyAndChangeNothing) {
  World world(SyntheticRequest(5, 1));
  ASSERT_THAT(world.env.Step({Act::kSkip, 0}), IsOk());  // pays the potential of the start
  for (const LayerAction action :
       {LayerAction{Act::kQuantize, 0}, LayerAction{Act::kPrune, 0}, LayerAction{Act::kFuseConvBn, 4},
        LayerAction{Act::kQuantize, 5}, LayerAction{Act::kQuantize, -1}}) {
    const auto step = world.env.Step(action);
    EXPECT_TRUE(step->illegal);
    EXPECT_DOUBLE_EQ(step->reward, -0.1);
  }
  EXPECT_TRUE(world.env.state().chosen.empty());
  EXPECT_EQ(world.env.state().history.size(), 6U);
}

TEST(LayersEnv, NamesLegalActionsSorted) {
  World world(SyntheticRequest(4, 3));
  EXPECT_THAT(world.env.LegalNames(), Contains("fuse_conv_bn layer0"));
  EXPECT_THAT(world.env.LegalNames(), Not(Contains("quantize layer0 u8s7")));
  ASSERT_THAT(world.env.Step({Act::kFuseConvBn, 0}), IsOk());
  const std::vector<std::string> names = world.env.LegalNames();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_THAT(names, Not(Contains("fuse_conv_bn layer0")));
}

Costs CostsOf(double ratio, double drop) {
  Costs costs;
  costs.ratio.value = ratio;
  costs.drop = Estimate{drop, drop, drop, 1, "points"};
  return costs;
}

TEST(Reward, ClassicByHand) {
  const Reward reward({RewardKind::kClassic, 1.0, 0.5, 2.0}, 0.05);
  // dL = 0.3, dE = 0.24, dA = 0.5, and the bonus.
  EXPECT_NEAR(reward.Classic(CostsOf(0.7, 0.025)), 0.3 + 0.5 * 0.24 - 2 * 0.5 + 1, 1e-12);
  // At the target there is no bonus; beyond it dA stays 1.
  EXPECT_NEAR(reward.Classic(CostsOf(0.7, 0.05)), 0.3 + 0.12 - 2, 1e-12);
  EXPECT_NEAR(reward.Classic(CostsOf(0.7, 0.5)), 0.3 + 0.12 - 2, 1e-12);
  // Too little gain for the bonus; a drop below 0 counts as 0.
  EXPECT_NEAR(reward.Classic(CostsOf(0.9, -0.01)), 0.1 + 0.5 * 0.08, 1e-12);
}

TEST(Reward, ClassicTakesMeasuredEnergyWhereBothSidesHaveIt) {
  RewardOptions options{RewardKind::kClassic, 1.0, 0.5, 2.0};
  options.baseline_energy_mj = 10;
  Costs costs = CostsOf(0.7, 0);
  EXPECT_NEAR(Reward(options, 0.05).Classic(costs), 0.3 + 0.12 + 1, 1e-12);
  costs.energy_mj = Estimate{4, 4, 4, 1, "mJ"};
  EXPECT_NEAR(Reward(options, 0.05).Classic(costs), 0.3 + 0.5 * 0.6 + 1, 1e-12);
}

TEST(Reward, PotentialIsTheGainWithinTheLimitAndMinusTheExcessBeyond) {
  const Reward reward({}, 0.02);
  EXPECT_NEAR(reward.Potential(CostsOf(0.6, 0.02)), 0.4, 1e-12);
  EXPECT_NEAR(reward.Potential(CostsOf(0.6, 0.03)), -2 * 0.5, 1e-12);
  EXPECT_NEAR(reward.Potential(CostsOf(0.6, 0.9)), -2, 1e-12);
}

TEST(LayersEnv, ClassicPaysAfterChangesAndAtTheEnd) {
  TrainRequest request = SyntheticRequest(5, 1);
  request.env.reward.kind = RewardKind::kClassic;
  World world(request);
  EXPECT_EQ(world.env.Step({Act::kSkip, 0})->reward, 0);
  const double changed = world.env.Step({Act::kQuantize, 4})->reward;
  EXPECT_DOUBLE_EQ(changed, world.env.reward().Classic(world.env.state().costs));
  EXPECT_DOUBLE_EQ(world.env.Step({Act::kTerminate, 0})->reward, changed);
}

// An evaluator that fails for one candidate.
class FailsWith : public Evaluator {
 public:
  Expected<Costs> Evaluate(const Candidate& candidate) override {
    if (!candidate.empty()) return MakeError(ErrorKind::kInternal, "it crashed");
    return CostsOf(1, 0);
  }
  CostSource source() const override { return CostSource::kMeasured; }
  int evaluations() const override { return 0; }
};

TEST(LayersEnv, AFailedEvaluationIsAnErrorAndLeavesTheStateAsItWas) {
  const TrainRequest request = SyntheticRequest(5, 1);
  FailsWith evaluator;
  const GraphFeatures features(request.features);
  LayersEnv env(request.catalogue, features, evaluator, request.env);
  ASSERT_THAT(env.Reset(), IsOk());
  EXPECT_THAT(env.Step({Act::kQuantize, 4}), IsError("it crashed"));
  EXPECT_TRUE(env.state().chosen.empty());
  EXPECT_TRUE(env.state().history.empty());
  EXPECT_THAT(env.LegalNames(), Contains("quantize layer4 u8s7"));
}

}  // namespace
}  // namespace rlc
