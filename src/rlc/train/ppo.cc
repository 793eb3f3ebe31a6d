#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "rlc/base/rng.h"
#include "rlc/train/ppo-inl.h"

namespace rlc {
namespace {

using Batch = torch::Tensor;  // rlc has a Tensor of its own

Batch View(const std::vector<float>& data, int64_t rows, int64_t columns) {
  return torch::from_blob(const_cast<float*>(data.data()), {rows, columns}, torch::kFloat32);
}

Batch View(const std::vector<uint8_t>& data, int64_t rows, int64_t columns) {
  return torch::from_blob(const_cast<uint8_t*>(data.data()), {rows, columns}, torch::kUInt8).to(torch::kBool);
}

// Everything of one rollout, [steps, environments, ...].
struct Rollout {
  Batch observations, masks, actions, log_probabilities, values, rewards, advantages, returns;
};

Rollout MakeRollout(int64_t steps, int64_t envs, int64_t actions) {
  Rollout r;
  r.observations = torch::zeros({steps, envs, kObservationSize});
  r.masks = torch::zeros({steps, envs, actions}, torch::kBool);
  r.actions = torch::zeros({steps, envs}, torch::kInt64);
  r.log_probabilities = torch::zeros({steps, envs});
  r.rewards = torch::zeros({steps, envs});
  return r;
}

// An action for each row of `logits` [n, actions], drawn from the softmax over those that the mask allows, and the
// logarithm of its probability. With our own generator: libtorch's stream is not promised to stay the same between
// versions.
struct Drawn {
  std::vector<int64_t> actions;
  std::vector<float> log_probabilities;
};

Drawn Draw(const Batch& logits, const std::vector<uint8_t>& masks, Rng& rng) {
  const auto rows = static_cast<size_t>(logits.size(0)), columns = static_cast<size_t>(logits.size(1));
  const Batch dense = logits.contiguous();
  Drawn drawn{std::vector<int64_t>(rows), std::vector<float>(rows)};
  std::vector<double> weights(columns);
  for (size_t row = 0; row < rows; ++row) {
    const float* logit = dense.data_ptr<float>() + row * columns;
    const uint8_t* legal = masks.data() + row * columns;
    float top = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i < columns; ++i) top = legal[i] != 0 ? std::max(top, logit[i]) : top;
    double total = 0;
    for (size_t i = 0; i < columns; ++i) total += weights[i] = legal[i] != 0 ? std::exp(double{logit[i]} - top) : 0.0;
    double left = rng.UniformReal() * total;
    size_t pick = columns;
    for (size_t i = 0; i < columns && left >= 0; ++i) {
      if (legal[i] == 0) continue;
      pick = i;
      left -= weights[i];
    }
    RLC_CHECK(pick < columns);  // terminate is always legal
    drawn.actions[row] = static_cast<int64_t>(pick);
    drawn.log_probabilities[row] = static_cast<float>(std::log(weights[pick] / total));
  }
  return drawn;
}

// Plays `steps` steps with the present policy. Truncated episodes go on beyond their end: their last reward carries the
// discounted value of what was seen last.
Expected<void> Play(LearnerState& state, VectorEnv& envs, const PpoOptions& options, Rng& rng, Rollout& rollout,
                    std::vector<uint8_t>& dones, std::vector<EpisodeEnd>& ended) {
  const torch::NoGradGuard no_gradients;
  const int64_t count = envs.count(), steps = rollout.rewards.size(0);
  dones.assign(static_cast<size_t>(steps * count), 0);
  for (int64_t t = 0; t < steps; ++t) {
    const Batch observation = View(envs.observations(), count, kObservationSize);
    rollout.observations[t].copy_(observation);
    rollout.masks[t].copy_(View(envs.masks(), count, envs.num_actions()));
    const Drawn drawn = Draw(state.network->Logits(observation), envs.masks(), rng);
    rollout.actions[t].copy_(torch::from_blob(const_cast<int64_t*>(drawn.actions.data()), {count}, torch::kInt64));
    rollout.log_probabilities[t].copy_(View(drawn.log_probabilities, 1, count).squeeze(0));
    RLC_RETURN_IF_ERROR(envs.Step(drawn.actions));
    ended.insert(ended.end(), envs.ended().begin(), envs.ended().end());
    Batch rewards = View(envs.rewards(), 1, count).squeeze(0).clone();
    if (std::any_of(envs.truncated().begin(), envs.truncated().end(), [](uint8_t cut) { return cut != 0; })) {
      const Batch last = state.network->Value(View(envs.final_observations(), count, kObservationSize));
      rewards += options.gamma * last * View(envs.truncated(), 1, count).squeeze(0);
    }
    rollout.rewards[t].copy_(rewards);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      dones[static_cast<size_t>(t * count) + i] = envs.terminated()[i] | envs.truncated()[i];
    }
  }
  rollout.values =
      state.network->Value(rollout.observations.reshape({steps * count, kObservationSize})).reshape({steps, count});
  return {};
}

