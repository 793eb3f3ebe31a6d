#include "rlc/env/vector_env.h"

#include <algorithm>

#include "rlc/base/rng.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/synthetic_request.h"

namespace rlc {
namespace {

constexpr int kLayers = 8;

// What one environment of many does: its rewards and the ends of its episodes, as numbers.
using Track = std::vector<double>;

int64_t Pick(const VectorEnv& envs, size_t env, Rng& rng) {
  const auto actions = static_cast<size_t>(envs.num_actions());
  for (;;) {
    const size_t action = rng.UniformInt(actions);
    if (envs.masks()[env * actions + action] != 0) return static_cast<int64_t>(action);
  }
}

std::vector<Track> Play(const TrainRequest& request, int count, int steps) {
  const Surrogate surrogate(request.catalogue, request.tables);
  const GraphFeatures features(request.features);
  VectorEnv envs(request.catalogue, features, surrogate, request.env, count);
  EXPECT_THAT(envs.Reset(), IsOk());
  std::vector<Rng> rngs;
  for (int i = 0; i < count; ++i) rngs.emplace_back(static_cast<uint64_t>(i));
  std::vector<Track> tracks(static_cast<size_t>(count));
  std::vector<int64_t> actions(static_cast<size_t>(count));
  for (int step = 0; step < steps; ++step) {
    for (size_t i = 0; i < actions.size(); ++i) actions[i] = Pick(envs, i, rngs[i]);
    EXPECT_THAT(envs.Step(actions), IsOk());
    for (size_t i = 0; i < actions.size(); ++i) tracks[i].push_back(envs.rewards()[i]);
    for (const EpisodeEnd& end : envs.ended()) {
      Track& track = tracks[static_cast<size_t>(end.env)];
      track.insert(track.end(), {end.reward, end.gain, end.drop, static_cast<double>(end.steps)});
    }
  }
  return tracks;
}

TEST(VectorEnv, WhatOneDoesDoesNotDependOnHowManyThereAre) {
  const TrainRequest request = SyntheticRequest(kLayers, 4);
  const std::vector<Track> few = Play(request, 2, 200), many = Play(request, 7, 200);
  EXPECT_GT(few[0].size(), 200U) << "some episodes ended";
  EXPECT_EQ(few[0], many[0]);
  EXPECT_EQ(few[1], many[1]);
}

TEST(VectorEnv, StartsOverAtTheEndAndKeepsTheLastView) {
  TrainRequest request = SyntheticRequest(kLayers, 4);
  request.env.max_steps = 3;
  const Surrogate surrogate(request.catalogue, request.tables);
  const GraphFeatures features(request.features);
  VectorEnv envs(request.catalogue, features, surrogate, request.env, 2);
  ASSERT_THAT(envs.Reset(), IsOk());
  const std::vector<float> fresh = envs.observations();
  const int64_t skip = static_cast<int64_t>(LayerActionType::kSkip) * kLayers;
  const int64_t stop = static_cast<int64_t>(LayerActionType::kTerminate) * kLayers;
  const int64_t fuse = static_cast<int64_t>(LayerActionType::kFuseConvBn) * kLayers;
  ASSERT_THAT(envs.Step(std::vector<int64_t>{fuse, skip}), IsOk());
  EXPECT_TRUE(envs.ended().empty());
  ASSERT_THAT(envs.Step(std::vector<int64_t>{stop, skip}), IsOk());
  ASSERT_EQ(envs.ended().size(), 1U);
  EXPECT_EQ(envs.ended()[0].env, 0);
  EXPECT_EQ(envs.ended()[0].steps, 2);
  EXPECT_EQ(envs.terminated()[0], 1);
  EXPECT_EQ(envs.truncated()[0], 0);
  EXPECT_TRUE(std::equal(fresh.begin(), fresh.begin() + kObservationSize, envs.observations().begin()))
      << "started over";
  EXPECT_FLOAT_EQ(envs.final_observations()[kObservationSize - 2], 2.0F * 2 / 3 - 1) << "seen after two of three steps";
  ASSERT_THAT(envs.Step(std::vector<int64_t>{skip, skip}), IsOk());
  ASSERT_EQ(envs.ended().size(), 1U);
  EXPECT_EQ(envs.ended()[0].env, 1);
  EXPECT_EQ(envs.truncated()[1], 1);
  EXPECT_EQ(envs.terminated()[1], 0);
}

TEST(VectorEnv, RemembersTheBestGainWithinTheLimit) {
  TrainRequest request = SyntheticRequest(kLayers, 4);
  request.env.mask_over_limit = false;
  request.tables.entry_drop.assign(request.tables.entry_drop.size(), 0.5);  // every change breaks the limit
  const Surrogate surrogate(request.catalogue, request.tables);
  const GraphFeatures features(request.features);
  VectorEnv envs(request.catalogue, features, surrogate, request.env, 1);
  ASSERT_THAT(envs.Reset(), IsOk());
  const int64_t stop = static_cast<int64_t>(LayerActionType::kTerminate) * kLayers;
  ASSERT_THAT(envs.Step(std::vector<int64_t>{kLayers - 1}), IsOk());  // quantizes the last layer
  ASSERT_THAT(envs.Step(std::vector<int64_t>{stop}), IsOk());
  EXPECT_EQ(envs.best_gain(), 0);
  ASSERT_THAT(envs.Step(std::vector<int64_t>{stop}), IsOk());
  EXPECT_DOUBLE_EQ(envs.best_gain(), 1 - 1 / 1.02);
}

}  // namespace
}  // namespace rlc
