#include "rlc/train/trainer.h"

#include <algorithm>
#include <cstdio>

#include "rlc/base/file.h"
#include "rlc/search/best_by_estimate.h"
#include "rlc/search/prior_logits.h"
#include "rlc/train/event_file.h"
#include "rlc/train/export_policy-inl.h"
#include "rlc/train/ppo-inl.h"

namespace rlc {
namespace {

constexpr int kEvaluationEpisodes = 200;
constexpr double kSuccess = 0.8;  // of the best gain that is known

SuccessRate RateOf(const std::vector<double>& gains, double best_gain) {
  SuccessRate rate;
  rate.episodes = static_cast<int>(gains.size());
  for (double gain : gains) {
    rate.successes += best_gain > 0 && gain >= kSuccess * best_gain ? 1 : 0;
    rate.mean_gain += gain / rate.episodes;
  }
  return rate;
}

std::string CurveHeader() {
  return "timesteps,seconds,episodes,mean_reward,mean_gain,best_gain,mean_steps,policy_loss,value_loss,entropy,"
         "approximate_kl,"
         "clip_fraction,explained_variance\n";
}

std::string CurveLine(const CurveRow& row) {
  return fmt::format("{},{:.3f},{},{:.6g},{:.6g},{:.6g},{:.4g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n",
                     row.timesteps, row.seconds, row.episodes, row.mean_reward, row.mean_gain, row.best_gain,
                     row.mean_steps, row.policy_loss, row.value_loss, row.entropy, row.approximate_kl,
                     row.clip_fraction, row.explained_variance);
}

std::vector<std::pair<std::string, float>> Scalars(const CurveRow& row) {
  const auto number = [](double value) { return static_cast<float>(value); };
  return {{"rollout/mean_reward", number(row.mean_reward)},
          {"rollout/mean_gain", number(row.mean_gain)},
          {"rollout/best_gain", number(row.best_gain)},
          {"rollout/mean_steps", number(row.mean_steps)},
          {"train/policy_loss", number(row.policy_loss)},
          {"train/value_loss", number(row.value_loss)},
          {"train/entropy", number(row.entropy)},
          {"train/approximate_kl", number(row.approximate_kl)},
          {"train/clip_fraction", number(row.clip_fraction)},
          {"train/explained_variance", number(row.explained_variance)}};
}

// libtorch throws; so do its files when they are damaged.
template <typename Function>
Expected<void> Guarded(const std::string& doing, ErrorKind kind, const Function& function) {
  try {
    function();
    return {};
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    return MakeError(kind, "{}: {}", doing, reason.substr(0, reason.find('\n')));
  }
}

Expected<void> Resume(const std::string& path, LearnerState& state) {
  torch::Tensor parameters, timesteps;
  RLC_RETURN_IF_ERROR(Guarded("cannot resume from " + path, ErrorKind::kInvalidInput, [&] {
    torch::serialize::InputArchive archive, optimizer;
    archive.load_from(path);
    archive.read("parameters", parameters);
    archive.read("timesteps", timesteps);
    archive.read("optimizer", optimizer);
    state.optimizer->load(optimizer);
  }));
  if (parameters.sizes() != state.parameters.sizes() || parameters.dtype() != state.parameters.dtype()) {
    return MakeError(ErrorKind::kInvalidInput,
                     "cannot resume from {}: it holds a network of {} parameters, this model needs {}; train anew",
                     path, parameters.numel(), state.parameters.numel());
  }
  const torch::NoGradGuard no_gradients;
  state.parameters.copy_(parameters);
  return Guarded("cannot resume from " + path, ErrorKind::kInvalidInput,
                 [&] { state.timesteps = timesteps.item<int64_t>(); });
}

// Written beside and renamed: a kill in the middle leaves the checkpoint before it.
Expected<void> Save(const std::string& path, const LearnerState& state) {
  const std::string draft = path + ".part";
  RLC_RETURN_IF_ERROR(Guarded("cannot write " + path, ErrorKind::kUnavailable, [&] {
    torch::serialize::OutputArchive archive, optimizer;
    archive.write("parameters", state.parameters);
    archive.write("timesteps", torch::tensor(state.timesteps));
    state.optimizer->save(optimizer);
    archive.write("optimizer", optimizer);
    archive.save_to(draft);
  }));
  if (std::rename(draft.c_str(), path.c_str()) != 0) {
    return MakeError(ErrorKind::kUnavailable, "cannot rename {} to {}", draft, path);
  }
  return {};
}

// A fresh policy's last bias, so that it starts with these logits.
void StartFromPrior(const std::vector<float>& logits, LearnerState& state) {
  const torch::NoGradGuard no_gradients;
  const torch::Tensor bias = state.network->policy->named_parameters()["4.bias"];
  RLC_CHECK_EQ(static_cast<size_t>(bias.numel()), logits.size());
  bias.copy_(torch::tensor(logits));
}

// A learner as training finds it: anew, or from a checkpoint.
Expected<LearnerState> StartLearner(const TrainRequest& request, const Surrogate& surrogate, int64_t actions) {
  LearnerState state = MakeLearner(actions, request.ppo);
  if (!request.resume_from.empty()) {
    RLC_RETURN_IF_ERROR(Resume(request.resume_from, state));
  } else if (request.ppo.prior > 0) {
    StartFromPrior(PriorLogits(request.catalogue, surrogate, request.env.target_drop, request.ppo.prior), state);
  }
  return state;
}

// How the policies do, against the best that is known: what the solver, training and these episodes found.
Expected<void> MeasureSuccess(const TrainRequest& request, const Surrogate& surrogate, const LearnerState& state,
                              VectorEnv& envs, TrainSummary& summary) {
  const auto play = [&](ActorCritic network) {
    return PlayEpisodes(network, envs, kEvaluationEpisodes, request.env.target_drop, request.ppo.seed);
  };
  RLC_ASSIGN_OR_RETURN(const std::vector<double> before, play(ActorCritic(nullptr)));
  RLC_ASSIGN_OR_RETURN(const LearnerState fresh, StartLearner(request, surrogate, envs.num_actions()));
  RLC_ASSIGN_OR_RETURN(const std::vector<double> start, play(fresh.network));
  RLC_ASSIGN_OR_RETURN(const std::vector<double> after, play(state.network));
  Surrogate judge = surrogate;
  const Candidate best = BestByEstimate(request.catalogue, judge, request.env.target_drop);
  RLC_ASSIGN_OR_RETURN(const Costs costs, judge.Evaluate(best));
  summary.best_gain = std::max(1 - costs.ratio.value, envs.best_gain());
  summary.before = RateOf(before, summary.best_gain);
  summary.start = RateOf(start, summary.best_gain);
  summary.after = RateOf(after, summary.best_gain);
  return {};
}

}  // namespace

Expected<TrainSummary> Train(const TrainRequest& request, const std::string& folder, const TrainHooks& hooks) {
  torch::set_num_threads(1);
  RLC_RETURN_IF_ERROR(MakeFolders(folder));
  const Surrogate surrogate(request.catalogue, request.tables);
  const GraphFeatures features(request.features);
  VectorEnv envs(request.catalogue, features, surrogate, request.env, request.ppo.num_envs);
  RLC_ASSIGN_OR_RETURN(LearnerState state, StartLearner(request, surrogate, envs.num_actions()));

  const double started = hooks.clock();
  EventFile events(hooks.wall_clock());
  const std::string event_path = JoinPath(folder, fmt::format("events.out.tfevents.{:.0f}.rlc", hooks.wall_clock()));
  std::string curve = CurveHeader();
  Expected<void> written;
  RLC_RETURN_IF_ERROR(Learn(state, envs, request.ppo, hooks.clock, hooks.stop, [&](const CurveRow& row) {
    curve += CurveLine(row);
    events.Add(hooks.wall_clock(), row.timesteps, Scalars(row));
    if (written) written = WriteFileAtomically(JoinPath(folder, "curve.csv"), curve);
    if (written) written = events.WriteTo(event_path);
    if (written) written = Save(JoinPath(folder, "checkpoint.pt"), state);
    if (hooks.progress) hooks.progress(row.timesteps, row.mean_gain);
  }));
  const double ended = hooks.clock();
  RLC_RETURN_IF_ERROR(written);
  RLC_RETURN_IF_ERROR(
      ExportPolicy(state.network, kObservationSize, envs.num_actions(), JoinPath(folder, "policy.onnx")));

  TrainSummary summary;
  summary.timesteps = state.timesteps;
  summary.seconds = ended - started;
  summary.best_gain = envs.best_gain();
  if (!hooks.stop.StopRequested()) RLC_RETURN_IF_ERROR(MeasureSuccess(request, surrogate, state, envs, summary));
  RLC_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, "summary.json"), DumpJson(ToJson(summary))));
  return summary;
}

}  // namespace rlc
