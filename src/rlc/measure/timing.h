// Timing of several models against a baseline, in one process.
//
// Method: a warm-up of each until it is stable; then rounds, in each of which every participant runs one short batch,
// in random order, after one run that does not count (the model before it has just emptied the caches). A batch is as
// many runs as fill min_batch_seconds. What is reported is the median over rounds of the time per run, and the ratio of
// medians with a bootstrap interval that resamples whole rounds, so that drift which all of them share cancels out. The
// baseline takes part twice, in two sessions: the second is the A/A control, and a gain that is not clearly larger than
// what the control shows is not called a gain.
//
// A batch during which another program took the processor away says nothing about the model: it is repeated, with fewer
// runs when that happens often, and batches for which there was no quiet are left out as long as enough others remain.
#ifndef RLC_MEASURE_TIMING_H_
#define RLC_MEASURE_TIMING_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/clock.h"
#include "rlc/base/error.h"
#include "rlc/base/interrupt.h"
#include "rlc/base/json.h"
#include "rlc/base/statistics.h"
#include "rlc/ort/session.h"

namespace rlc {

struct TimingOptions {
  int threads = 1;
  double budget_seconds = 5;  // wall time of warm-up and rounds; min_rounds are made in any case
  double min_batch_seconds = 0.01;
  int min_rounds = 15;
  int max_rounds = 1000;
  // Stop before the budget is used up when the interval of every ratio is narrower than +- this; 0: never.
  double precision = 0.003;
  bool control = true;  // the A/A control takes part
  bool pin = true;      // with one thread: stay on the core that is least busy now
  double confidence = 0.95;
  uint64_t seed = 0;
};

enum class Change { kFaster, kSlower, kNone };  // kNone: inside the noise
std::string_view ChangeName(Change change);     // "faster", "slower", "no difference"

struct Timing {
  std::string name;
  double creation_ms = 0;  // of the session, once; not part of latency
  int runs_per_batch = 0;
  std::vector<double> run_ms;  // mean time of a run in each batch that counts
  int discarded = 0;           // batches that do not: another program ran on our core
  bool disturbed = false;      // too few quiet batches, so the others count too
  Estimate latency_ms;         // median, with its interval
  Estimate ratio;              // latency / baseline latency: < 1 is faster; exactly 1 for the baseline itself
  Change change = Change::kNone;
};

struct TimingResult {
  std::vector<Timing> models;     // in the order given; the first is the baseline
  std::optional<Timing> control;  // the baseline once more; its ratio shows the noise
  int rounds = 0;
  int threads = 1;
  int core = -1;        // pinned to; -1: not pinned
  bool stable = false;  // every participant's warm-up settled
  bool denormals_flushed = true;
  double seconds = 0;  // wall time used
};

// A run of one participant: for tests, and for whatever else is timed against each other (kernels, providers).
struct Participant {
  std::string name;
  std::function<Expected<void>()> run;
};

// How often the processor was taken away so far, by the kernel's count; a batch in which it grows is disturbed.
using PreemptionCount = std::function<int64_t()>;
PreemptionCount PreemptionsOfProcess();

// Times participants[0], the baseline, against the others. `control`: a second instance of the baseline, if any.
// Without `preemptions` no batch counts as disturbed. Error: the first that a run gives; kInterrupted when told to
// stop.
Expected<TimingResult> TimeInterleaved(std::span<const Participant> participants, const Participant* control,
                                       const TimingOptions& options, const Clock& clock, StopToken stop = {},
                                       const PreemptionCount& preemptions = {});

struct TimedModel {
  std::string name;  // shown
  std::string path;  // of the file
  OptLevel level = OptLevel::kAll;
  std::vector<std::string> custom_op_libraries;
};

// Makes sessions of the models and times them on the same inputs (name, tensor), each taking those it knows. Pins the
// calling thread, when asked to, for the time of the measurement.
Expected<TimingResult> TimeModels(std::span<const TimedModel> models, std::span<const NamedTensor> inputs,
                                  const TimingOptions& options, const Clock& clock, StopToken stop = {});

// Whether a ratio says something that the control does not say of the baseline itself: kFaster when its whole interval
// lies below 1 and below the control's.
Change JudgeRatio(const Estimate& ratio, const std::optional<Estimate>& control);

Json ToJson(const TimingResult& result);
Expected<TimingResult> TimingResultFromJson(const Json& json);
Json EstimateToJson(const Estimate& estimate);
Expected<Estimate> EstimateFromJson(const Json& json);

}  // namespace rlc

#endif  // RLC_MEASURE_TIMING_H_
