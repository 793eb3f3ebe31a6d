// The state of one `rlc optimize`, handed from phase to phase. Each phase is one function; optimize_job.cc calls them
// in order.
#ifndef RLC_OPTIMIZE_OPTIMIZE_RUN_H_
#define RLC_OPTIMIZE_OPTIMIZE_RUN_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/measure/accuracy.h"
#include "rlc/measure/fingerprint.h"
#include "rlc/measure/measured_evaluator.h"
#include "rlc/optimize/data_setup.h"
#include "rlc/optimize/finalists.h"
#include "rlc/optimize/optimize_job.h"
#include "rlc/optimize/run_trainer.h"
#include "rlc/optimize/services.h"
#include "rlc/ort/runtime.h"
#include "rlc/ort/runtime_graph.h"
#include "rlc/search/method.h"

namespace rlc {

struct PhaseTime {
  std::string name;
  double seconds = 0;
};

// What one action (or group of actions) of the winner is worth: time of the winner without it / time of the winner.
struct Credit {
  std::string name;
  Estimate ratio;
};

// A model with compiled regions, to be timed with the finalists.
struct RegionVariant {
  std::string description;
  Plan plan;
  bool exact = false;
  std::map<int, std::string> forms;  // by layer
};

struct OptimizeRun {
  explicit OptimizeRun(const OptimizeRequest& r) : request(r) {}

  const OptimizeRequest& request;
  bool writes_model = true;  // false: the output is something else, or nothing; KeepBest does nothing then
  double started = 0;
  std::vector<PhaseTime> phases;
  std::vector<std::string> warnings;

  // prepare
  Model model;
  std::string hash;
  std::unique_ptr<StandardServices> services;
  std::optional<DataSetup> data;
  ActionKinds kinds;
  Machine machine;
  RuntimeInfo runtime;
  std::unique_ptr<TrialStore> store;
  std::unique_ptr<TempDir> folder;
  std::unique_ptr<AccuracyJudge> search_judge;  // null without data

  // catalogue
  Model prepared;  // after the prologue, with the shapes of the timing inputs
  Catalogue catalogue;
  size_t calibration_rows = 0;
  std::unique_ptr<MeasuredEvaluator> evaluator;
  Costs exact_costs;  // of the empty candidate
  bool exact_compared = false;
  std::optional<OutputDeviation> exact_deviation;  // nothing: not compared, or that failed

  // learn and search
  std::unique_ptr<Surrogate> surrogate;
  std::unique_ptr<GraphFeatures> features;
  std::optional<TrainedPolicy> trained;
  SearchResult search;
  std::string method;

  // compiled regions (only with --actions region)
  std::string ops_library;
  std::vector<RegionVariant> region_variants;
  std::map<int, std::map<std::string, double>> form_ms;  // by layer and form, inside the compiled network

  // verify
  std::vector<Finalist> finalists;  // [0] is the original
  TimingResult timing;
  int winner = 0;      // index into finalists
  std::string reason;  // why it is not something faster
  std::vector<Credit> credits;
  std::vector<RanAs> ran;  // of the winner, by layer
  size_t final_rows = 0;

  double Elapsed() const { return request.clock() - started; }
  double Left() const { return request.seconds - Elapsed(); }
};

// The evaluator of this run's catalogue. `reuse`: answers that the trial store has count as evaluated.
Expected<std::unique_ptr<MeasuredEvaluator>> MakeEvaluator(const OptimizeRun& run, bool reuse);

// Reads model and data, opens the store, measures the baseline's accuracy on the search split.
Expected<void> Prepare(OptimizeRun& run);
// Applies the exact rewrites, calibrates, lists all actions, measures the exact model; writes it if it is faster.
Expected<void> BuildActions(OptimizeRun& run);
// Whether the exact model's outputs are the original's, up to rounding: on a few samples for calibration and search (or
// random inputs, without data), optimizations off. Asked once; a warning says what is wrong. docs/adr/0007
bool ExactOutputsAreSame(OptimizeRun& run);
// The output of a finalist with compiled regions, our library registered, that deviates most from the original's, on
// the same inputs; nothing (and a warning) when that cannot be told.
std::optional<OutputDeviation> RegionDeviation(OptimizeRun& run, const Finalist& finalist);
// Measures tables and sensitivities, trains or loads the policy, searches.
Expected<void> SearchActions(OptimizeRun& run);
// Parts of SearchActions: tables and sensitivities into run.surrogate; a policy trained on them.
Expected<void> MakeSurrogate(OptimizeRun& run);
// All phases up to the surrogate, for jobs that only learn. Error: there is nothing to learn.
Expected<void> PrepareTables(OptimizeRun& run);
inline constexpr double kLongestTraining = 3600;  // seconds, where no budget says less
Expected<TrainedPolicy> TrainFor(const OptimizeRun& run, uint64_t seed, const std::string& folder, double seconds);
// Times every layer in every form inside the compiled network and chooses the best ones; nothing without
// ActionKinds::region. Error, kUnavailable: librlc_ops.so is missing.
Expected<void> ChooseForms(OptimizeRun& run);
// Times finalists afresh, checks them on the final split, chooses, credits, writes model and plan.
Expected<void> VerifyAndWrite(OptimizeRun& run);

// Writes the candidate's model to the output at once, so that the best so far survives whatever comes.
Expected<void> KeepBest(OptimizeRun& run, const Candidate& candidate);

// report.json (docs/report-schema.md).
Json MakeReport(const OptimizeRun& run);

// Progress with the run's elapsed time filled in.
ProgressSink ProgressOf(const OptimizeRun& run);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_OPTIMIZE_RUN_H_
