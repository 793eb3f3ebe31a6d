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

LayersEnv::LayersEnv(const Catalogue& catalogue, const GraphFeatures& features, Evaluator& evaluator,
                     LayersEnvOptions options)
    : catalogue_(&catalogue),
      features_(&features),
      evaluator_(&evaluator),
      options_(options),
      reward_(options.reward, options.target_drop) {
  RLC_CHECK(!catalogue.layers.empty());
  RLC_CHECK(options.max_steps > 0);
  const int layers = num_layers();
  for (size_t entry = 0; entry < catalogue.entries.size(); ++entry) {
    required_.push_back(RequiredEntry(catalogue, static_cast<int>(entry)));
  }
  taken_.assign(catalogue.entries.size(), 0);
  drops_.assign(catalogue.entries.size(), 0);
  entry_of_.assign(size_t{kLayerActionTypes} * static_cast<size_t>(layers), -1);
  for (const LayerActionType type :
       {LayerActionType::kQuantize, LayerActionType::kPrune, LayerActionType::kFuseConvBn}) {
    for (int layer = 0; layer < layers; ++layer) {
      const int place = static_cast<int>(type) * layers + layer;
      entry_of_[static_cast<size_t>(place)] = catalogue.Find(TypeBehind(type), layer);
    }
  }
}

Expected<void> LayersEnv::Reset() {
  LayersState fresh;
  RLC_ASSIGN_OR_RETURN(fresh.costs, evaluator_->Evaluate({}));
  SetState(std::move(fresh));
  return {};
}

void LayersEnv::SetState(LayersState state) {
  state_ = std::move(state);
  std::fill(taken_.begin(), taken_.end(), uint8_t{0});
  for (int entry : state_.chosen) taken_[static_cast<size_t>(entry)] = 1;
}

int LayersEnv::EntryOf(LayerAction action) const {
  const auto type = static_cast<int>(action.type);
  RLC_CHECK(type >= 0 && type < kLayerActionTypes);
  if (action.layer < 0 || action.layer >= num_layers()) return -1;
  const int place = type * num_layers() + action.layer;
  return entry_of_[static_cast<size_t>(place)];
}

bool LayersEnv::CanTake(int entry) const {
  if (entry < 0 || taken_[static_cast<size_t>(entry)] != 0) return false;
  const int required = required_[static_cast<size_t>(entry)];
  return required < 0 || taken_[static_cast<size_t>(required)] != 0;
}

bool LayersEnv::IsLegal(LayerAction action) const {
  const int entry = EntryOf(action);
  if (!Changes(action.type)) return true;
  if (!CanTake(entry)) return false;
  if (!options_.mask_over_limit) return true;
  Candidate next = state_.chosen;
  next.push_back(entry);
  const auto drop = evaluator_->ExpectedDrop(next);
  return !drop || *drop <= options_.target_drop;
}

Expected<StepResult> LayersEnv::Step(LayerAction action) {
  RLC_CHECK(!state_.ended());
  StepResult result;
  const bool changes = Changes(action.type);
  if (!IsLegal(action)) {
    result.illegal = true;
    result.reward = reward_.OfIllegal();
  } else if (changes) {
    const int entry = EntryOf(action);
    state_.chosen.push_back(entry);
    auto costs = evaluator_->Evaluate(state_.chosen);
    if (!costs) {
      state_.chosen.pop_back();
      return Unexpected(std::move(costs).error());
    }
    state_.costs = *std::move(costs);
    taken_[static_cast<size_t>(entry)] = 1;
  }
  if (reward_.kind() == RewardKind::kDelta) {
    const double potential = reward_.Potential(state_.costs);
    result.reward += potential - state_.paid;
    state_.paid = potential;
  } else if (!result.illegal && action.type != LayerActionType::kSkip) {
    result.reward = reward_.Classic(state_.costs);
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
  const auto layers = static_cast<size_t>(num_layers());
  RLC_CHECK_EQ(mask.size(), kLayerActionTypes * layers);
  const bool limited = options_.mask_over_limit && evaluator_->ExpectedDropsAfter(state_.chosen, drops_);
  for (size_t action = 0; action < mask.size(); ++action) {
    const int entry = entry_of_[action];
    const bool legal = CanTake(entry) && (!limited || drops_[static_cast<size_t>(entry)] <= options_.target_drop);
    mask[action] = legal ? 1 : 0;
  }
  for (const LayerActionType type : {LayerActionType::kSkip, LayerActionType::kTerminate}) {
    mask[static_cast<size_t>(type) * layers] = 1;
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
