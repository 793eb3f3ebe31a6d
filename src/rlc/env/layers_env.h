// The `layers` view: an episode picks one action after another for the numbered layers of one model.
//
// Facts: 5 action types x num_layers; 17 + 10*2 + 2 = 39 floats in [-1, 1]; at most max_steps (20) steps; deterministic
// with the surrogate evaluator, not with the measured one. stop is `terminated`, the step limit is `truncated`.
//
// State is a value: copy it, compare it, print it, replay it from its action list. The evaluator is asked, never owned.
#ifndef RLC_ENV_LAYERS_ENV_H_
#define RLC_ENV_LAYERS_ENV_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/cost/catalogue.h"
#include "rlc/cost/evaluator.h"
#include "rlc/env/features.h"
#include "rlc/env/reward.h"

namespace rlc {

// Numbered as in MultiDiscrete([5, num_layers]).
enum class LayerActionType { kQuantize = 0, kPrune = 1, kFuseConvBn = 2, kSkip = 3, kTerminate = 4 };
inline constexpr int kLayerActionTypes = 5;

struct LayerAction {
  LayerActionType type = LayerActionType::kSkip;
  int layer = 0;  // means nothing for skip and terminate
  bool operator==(const LayerAction&) const = default;
};

struct LayersEnvOptions {
  int max_steps = 20;
  double target_drop = 0.05;    // accuracy limit, 0.01 = one point; a hard mask as well as part of the reward
  bool mask_over_limit = true;  // actions that would exceed the limit, by the evaluator's word, are illegal
  RewardOptions reward;
};

// What an episode has become so far.
struct LayersState {
  Candidate chosen;                  // catalogue numbers, in the order they were taken
  std::vector<LayerAction> history;  // every step, illegal ones and skips included
  Costs costs;                       // of `chosen`
  double paid = 0;                   // kDelta: the potential that rewards have summed up to
  bool terminated = false, truncated = false;
  bool ended() const { return terminated || truncated; }
};

struct StepResult {
  double reward = 0;
  bool terminated = false;  // stop was chosen
  bool truncated = false;   // step limit: the value of the state counts on
  bool illegal = false;     // the action was not in the mask; nothing changed but the step count
};

inline constexpr int kHistorySteps = 10;
inline constexpr int kObservationSize = kGraphFeatures + 2 * kHistorySteps + 2;
using Observation = std::array<float, kObservationSize>;

class LayersEnv {
 public:
  // The catalogue, features and evaluator must outlive the environment. Precondition, checked: at least one layer.
  LayersEnv(const Catalogue& catalogue, const GraphFeatures& features, Evaluator& evaluator, LayersEnvOptions options);

  int num_layers() const { return static_cast<int>(catalogue_->layers.size()); }
  int max_steps() const { return options_.max_steps; }

  // Starts an episode. Error: the evaluator cannot price the empty candidate.
  Expected<void> Reset();
  // Takes a step. Rewards: kDelta pays the change of the potential, and at the first step also the potential of the
  // empty candidate, so an episode's sum is its final potential (plus the penalties of illegal actions). kClassic pays
  // what the state is worth after a change and at terminate; skip pays nothing. Precondition, checked: the episode has
  // started and not ended. Error: the evaluator failed.
  Expected<StepResult> Step(LayerAction action);

  // 17 graph features; of the last 10 actions, newest first, type and layer (scaled; -1 for none); step / max_steps and
  // what remains.
  Observation Observe() const;
  // mask[type * num_layers + layer]: 1 if legal. Skip and terminate stand once, at layer 0.
  void Mask(std::span<uint8_t> mask) const;
  bool IsLegal(LayerAction action) const;
  // Legal actions with stable readable names, sorted: "quantize layer3", "skip", "terminate".
  std::vector<std::string> LegalNames() const;

  const LayersState& state() const { return state_; }
  // Goes to a state of an environment over the same catalogue.
  void SetState(LayersState state);
  const Reward& reward() const { return reward_; }

 private:
  int EntryOf(LayerAction action) const;  // -1: no such entry
  bool CanTake(int entry) const;          // CanAdd to state_.chosen; false for -1

  const Catalogue* catalogue_;
  const GraphFeatures* features_;
  Evaluator* evaluator_;
  LayersEnvOptions options_;
  Reward reward_;
  LayersState state_;
  std::vector<int> entry_of_;          // [type * num_layers + layer] -> catalogue number
  std::vector<int> required_;          // by catalogue number: the fold it needs first, -1: none
  std::vector<uint8_t> taken_;         // by catalogue number: in state_.chosen
  mutable std::vector<double> drops_;  // scratch of Mask
};

}  // namespace rlc

#endif  // RLC_ENV_LAYERS_ENV_H_
