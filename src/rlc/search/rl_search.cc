// rl: search guided by a policy. A policy alone plays one episode; here it proposes, the surrogate ranks, and only
// measurements decide.
//
// First comes the recipe that quantizes every layer. Each round then: (1) sample episodes of the layers view from the
// policy on the surrogate, the first one greedily; also one-entry changes of the best candidate so far. (2) Measure the
// most promising proposals that were not measured before, by the surrogate's estimate; one in kExploreEvery is taken by
// the policy's own choice instead, because the estimate may be wrong in the same direction for all of its favourites.
// (3) The surrogate is corrected by what was measured.

#include <algorithm>
#include <cmath>

#include "rlc/search/methods.h"
#include "rlc/search/recipe.h"
#include "rlc/search/recorder.h"

namespace rlc {
namespace {

constexpr int kEpisodesEachRound = 32;
constexpr int kMeasuredEachRound = 4;
constexpr int kExploreEvery = 4;

// Index drawn from softmax(logits) over legal entries; the largest when `rng` is null.
size_t Draw(std::span<const float> logits, std::span<const uint8_t> mask, Rng* rng) {
  size_t best = logits.size();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (mask[i] != 0 && (best == logits.size() || logits[i] > logits[best])) best = i;
  }
  if (rng == nullptr) return best;
  double total = 0;
  for (size_t i = 0; i < logits.size(); ++i) total += mask[i] != 0 ? std::exp(double{logits[i]} - logits[best]) : 0.0;
  double left = rng->UniformReal() * total;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (mask[i] == 0) continue;
    left -= std::exp(double{logits[i]} - logits[best]);
    if (left <= 0) return i;
  }
  return best;
}

// Plays one episode and hands back what it chose.
Expected<Candidate> PlayEpisode(LayersEnv& env, Policy& policy, Rng* rng) {
  RLC_RETURN_IF_ERROR(env.Reset());
  const size_t layers = static_cast<size_t>(env.num_layers());
  std::vector<float> logits(kLayerActionTypes * layers);
  std::vector<uint8_t> mask(logits.size());
  while (!env.state().ended()) {
    const Observation observation = env.Observe();
    RLC_RETURN_IF_ERROR(policy.Logits(observation, logits));
    env.Mask(mask);
    const size_t action = Draw(logits, mask, rng);
    RLC_RETURN_IF_ERROR(env.Step({static_cast<LayerActionType>(action / layers), static_cast<int>(action % layers)}));
  }
  return env.state().chosen;
}

class PolicyGuided : public SearchMethod {
 public:
  std::string_view name() const override { return "rl"; }

  Expected<SearchResult> Run(const SearchProblem& problem) const override {
    if (problem.surrogate == nullptr || problem.policy == nullptr) {
      return MakeError(
          ErrorKind::kUsage,
          "method rl needs a policy and a surrogate; give --policy FILE, install rlc-train, or use --method greedy");
    }
    Recorder recorder(problem);
    recorder.Try(QuantizeEverything(*problem.catalogue));
    LayersEnvOptions options;
    options.max_steps = 2 * static_cast<int>(problem.catalogue->layers.size());
    options.target_drop = problem.max_drop;
    LayersEnv env(*problem.catalogue, *problem.features, *problem.surrogate, options);
    Rng rng(problem.seed);
    constexpr int kMostIdleRounds = 20;  // small catalogues run out of new candidates
    for (int round = 0, idle = 0; !recorder.Done() && idle < kMostIdleRounds; ++round) {
      RLC_ASSIGN_OR_RETURN(const std::vector<Candidate> proposals, Propose(problem, recorder, env, round, rng));
      const std::vector<Candidate> chosen = Choose(problem, proposals, rng);
      idle = chosen.empty() ? idle + 1 : 0;
      for (const Candidate& candidate : chosen) {
        if (!recorder.Done()) recorder.Try(candidate);
      }
    }
    return std::move(recorder).Finish();
  }

 private:
  // New candidates, normalized, each once, in the order they were thought of.
  static Expected<std::vector<Candidate>> Propose(const SearchProblem& problem, const Recorder& recorder,
                                                  LayersEnv& env, int round, Rng& rng) {
    std::vector<Candidate> proposals;
    const auto add = [&](const Candidate& candidate) {
      Candidate normal = Normalized(*problem.catalogue, candidate);
      if (recorder.Known(normal) || std::find(proposals.begin(), proposals.end(), normal) != proposals.end()) return;
      proposals.push_back(std::move(normal));
    };
    for (int episode = 0; episode < kEpisodesEachRound; ++episode) {
      Rng* const sampler = round == 0 && episode == 0 ? nullptr : &rng;
      RLC_ASSIGN_OR_RETURN(const Candidate candidate, PlayEpisode(env, *problem.policy, sampler));
      add(candidate);
    }
    if (const SearchTrial* best = recorder.best()) {
      for (size_t entry = 0; entry < problem.catalogue->entries.size(); ++entry) {
        Candidate changed = best->candidate;
        const auto found = std::find(changed.begin(), changed.end(), static_cast<int>(entry));
        if (found == changed.end()) {
          changed.push_back(static_cast<int>(entry));
        } else {
          changed.erase(found);
        }
        add(changed);
      }
    }
    return proposals;
  }

  static std::vector<Candidate> Choose(const SearchProblem& problem, const std::vector<Candidate>& proposals,
                                       Rng& rng) {
    struct Scored {
      double estimate;
      const Candidate* candidate;
    };
    std::vector<Scored> scored;
    for (const Candidate& candidate : proposals) {
      const auto costs = problem.surrogate->Evaluate(candidate);
      if (!costs) continue;
      const bool over = costs->drop && costs->drop->value > problem.max_drop;
      scored.push_back({costs->ratio.value + (over ? 10.0 : 0.0), &candidate});
    }
    std::stable_sort(scored.begin(), scored.end(),
                     [](const Scored& a, const Scored& b) { return a.estimate < b.estimate; });
    std::vector<Candidate> chosen;
    for (size_t i = 0; i < scored.size() && i < kMeasuredEachRound; ++i) {
      const bool explore = (i + 1) % kExploreEvery == 0 && scored.size() > kMeasuredEachRound;
      const size_t pick = explore ? i + rng.UniformInt(scored.size() - i) : i;
      chosen.push_back(*scored[pick].candidate);
    }
    return chosen;
  }
};

}  // namespace

std::unique_ptr<SearchMethod> RlSearch() { return std::make_unique<PolicyGuided>(); }

}  // namespace rlc