// Generalized advantage estimation (Schulman et al. 2016), backwards through the rollout.
void EstimateAdvantages(LearnerState& state, const VectorEnv& envs, const PpoOptions& options,
                        const std::vector<uint8_t>& dones, Rollout& rollout) {
  const torch::NoGradGuard no_gradients;
  const int64_t steps = rollout.rewards.size(0), count = envs.count();
  rollout.advantages = torch::zeros_like(rollout.rewards);
  const Batch after = state.network->Value(View(envs.observations(), count, kObservationSize));
  const auto value = rollout.values.accessor<float, 2>(), reward = rollout.rewards.accessor<float, 2>();
  const auto next_value = after.accessor<float, 1>();
  auto advantage = rollout.advantages.accessor<float, 2>();
  for (int64_t i = 0; i < count; ++i) {
    double running = 0;
    for (int64_t t = steps - 1; t >= 0; --t) {
      const double goes_on = dones[static_cast<size_t>(t * count + i)] != 0 ? 0.0 : 1.0;
      const double next = t == steps - 1 ? next_value[i] : value[t + 1][i];
      const double error = reward[t][i] + options.gamma * next * goes_on - value[t][i];
      running = error + options.gamma * options.gae_lambda * goes_on * running;
      advantage[t][i] = static_cast<float>(running);
    }
  }
  rollout.returns = rollout.advantages + rollout.values;
}

// One rollout as rows, for minibatches.
struct Rows {
  explicit Rows(const Rollout& rollout)
      : count(rollout.actions.numel()),
        observations(rollout.observations.reshape({count, kObservationSize})),
        masks(rollout.masks.reshape({count, rollout.masks.size(2)})),
        actions(rollout.actions.reshape({count, 1})),
        old_log(rollout.log_probabilities.reshape({count})),
        advantages(rollout.advantages.reshape({count})),
        returns(rollout.returns.reshape({count})) {}
  int64_t count;
  Batch observations, masks, actions, old_log, advantages, returns;
};

// Scales the gradients so that their norm is at most `most`.
void ClipGradients(LearnerState& state, double most) {
  const double norm = state.gradients.norm().item<double>();
  if (norm > most) state.gradients.mul_(most / (norm + 1e-6));
}

// One step down the clipped surrogate objective. Returns policy loss, value loss, entropy, approximate KL, clip
// fraction.
Batch UpdateOn(LearnerState& state, const PpoOptions& options, const Rows& rows, const Batch& picked) {
  const Batch seen = rows.observations.index_select(0, picked), mask = rows.masks.index_select(0, picked);
  const Batch log_all = torch::log_softmax(Masked(state.network->Logits(seen), mask), -1);
  const Batch log_now = log_all.gather(1, rows.actions.index_select(0, picked)).squeeze(1);
  const Batch log_ratio = log_now - rows.old_log.index_select(0, picked), ratio = log_ratio.exp();
  Batch advantage = rows.advantages.index_select(0, picked);
  advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8);
  const Batch clipped = torch::clamp(ratio, 1 - options.clip_range, 1 + options.clip_range);
  const Batch policy_loss = -torch::min(advantage * ratio, advantage * clipped).mean();
  const Batch value_loss = torch::mse_loss(state.network->Value(seen), rows.returns.index_select(0, picked));
  // Illegal actions have probability 0 and a logarithm of -1e8: their product is 0.
  const Batch entropy = -(log_all.exp() * log_all).sum(-1).mean();
  const Batch loss = policy_loss + options.value_coefficient * value_loss - options.entropy_coefficient * entropy;
  state.gradients.zero_();
  loss.backward();
  ClipGradients(state, options.max_gradient_norm);
  state.optimizer->step();
  const torch::NoGradGuard no_gradients;
  const Batch divergence = (ratio - 1 - log_ratio).mean();
  const Batch clip_fraction = ((ratio - 1).abs() > options.clip_range).to(torch::kFloat32).mean();
  return torch::stack(
      {policy_loss.detach(), value_loss.detach(), entropy.detach(), divergence.detach(), clip_fraction});
}

// The learning rate falls linearly to 0: large steps are what makes short training work at all, and small ones at its
// end are what lets the policy settle.
void SetLearningRate(LearnerState& state, const PpoOptions& options) {
  const double left = 1 - static_cast<double>(state.timesteps) / static_cast<double>(options.total_timesteps);
  for (auto& group : state.optimizer->param_groups()) {
    static_cast<torch::optim::AdamOptions&>(group.options()).lr(options.learning_rate * left);
  }
}

