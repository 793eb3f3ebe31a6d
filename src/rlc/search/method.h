// Search methods: spend a budget of evaluations on candidates and report every trial.
#ifndef RLC_SEARCH_METHOD_H_
#define RLC_SEARCH_METHOD_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/clock.h"
#include "rlc/base/interrupt.h"
#include "rlc/base/log.h"
#include "rlc/base/rng.h"
#include "rlc/cost/evaluator.h"
#include "rlc/cost/surrogate.h"
#include "rlc/env/layers_env.h"

namespace rlc {

// A policy over the layers view: from an observation to one logit for each (type, layer), masked by the caller.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string name() const = 0;
  // logits.size() == kLayerActionTypes * num_layers.
  virtual Expected<void> Logits(std::span<const float> observation, std::span<float> logits) = 0;
};

struct Budget {
  int evaluations = 500;          // of the measured evaluator
  std::optional<double> seconds;  // by the clock of the problem; whichever ends first
};

struct SearchTrial {
  Candidate candidate;
  std::optional<Costs> costs;  // nothing: it failed
  std::string failure;
  int evaluation = 0;  // how many had been made when it came
  double seconds = 0;  // since the start of the search
};

// Everything a method may use. The evaluator is the measured one: what it says is what counts.
struct SearchProblem {
  const Catalogue* catalogue = nullptr;
  const GraphFeatures* features = nullptr;
  Evaluator* evaluator = nullptr;
  Surrogate* surrogate = nullptr;  // null: methods that need one fail with a sentence. Corrected by every measurement
  Policy* policy = nullptr;        // only for the method "rl"
  double max_drop = 0.01;
  Budget budget;
  uint64_t seed = 0;
  Clock clock;
  StopToken stop;
  ProgressSink progress;
  // Called after each trial, with the best so far already updated: where the caller saves its work.
  std::function<void(const SearchTrial&, const SearchTrial* best)> on_trial;
};

struct SearchResult {
  std::vector<SearchTrial> trials;  // in order; trial 0 is the empty candidate
  int best = -1;                    // fastest within the limit, -1: none was measured
  bool interrupted = false;
};

class SearchMethod {
 public:
  virtual ~SearchMethod() = default;
  virtual std::string_view name() const = 0;  // "greedy", "random", "rl", "static"
  virtual Expected<SearchResult> Run(const SearchProblem& problem) const = 0;
};

// All methods by name, one row each in methods.inc.
const SearchMethod* FindMethod(std::string_view name);
std::vector<std::string> MethodNames();

// True if `a` is the better trial: measured, within the limit (upper end of the drop's interval is not asked here, its
// value is), and faster.
bool BetterTrial(const SearchTrial& a, const SearchTrial& b, double max_drop);

}  // namespace rlc

#endif  // RLC_SEARCH_METHOD_H_
