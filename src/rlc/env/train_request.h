// What `rlc` asks of the trainer, and what the trainer leaves behind. JSON, versioned; outside bytes for both sides.
//
// rlc-train REQUEST.json OUTDIR writes into OUTDIR:
//   policy.onnx      observation float[N,39] -> logits float[N, 5 * layers],
//   curve.csv        timesteps, seconds, mean episode reward, mean final gain, losses: one row for each update
//   events.out.tfevents.*   the same for TensorBoard
//   checkpoint.pt    to resume from
//   summary.json     TrainSummary
// Progress: one JSON object for each line on stderr, {"timesteps": n, "total": n, "gain": x}.
#ifndef RLC_ENV_TRAIN_REQUEST_H_
#define RLC_ENV_TRAIN_REQUEST_H_

#include <cstdint>
#include <string>

#include "rlc/base/error.h"
#include "rlc/base/json.h"
#include "rlc/cost/catalogue.h"
#include "rlc/cost/surrogate.h"
#include "rlc/env/features.h"
#include "rlc/env/layers_env.h"

namespace rlc {

// Defaults are those that PPO is known with, except where 10,000 timesteps (a hundred episodes) need something else:
// the policy is updated eight times as often, with larger steps that shrink to 0, on larger batches that bear them; it
// starts from `prior`; four environments see about a whole episode between updates. Episodes are short and end with the
// final gain, so nothing is discounted. docs/environment.md has the figures.
struct PpoOptions {
  int64_t total_timesteps = 10'000;
  double learning_rate = 1e-2;  // at the start; falls linearly to 0 at total_timesteps
  int n_steps = 256;            // of all environments together, for each update
  int batch_size = 128;
  int n_epochs = 10;
  double gamma = 1, gae_lambda = 0.98, clip_range = 0.3;
  double entropy_coefficient = 0.004, value_coefficient = 0.5, max_gradient_norm = 0.5;
  int num_envs = 4;
  double prior = 5;  // strength of what the tables say of single actions (rlc/search/prior_logits.h); 0: none
  uint64_t seed = 0;
};

struct TrainRequest {
  Catalogue catalogue;  // without parameters of actions
  SurrogateTables tables;
  GraphFeatures::Counts features;
  LayersEnvOptions env;
  PpoOptions ppo;
  std::string resume_from;  // checkpoint.pt of an earlier run; empty: start anew
};

Json ToJson(const TrainRequest& request);
Expected<TrainRequest> TrainRequestFromJson(const Json& json);

// How often episodes reach at least 80 % of the best gain known within the limit, sampling from a policy.
struct SuccessRate {
  int episodes = 0, successes = 0;
  double mean_gain = 0;  // 1 - latency / baseline at the end of an episode, within the limit; else 0
};

struct TrainSummary {
  int64_t timesteps = 0;
  double seconds = 0;    // of rollouts, environments, updates and what is written with each; not of measuring success
  double best_gain = 0;  // best known within the limit, by the surrogate: of a solver (rlc/search/best_by_estimate.h)
                         // and of all episodes; what success is measured against
  // Random legal actions; the policy that training started from; the trained one. 0 episodes after an interruption.
  SuccessRate before, start, after;
};

Json ToJson(const TrainSummary& summary);
Expected<TrainSummary> TrainSummaryFromJson(const Json& json);

}  // namespace rlc

#endif  // RLC_ENV_TRAIN_REQUEST_H_
