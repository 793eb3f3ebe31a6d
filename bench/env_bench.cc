// How many surrogate evaluations and environment steps one core makes each second, on 100 layers.

#include <benchmark/benchmark.h>

#include <algorithm>

#include "rlc/base/rng.h"
#include "rlc/cost/surrogate.h"
#include "rlc/env/layers_env.h"

namespace rlc {
namespace {

// A chain of layers that can all be folded, pruned and quantized.
struct World {
  explicit World(int layers) {
    for (int number = 0; number < layers; ++number) {
      catalogue.layers.push_back({number, fmt::format("layer{}", number), "Conv", "", true, {}});
      if (number + 1 < layers) catalogue.layers.back().readers = {number + 1};
      tables.layers.push_back({1.0, 0.5, 0.02, 0.02});
      for (const ActionType type : {ActionType::kFuseConvBn, ActionType::kPrune, ActionType::kQuantize}) {
        CatalogueEntry entry;
        entry.type = type;
        entry.layer = number;
        if (type == ActionType::kPrune) entry.shrinks = {{number, 0.5}, {std::min(number + 1, layers - 1), 0.5}};
        catalogue.entries.push_back(entry);
        tables.entry_drop.push_back(type == ActionType::kFuseConvBn ? 0 : 1e-3);
      }
    }
    tables.exact_ms = tables.baseline_ms = layers;
    tables.drop_known = true;
    options.max_steps = 2 * layers;
    options.target_drop = 0.05;
  }
  Catalogue catalogue;
  SurrogateTables tables;
  LayersEnvOptions options;
};

void BM_SurrogateEvaluate(benchmark::State& state) {
  const World world(static_cast<int>(state.range(0)));
  Surrogate surrogate(world.catalogue, world.tables);
  Candidate candidate;
  for (int entry = 0; entry < static_cast<int>(world.catalogue.entries.size()); entry += 2) candidate.push_back(entry);
  for (auto _ : state) benchmark::DoNotOptimize(surrogate.Evaluate(candidate));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SurrogateEvaluate)->Arg(20)->Arg(100);

// A step of random legal play, with what a learner looks at: observation and mask.
void BM_LayersEnvStep(benchmark::State& state) {
  const World world(static_cast<int>(state.range(0)));
  Surrogate surrogate(world.catalogue, world.tables);
  const GraphFeatures features{GraphFeatures::Counts{}};
  LayersEnv env(world.catalogue, features, surrogate, world.options);
  Rng rng(0);
  const auto layers = static_cast<size_t>(env.num_layers());
  std::vector<uint8_t> mask(kLayerActionTypes * layers);
  RLC_CHECK(env.Reset().has_value());
  for (auto _ : state) {
    benchmark::DoNotOptimize(env.Observe());
    env.Mask(mask);
    size_t action = rng.UniformInt(mask.size());
    while (mask[action] == 0) action = (action + 1) % mask.size();
    RLC_CHECK(env.Step({static_cast<LayerActionType>(action / layers), static_cast<int>(action % layers)}).has_value());
    if (env.state().ended()) RLC_CHECK(env.Reset().has_value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_LayersEnvStep)->Arg(20)->Arg(100);

}  // namespace
}  // namespace rlc
