#include "rlc/train/ppo-inl.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "rlc/base/rng.h"
#include "rlc/base/statistics.h"

namespace rlc {
namespace {

using torch::Tensor;

Tensor View(const std::vector<float>& data, int64_t rows, int64_t columns) {
  return torch::from_blob(const_cast<float*>(data.data()), {rows, columns}, torch::kFloat32);
}

Tensor View(const std::vector<uint8_t>& data, int64_t rows, int64_t columns) {
  return torch::from_blob(const_cast<uint8_t*>(data.data()), {rows, columns}, torch::kUInt8).to(torch::kBool);
}

// Everything of one rollout, [steps, environments, ...].
struct Rollout {
  Tensor observations, masks, actions, log_probabilities, values, rewards, advantages, returns;
};

Rollout MakeRollout(int64_t steps, int64_t envs, int64_t actions) {
  Rollout r;
  r.observations = torch::zeros({steps, envs, kObservationSize});
  r.masks = torch::zeros({steps, envs, actions}, torch::kBool);
  r.actions = torch::zeros({steps, envs}, torch::kInt64);
  r.log_probabilities = torch::zeros({steps, envs});
  r.values = torch::zeros({steps, envs});
  r.rewards = torch::zeros({steps, envs});
  return r;
}

// An index for each row of probabilities [n, actions], drawn with our own generator: libtorch's stream is not promised
// to stay the same between versions.
std::vector<int64_t> Sample(const Tensor& probabilities, Rng& rng) {
  const auto access = probabilities.accessor<float, 2>();
  std::vector<int64_t> drawn(static_cast<size_t>(probabilities.size(0)));
  for (int64_t row = 0; row < probabilities.size(0); ++row) {
    double left = rng.UniformReal();
    int64_t pick = -1;
    for (int64_t i = 0; i < probabilities.size(1) && left >= 0; ++i) {
      if (access[row][i] <= 0) continue;
      pick = i;
      left -= access[row][i];
    }
    drawn[static_cast<size_t>(row)] = pick;
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
    const Tensor observation = View(envs.observations(), count, kObservationSize);
    const Tensor mask = View(envs.masks(), count, envs.num_actions());
    rollout.observations[t].copy_(observation);
    rollout.masks[t].copy_(mask);
    const Tensor log_all = torch::log_softmax(Masked(state.network->Logits(observation), mask), -1);
    const std::vector<int64_t> actions = Sample(log_all.exp(), rng);
    const Tensor chosen = torch::tensor(actions, torch::kInt64);
    rollout.actions[t].copy_(chosen);
    rollout.log_probabilities[t].copy_(log_all.gather(1, chosen.unsqueeze(1)).squeeze(1));
    rollout.values[t].copy_(state.network->Value(observation));
    RLC_RETURN_IF_ERROR(envs.Step(actions));
    ended.insert(ended.end(), envs.ended().begin(), envs.ended().end());
    Tensor rewards = View(envs.rewards(), 1, count).squeeze(0).clone();
    if (std::any_of(envs.truncated().begin(), envs.truncated().end(), [](uint8_t t) { return t != 0; })) {
      const Tensor last = state.network->Value(View(envs.final_observations(), count, kObservationSize));
      rewards += options.gamma * last * View(envs.truncated(), 1, count).squeeze(0);
    }
    rollout.rewards[t].copy_(rewards);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      dones[static_cast<size_t>(t * count) + i] = envs.terminated()[i] | envs.truncated()[i];
    }
  }
  return {};
}

// Generalized advantage estimation (Schulman et al. 2016), backwards through the rollout.
void Estimate(LearnerState& state, const VectorEnv& envs, const PpoOptions& options, const std::vector<uint8_t>& dones,
              Rollout& rollout) {
  const torch::NoGradGuard no_gradients;
  const int64_t steps = rollout.rewards.size(0), count = envs.count();
  rollout.advantages = torch::zeros_like(rollout.rewards);
  const Tensor after = state.network->Value(View(envs.observations(), count, kObservationSize));
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

// The clipped surrogate objective, over all minibatches of one rollout, n_epochs times.
void Update(LearnerState& state, const PpoOptions& options, const Rollout& rollout, Rng& rng, CurveRow& row) {
  const int64_t total = rollout.actions.numel();
  const Tensor observations = rollout.observations.reshape({total, kObservationSize});
  const Tensor masks = rollout.masks.reshape({total, rollout.masks.size(2)});
  const Tensor actions = rollout.actions.reshape({total}), old_log = rollout.log_probabilities.reshape({total});
  const Tensor advantages = rollout.advantages.reshape({total}), returns = rollout.returns.reshape({total});
  std::vector<int64_t> order(static_cast<size_t>(total));
  std::iota(order.begin(), order.end(), int64_t{0});
  int batches = 0;
  for (int epoch = 0; epoch < options.n_epochs; ++epoch) {
    rng.Shuffle(order);
    for (int64_t first = 0; first < total; first += options.batch_size) {
      const int64_t size = std::min<int64_t>(options.batch_size, total - first);
      if (size < 2) break;  // advantages cannot be normalized
      const Tensor rows = torch::from_blob(order.data() + first, {size}, torch::kInt64);
      const Tensor seen = observations.index_select(0, rows), mask = masks.index_select(0, rows);
      const Tensor log_all = torch::log_softmax(Masked(state.network->Logits(seen), mask), -1);
      const Tensor log_now = log_all.gather(1, actions.index_select(0, rows).unsqueeze(1)).squeeze(1);
      const Tensor log_ratio = log_now - old_log.index_select(0, rows), ratio = log_ratio.exp();
      Tensor advantage = advantages.index_select(0, rows);
      advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8);
      const Tensor clipped = torch::clamp(ratio, 1 - options.clip_range, 1 + options.clip_range);
      const Tensor policy_loss = -torch::min(advantage * ratio, advantage * clipped).mean();
      const Tensor value_loss = torch::mse_loss(state.network->Value(seen), returns.index_select(0, rows));
      // Illegal actions have probability 0 and a log of -1e8: they must not count as entropy.
      const Tensor entropy = -(log_all.exp() * log_all.masked_fill(mask.logical_not(), 0)).sum(-1).mean();
      const Tensor loss = policy_loss + options.value_coefficient * value_loss - options.entropy_coefficient * entropy;
      state.optimizer->zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(state.network->parameters(), options.max_gradient_norm);
      state.optimizer->step();
      ++batches;
      row.policy_loss += policy_loss.item<double>();
      row.value_loss += value_loss.item<double>();
      row.entropy += entropy.item<double>();
      row.approximate_kl += (ratio.detach() - 1 - log_ratio.detach()).mean().item<double>();
      row.clip_fraction += ((ratio.detach() - 1).abs() > options.clip_range).to(torch::kFloat32).mean().item<double>();
    }
  }
  for (double* sum : {&row.policy_loss, &row.value_loss, &row.entropy, &row.approximate_kl, &row.clip_fraction}) {
    *sum /= std::max(batches, 1);
  }
  const double spread = returns.var().item<double>();
  row.explained_variance = spread > 0 ? 1 - advantages.var().item<double>() / spread : 0;
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
  state.optimizer = std::make_shared<torch::optim::Adam>(state.network->parameters(),
                                                         torch::optim::AdamOptions(options.learning_rate).eps(1e-5));
  return state;
}

Expected<void> Learn(LearnerState& state, VectorEnv& envs, const PpoOptions& options, const Clock& clock, StopToken stop,
                     const std::function<void(const CurveRow&)>& on_update) {
  const double started = clock();
  Rng rng = Rng(options.seed).Fork(static_cast<uint64_t>(state.timesteps));
  const int64_t steps = std::max<int64_t>(options.n_steps / envs.count(), 1);
  RLC_RETURN_IF_ERROR(envs.Reset());
  while (state.timesteps < options.total_timesteps && !stop.StopRequested()) {
    Rollout rollout = MakeRollout(steps, envs.count(), envs.num_actions());
    std::vector<uint8_t> dones;
    std::vector<EpisodeEnd> ended;
    RLC_RETURN_IF_ERROR(Play(state, envs, options, rng, rollout, dones, ended));
    Estimate(state, envs, options, dones, rollout);
    CurveRow row;
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

Expected<SuccessRate> PlayEpisodes(ActorCritic network, VectorEnv& envs, int episodes, double best_gain, double target_drop,
                                   uint64_t seed) {
  const torch::NoGradGuard no_gradients;
  Rng rng(seed);
  RLC_RETURN_IF_ERROR(envs.Reset());
  SuccessRate rate;
  const int64_t count = envs.count();
  while (rate.episodes < episodes) {
    const Tensor mask = View(envs.masks(), count, envs.num_actions());
    const Tensor logits = network ? network->Logits(View(envs.observations(), count, kObservationSize))
                                  : torch::zeros({count, envs.num_actions()});
    RLC_RETURN_IF_ERROR(envs.Step(Sample(torch::softmax(Masked(logits, mask), -1), rng)));
    for (const EpisodeEnd& end : envs.ended()) {
      if (rate.episodes == episodes) break;
      const double gain = end.drop <= target_drop ? end.gain : 0;
      ++rate.episodes;
      rate.successes += best_gain > 0 && gain >= 0.8 * best_gain ? 1 : 0;
      rate.mean_gain += (gain - rate.mean_gain) / rate.episodes;
    }
  }
  return rate;
}

}  // namespace rlc
