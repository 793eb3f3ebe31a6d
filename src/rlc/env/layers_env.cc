#include "rlc/env/layers_env.h"

#include <algorithm>

namespace rlc {
namespace {

// The catalogue's type behind an action type; only for the three that change something.
ActionType TypeBehind(LayerActionType type) {
  switch (type) {
    case LayerActionType::kPrune:
      return ActionType::kPrune;
    case LayerActionType::kFuseConvBn:
      return ActionType::kFuseConvBn;
    default:
      return ActionType::kQuantize;
  }
}

bool Changes(LayerActionType type) { return type != LayerActionType::kSkip && type != LayerActionType::kTerminate; }

// i of n numbers, spread over [-1, 1].
float Spread(int i, int n) { return n > 1 ? static_cast<float>(2.0 * i / (n - 1) - 1) : 0.0F; }

}  // namespace

LayersEnv::LayersEnv(const Catalogue& catalogue, const GraphFeatures& features, Evaluator& evaluator, LayersEnvOptions options)
    : catalogue_(&catalogue),
      features_(&features),
      evaluator_(&evaluator),
      options_(options),
      reward_(options.reward, options.target_drop) {
  RLC_CHECK(!catalogue.layers.empty());
  RLC_CHECK(options.max_steps > 0);
  const int layers = num_layers();
  entry_of_.assign(static_cast<size_t>(kLayerActionTypes * layers), -1);
  for (const LayerActionType type : {LayerActionType::kQuantize, LayerActionType::kPrune, LayerActionType::kFuseConvBn}) {
    for (int layer = 0; layer < layers; ++layer) {
      entry_of_[static_cast<size_t>(static_cast<int>(type) * layers + layer)] = catalogue.Find(TypeBehind(type), layer);
    }
  }
}

Expected<void> LayersEnv::Reset() {
  LayersState fresh;
  RLC_ASSIGN_OR_RETURN(fresh.costs, evaluator_->Evaluate({}));
  state_ = std::move(fresh);
  return {};
}

void LayersEnv::SetState(LayersState state) { state_ = std::move(state); }

int LayersEnv::EntryOf(LayerAction action) const {
  if (action.layer < 0 || action.layer >= num_layers()) return -1;
  return entry_of_[static_cast<size_t>(static_cast<int>(action.type) * num_layers() + action.layer)];
}

bool LayersEnv::IsLegal(LayerAction action) const {
  if (!Changes(action.type)) return true;
  const int entry = EntryOf(action);
  if (entry < 0 || !CanAdd(*catalogue_, state_.chosen, entry)) return false;
  if (!options_.mask_over_limit) return true;
  Candidate next = state_.chosen;
  next.push_back(entry);
  const auto drop = evaluator_->ExpectedDrop(next);
  return !drop || *drop <= options_.target_drop;
}

Expected<StepResult> LayersEnv::Step(LayerAction action) {
  RLC_CHECK(!state_.ended());
  StepResult result;
  if (!IsLegal(action)) {
    result.illegal = true;
    result.reward = reward_.OfIllegal();
  } else if (Changes(action.type)) {
    Candidate next = state_.chosen;
    next.push_back(EntryOf(action));
    RLC_ASSIGN_OR_RETURN(Costs costs, evaluator_->Evaluate(next));
    result.reward = reward_.OfStep(state_.costs, costs);
    state_.chosen = std::move(next);
    state_.costs = std::move(costs);
  } else if (options_.reward.kind == RewardKind::kClassic) {
    result.reward = action.type == LayerActionType::kTerminate ? reward_.Classic(state_.costs) : 0.0;
  }
  state_.history.push_back(action);
  state_.terminated = result.terminated = action.type == LayerActionType::kTerminate;
  state_.truncated = result.truncated =
      !result.terminated && static_cast<int>(state_.history.size()) >= options_.max_steps;
  return result;
}

Observation LayersEnv::Observe() const {
  Observation observation{};
  const auto features = features_->Of(*catalogue_, state_.chosen);
  std::copy(features.begin(), features.end(), observation.begin());
  size_t next = features.size();
  for (size_t back = 1; back <= kHistorySteps; ++back) {
    const bool there = back <= state_.history.size();
    const LayerAction action = there ? state_.history[state_.history.size() - back] : LayerAction{};
    observation[next++] = there ? Spread(static_cast<int>(action.type), kLayerActionTypes) : -1.0F;
    observation[next++] = there ? Spread(action.layer, num_layers()) : -1.0F;
  }
  const double step = static_cast<double>(state_.history.size()) / options_.max_steps;
  observation[next++] = static_cast<float>(2 * step - 1);
  observation[next++] = static_cast<float>(1 - 2 * step);
  RLC_CHECK_EQ(next, observation.size());
  return observation;
}

void LayersEnv::Mask(std::span<uint8_t> mask) const {
  const int layers = num_layers();
  RLC_CHECK_EQ(mask.size(), static_cast<size_t>(kLayerActionTypes * layers));
  std::fill(mask.begin(), mask.end(), uint8_t{0});
  for (int type = 0; type < kLayerActionTypes; ++type) {
    const auto kind = static_cast<LayerActionType>(type);
    for (int layer = 0; layer < (Changes(kind) ? layers : 1); ++layer) {
      mask[static_cast<size_t>(type * layers + layer)] = IsLegal({kind, layer}) ? 1 : 0;
    }
  }
}

std::vector<std::string> LayersEnv::LegalNames() const {
  std::vector<std::string> names = {"skip", "terminate"};
  for (const int entry : entry_of_) {
    if (entry < 0) continue;
    const CatalogueEntry& e = catalogue_->entries[static_cast<size_t>(entry)];
    const LayerActionType type = e.type == ActionType::kQuantize ? LayerActionType::kQuantize
                                 : e.type == ActionType::kPrune  ? LayerActionType::kPrune
                                                                 : LayerActionType::kFuseConvBn;
    if (IsLegal({type, e.layer})) names.push_back(e.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rlc
