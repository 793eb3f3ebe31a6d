#include "rlc/env/train_request.h"

#include <algorithm>

namespace rlc {
namespace {

constexpr int kVersion = 1;

Json EnvToJson(const LayersEnvOptions& env) {
  return {{"max_steps", env.max_steps},
          {"target_drop", env.target_drop},
          {"mask_over_limit", env.mask_over_limit},
          {"reward", env.reward.kind == RewardKind::kClassic ? "classic" : "delta"},
          {"alpha", env.reward.alpha},
          {"beta", env.reward.beta},
          {"gamma", env.reward.gamma},
          {"illegal_penalty", env.reward.illegal_penalty},
          {"baseline_energy_mj", env.reward.baseline_energy_mj ? Json(*env.reward.baseline_energy_mj) : Json()}};
}

Expected<int> GetCount(const Json& json, std::string_view key, int64_t least, int64_t most) {
  RLC_ASSIGN_OR_RETURN(const int64_t value, GetInt(json, key));
  if (value < least || value > most) {
    return MakeError(ErrorKind::kInvalidInput, "{}: {} is not between {} and {}", key, value, least, most);
  }
  return static_cast<int>(value);
}

// A finite number in [least, most].
Expected<double> GetWithin(const Json& json, std::string_view key, double least, double most) {
  RLC_ASSIGN_OR_RETURN(const double value, GetDouble(json, key));
  if (!(value >= least && value <= most)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: {} is not between {} and {}", key, value, least, most);
  }
  return value;
}

Expected<LayersEnvOptions> EnvFromJson(const Json& json) {
  LayersEnvOptions env;
  RLC_ASSIGN_OR_RETURN(env.max_steps, GetCount(json, "max_steps", 1, 100'000));
  RLC_ASSIGN_OR_RETURN(env.target_drop, GetWithin(json, "target_drop", 0, 1));
  RLC_ASSIGN_OR_RETURN(env.mask_over_limit, GetBool(json, "mask_over_limit"));
  RLC_ASSIGN_OR_RETURN(const std::string reward, GetString(json, "reward"));
  if (reward != "classic" && reward != "delta") {
    return MakeError(ErrorKind::kInvalidInput, "reward '{}': wanted classic or delta", reward);
  }
  env.reward.kind = reward == "classic" ? RewardKind::kClassic : RewardKind::kDelta;
  constexpr double kLarge = 1e6;
  RLC_ASSIGN_OR_RETURN(env.reward.alpha, GetWithin(json, "alpha", -kLarge, kLarge));
  RLC_ASSIGN_OR_RETURN(env.reward.beta, GetWithin(json, "beta", -kLarge, kLarge));
  RLC_ASSIGN_OR_RETURN(env.reward.gamma, GetWithin(json, "gamma", -kLarge, kLarge));
  RLC_ASSIGN_OR_RETURN(env.reward.illegal_penalty, GetWithin(json, "illegal_penalty", -kLarge, kLarge));
  RLC_ASSIGN_OR_RETURN(const Json* energy, GetField(json, "baseline_energy_mj"));
  if (!energy->is_null()) {
    RLC_ASSIGN_OR_RETURN(env.reward.baseline_energy_mj, GetWithin(json, "baseline_energy_mj", 1e-9, 1e12));
  }
  return env;
}

Json PpoToJson(const PpoOptions& ppo) {
  return {{"total_timesteps", ppo.total_timesteps},
          {"learning_rate", ppo.learning_rate},
          {"n_steps", ppo.n_steps},
          {"batch_size", ppo.batch_size},
          {"n_epochs", ppo.n_epochs},
          {"gamma", ppo.gamma},
          {"gae_lambda", ppo.gae_lambda},
          {"clip_range", ppo.clip_range},
          {"entropy_coefficient", ppo.entropy_coefficient},
          {"value_coefficient", ppo.value_coefficient},
          {"max_gradient_norm", ppo.max_gradient_norm},
          {"num_envs", ppo.num_envs},
          {"prior", ppo.prior},
          {"seed", static_cast<int64_t>(ppo.seed)}};
}

Expected<PpoOptions> PpoFromJson(const Json& json) {
  PpoOptions ppo;
  RLC_ASSIGN_OR_RETURN(ppo.total_timesteps, GetCount(json, "total_timesteps", 1, 1'000'000'000));
  RLC_ASSIGN_OR_RETURN(ppo.learning_rate, GetWithin(json, "learning_rate", 0, 1));
  RLC_ASSIGN_OR_RETURN(ppo.n_steps, GetCount(json, "n_steps", 1, 1'000'000));
  RLC_ASSIGN_OR_RETURN(ppo.batch_size, GetCount(json, "batch_size", 1, 1'000'000));
  RLC_ASSIGN_OR_RETURN(ppo.n_epochs, GetCount(json, "n_epochs", 1, 1000));
  RLC_ASSIGN_OR_RETURN(ppo.gamma, GetWithin(json, "gamma", 0, 1));
  RLC_ASSIGN_OR_RETURN(ppo.gae_lambda, GetWithin(json, "gae_lambda", 0, 1));
  RLC_ASSIGN_OR_RETURN(ppo.clip_range, GetWithin(json, "clip_range", 0, 1));
  RLC_ASSIGN_OR_RETURN(ppo.entropy_coefficient, GetWithin(json, "entropy_coefficient", 0, 10));
  RLC_ASSIGN_OR_RETURN(ppo.value_coefficient, GetWithin(json, "value_coefficient", 0, 10));
  RLC_ASSIGN_OR_RETURN(ppo.max_gradient_norm, GetWithin(json, "max_gradient_norm", 0, 1e6));
  RLC_ASSIGN_OR_RETURN(ppo.num_envs, GetCount(json, "num_envs", 1, 4096));
  RLC_ASSIGN_OR_RETURN(ppo.prior, GetWithin(json, "prior", 0, 100));
  RLC_ASSIGN_OR_RETURN(const int64_t seed, GetInt(json, "seed"));
  ppo.seed = static_cast<uint64_t>(seed);
  return ppo;
}

// What one rollout keeps of each step is mostly its mask.
Expected<void> CheckMemory(const TrainRequest& request) {
  constexpr double kMaxRolloutBytes = 4e9;
  const double actions = kLayerActionTypes * static_cast<double>(request.catalogue.layers.size());
  const double rollout = std::max(request.ppo.n_steps, request.ppo.num_envs);
  if (rollout * actions > kMaxRolloutBytes) {
    return MakeError(
        ErrorKind::kInvalidInput,
        "n_steps {} with {} layers needs {:.1f} GB for one rollout, at most {:.0f} are supported; ask for fewer steps",
        request.ppo.n_steps, request.catalogue.layers.size(), rollout * actions / 1e9, kMaxRolloutBytes / 1e9);
  }
  return {};
}

Json RateToJson(const SuccessRate& rate) {
  return {{"episodes", rate.episodes}, {"successes", rate.successes}, {"mean_gain", rate.mean_gain}};
}

Expected<SuccessRate> RateFromJson(const Json& json, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetObject(json, key));
  SuccessRate rate;
  RLC_ASSIGN_OR_RETURN(rate.episodes, GetCount(*field, "episodes", 0, 1'000'000));
  RLC_ASSIGN_OR_RETURN(rate.successes, GetCount(*field, "successes", 0, rate.episodes));
  RLC_ASSIGN_OR_RETURN(rate.mean_gain, GetDouble(*field, "mean_gain"));
  return rate;
}

}  // namespace

Json ToJson(const TrainRequest& request) {
  const Surrogate surrogate(request.catalogue, request.tables);
  return {{"version", kVersion},
          {"catalogue", ToJson(request.catalogue)},
          {"surrogate", surrogate.ToJson()},
          {"features", GraphFeatures(request.features).ToJson()},
          {"env", EnvToJson(request.env)},
          {"ppo", PpoToJson(request.ppo)},
          {"resume_from", request.resume_from}};
}

Expected<TrainRequest> TrainRequestFromJson(const Json& json) {
  TrainRequest request;
  RLC_ASSIGN_OR_RETURN(const int64_t version, GetInt(json, "version"));
  if (version != kVersion) {
    return MakeError(ErrorKind::kInvalidInput, "training request of version {}, this rlc-train reads {}", version,
                     kVersion);
  }
  RLC_ASSIGN_OR_RETURN(const Json* catalogue, GetObject(json, "catalogue"));
  RLC_ASSIGN_OR_RETURN(request.catalogue, CatalogueFromJson(*catalogue));
  if (request.catalogue.layers.empty()) {
    return MakeError(ErrorKind::kInvalidInput, "the catalogue has no layers, so there is nothing to learn");
  }
  RLC_ASSIGN_OR_RETURN(const Json* tables, GetObject(json, "surrogate"));
  RLC_ASSIGN_OR_RETURN(const Surrogate surrogate, Surrogate::FromJson(request.catalogue, *tables));
  request.tables = surrogate.tables();
  RLC_ASSIGN_OR_RETURN(const Json* features, GetObject(json, "features"));
  RLC_ASSIGN_OR_RETURN(const GraphFeatures graph, GraphFeatures::FromJson(*features));
  request.features = graph.counts();
  RLC_ASSIGN_OR_RETURN(const Json* env, GetObject(json, "env"));
  RLC_ASSIGN_OR_RETURN(request.env, EnvFromJson(*env));
  RLC_ASSIGN_OR_RETURN(const Json* ppo, GetObject(json, "ppo"));
  RLC_ASSIGN_OR_RETURN(request.ppo, PpoFromJson(*ppo));
  RLC_ASSIGN_OR_RETURN(request.resume_from, GetString(json, "resume_from"));
  RLC_RETURN_IF_ERROR(CheckMemory(request));
  return request;
}

Json ToJson(const TrainSummary& summary) {
  return {{"timesteps", summary.timesteps},     {"seconds", summary.seconds},
          {"best_gain", summary.best_gain},     {"before", RateToJson(summary.before)},
          {"start", RateToJson(summary.start)}, {"after", RateToJson(summary.after)}};
}

Expected<TrainSummary> TrainSummaryFromJson(const Json& json) {
  TrainSummary summary;
  RLC_ASSIGN_OR_RETURN(summary.timesteps, GetInt(json, "timesteps"));
  RLC_ASSIGN_OR_RETURN(summary.seconds, GetDouble(json, "seconds"));
  RLC_ASSIGN_OR_RETURN(summary.best_gain, GetDouble(json, "best_gain"));
  RLC_ASSIGN_OR_RETURN(summary.before, RateFromJson(json, "before"));
  RLC_ASSIGN_OR_RETURN(summary.start, RateFromJson(json, "start"));
  RLC_ASSIGN_OR_RETURN(summary.after, RateFromJson(json, "after"));
  return summary;
}

}  // namespace rlc