// All minibatches of one rollout, n_epochs times.
void Update(LearnerState& state, const PpoOptions& options, const Rollout& rollout, Rng& rng, CurveRow& row) {
  const Rows rows(rollout);
  std::vector<int64_t> order(static_cast<size_t>(rows.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  Batch sums = torch::zeros({5});
  int batches = 0;
  for (int epoch = 0; epoch < options.n_epochs; ++epoch) {
    rng.Shuffle(order);
    for (int64_t first = 0; first < rows.count; first += options.batch_size) {
      const int64_t size = std::min<int64_t>(options.batch_size, rows.count - first);
      if (size < 2) break;  // advantages cannot be normalized
      sums += UpdateOn(state, options, rows, torch::from_blob(order.data() + first, {size}, torch::kInt64));
      ++batches;
    }
  }
  sums /= std::max(batches, 1);
  const auto mean = sums.accessor<float, 1>();
  row.policy_loss = mean[0];
  row.value_loss = mean[1];
  row.entropy = mean[2];
  row.approximate_kl = mean[3];
  row.clip_fraction = mean[4];
  const double spread = rows.returns.var().item<double>();
  row.explained_variance = spread > 0 ? 1 - rows.advantages.var().item<double>() / spread : 0;
}

void DescribeEpisodes(const std::vector<EpisodeEnd>& ended, CurveRow& row) {
  row.episodes = static_cast<int>(ended.size());
  if (ended.empty()) return;
  for (const EpisodeEnd& end : ended) {
    row.mean_reward += end.reward;
    row.mean_gain += end.gain;
    row.mean_steps += end.steps;
  }
  for (double* sum : {&row.mean_reward, &row.mean_gain, &row.mean_steps}) *sum /= static_cast<double>(ended.size());
}

}  // namespace

LearnerState MakeLearner(int64_t actions, const PpoOptions& options) {
  torch::manual_seed(options.seed);
  LearnerState state;
  state.network = ActorCritic(kObservationSize, actions);
  const torch::NoGradGuard no_gradients;
  int64_t total = 0;
  for (const Batch& parameter : state.network->parameters()) total += parameter.numel();
  state.parameters = torch::zeros({total});
  state.gradients = torch::zeros({total});
  int64_t first = 0;
  for (Batch parameter : state.network->parameters()) {
    const Batch view = state.parameters.narrow(0, first, parameter.numel()).view(parameter.sizes());
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = state.gradients.narrow(0, first, parameter.numel()).view(parameter.sizes());
    first += parameter.numel();
  }
  state.parameters.mutable_grad() = state.gradients;
  state.optimizer = std::make_shared<torch::optim::Adam>(std::vector<Batch>{state.parameters},
                                                         torch::optim::AdamOptions(options.learning_rate).eps(1e-5));
  return state;
}

Expected<void> Learn(LearnerState& state, VectorEnv& envs, const PpoOptions& options, const Clock& clock,
                     StopToken stop, const std::function<void(const CurveRow&)>& on_update) {
  const double started = clock();
  Rng rng = Rng(options.seed).Fork(static_cast<uint64_t>(state.timesteps));
  const int64_t steps = std::max<int64_t>(options.n_steps / envs.count(), 1);
  RLC_RETURN_IF_ERROR(envs.Reset());
  while (state.timesteps < options.total_timesteps && !stop.StopRequested()) {
    Rollout rollout = MakeRollout(steps, envs.count(), envs.num_actions());
    std::vector<uint8_t> dones;
    std::vector<EpisodeEnd> ended;
    RLC_RETURN_IF_ERROR(Play(state, envs, options, rng, rollout, dones, ended));
    EstimateAdvantages(state, envs, options, dones, rollout);
    CurveRow row;
    SetLearningRate(state, options);
    Update(state, options, rollout, rng, row);
    DescribeEpisodes(ended, row);
    state.timesteps += steps * envs.count();
    row.timesteps = state.timesteps;
    row.seconds = clock() - started;
    row.best_gain = envs.best_gain();
    if (on_update) on_update(row);
  }
  return {};
}

Expected<std::vector<double>> PlayEpisodes(ActorCritic network, VectorEnv& envs, int episodes, double target_drop,
                                           uint64_t seed) {
  const torch::NoGradGuard no_gradients;
  Rng rng(seed);
  RLC_RETURN_IF_ERROR(envs.Reset());
  const int64_t count = envs.count();
  // The same number for each: the first to end would be the short ones.
  const auto quota = static_cast<size_t>((episodes + count - 1) / count);
  std::vector<std::vector<double>> gains(static_cast<size_t>(count));
  while (std::any_of(gains.begin(), gains.end(), [&](const auto& of_one) { return of_one.size() < quota; })) {
    const Batch logits = network ? network->Logits(View(envs.observations(), count, kObservationSize))
                                 : torch::zeros({count, envs.num_actions()});
    RLC_RETURN_IF_ERROR(envs.Step(Draw(logits, envs.masks(), rng).actions));
    for (const EpisodeEnd& end : envs.ended()) {
      std::vector<double>& of_one = gains[static_cast<size_t>(end.env)];
      if (of_one.size() < quota) of_one.push_back(end.drop <= target_drop ? end.gain : 0.0);
    }
  }
  std::vector<double> all;
  for (const auto& of_one : gains) all.insert(all.end(), of_one.begin(), of_one.end());
  return all;
}

}  // namespace rlc
