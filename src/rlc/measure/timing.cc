#include "rlc/measure/timing.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "rlc/base/rng.h"
#include "rlc/measure/fingerprint.h"

namespace rlc {
namespace {

// A warm-up batch series counts as settled when the medians of its last and its last but one window agree this well.
constexpr double kSettled = 0.02;
constexpr size_t kWindow = 3;
constexpr double kWarmUpShare = 0.25;  // of the budget, for all participants together
constexpr int kMaxRunsPerBatch = 10'000;

constexpr int kAttempts = 4;  // at a batch that nobody disturbs

struct Slot {
  const Participant* participant = nullptr;
  Timing timing;
  std::vector<double> run_ms;      // by round
  std::vector<bool> quiet;         // by round: nobody disturbed it
  int disturbed = 0, batches = 0;  // since the batch size was last set
};

struct BatchTime {
  double seconds = 0;  // mean of its runs
  bool quiet = true;
};

double Last(const std::vector<double>& values, size_t skip) {
  const size_t end = values.size() - skip;
  return Median(std::span(values).subspan(end - kWindow, kWindow));
}

bool Settled(const std::vector<double>& values) {
  if (values.size() < 2 * kWindow) return false;
  const double now = Last(values, 0), before = Last(values, kWindow);
  return std::abs(now - before) <= kSettled * before;
}

class Interleaver {
 public:
  Interleaver(const TimingOptions& options, const Clock& clock, StopToken stop, const PreemptionCount& preemptions)
      : options_(options), clock_(clock), stop_(stop), preemptions_(preemptions), rng_(options.seed), start_(clock()) {}

  void Add(const Participant& participant) {
    slots_.push_back({&participant, {}});
    slots_.back().timing.name = participant.name;
  }

  Expected<void> WarmUp() {
    stable_ = true;
    const double share = options_.budget_seconds * kWarmUpShare / static_cast<double>(slots_.size());
    for (Slot& slot : slots_) {
      slot.timing.runs_per_batch = 1;
      // The first run pays for memory, lazily made kernels and page faults.
      RLC_RETURN_IF_ERROR(slot.participant->run());
      std::vector<double> seconds;
      const double begin = clock_();
      while (!Settled(seconds) && (seconds.size() < 2 * kWindow || clock_() - begin < share)) {
        RLC_ASSIGN_OR_RETURN(const BatchTime time, Batch(slot));
        const double run = time.seconds;
        seconds.push_back(run);
        // A clock that cannot resolve one run reads 0: then double the batch until it can.
        const double runs = run > 0 ? std::ceil(options_.min_batch_seconds / run) : slot.timing.runs_per_batch * 2.0;
        slot.timing.runs_per_batch = static_cast<int>(std::clamp(runs, 1.0, double{kMaxRunsPerBatch}));
      }
      stable_ = stable_ && Settled(seconds);
    }
    return {};
  }

  Expected<void> Rounds() {
    std::vector<size_t> order(slots_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    int next_look = options_.min_rounds;
    while (true) {
      rng_.Shuffle(order);
      for (const size_t index : order) {
        Slot& slot = slots_[index];
        RLC_ASSIGN_OR_RETURN(const BatchTime time, QuietBatch(slot));
        slot.run_ms.push_back(time.seconds * 1e3);
        slot.quiet.push_back(time.quiet);
      }
      ++rounds_;
      if (rounds_ < options_.min_rounds) continue;
      if (rounds_ >= options_.max_rounds || clock_() - start_ >= options_.budget_seconds) return {};
      if (rounds_ < next_look) continue;
      // Looking costs a bootstrap; ever more rarely, so that it never takes a noticeable part of the time.
      next_look = rounds_ + rounds_ / 3 + 1;
      if (PreciseEnough()) return {};
    }
  }

  TimingResult Finish(bool has_control) {
    TimingResult result;
    for (Slot& slot : slots_) {
      const std::vector<size_t> counted = Counted(slot, slot);
      slot.timing.run_ms = Pick(slot.run_ms, counted);
      slot.timing.discarded = rounds_ - static_cast<int>(counted.size());
      slot.timing.disturbed = slot.timing.discarded == 0 && std::count(slot.quiet.begin(), slot.quiet.end(), false) > 0;
      slot.timing.latency_ms = MedianEstimate(slot.timing.run_ms, "ms", Bootstrap());
      slot.timing.ratio = Ratio(slot);
      result.models.push_back(std::move(slot.timing));
    }
    if (has_control) {
      result.control = std::move(result.models.back());
      result.models.pop_back();
    }
    const std::optional<Estimate> noise = result.control ? std::optional(result.control->ratio) : std::nullopt;
    for (size_t i = 1; i < result.models.size(); ++i)
      result.models[i].change = JudgeRatio(result.models[i].ratio, noise);
    result.rounds = rounds_;
    result.threads = options_.threads;
    result.stable = stable_;
    result.seconds = clock_() - start_;
    return result;
  }

 private:
  Expected<BatchTime> Batch(const Slot& slot) {
    if (stop_.StopRequested()) return MakeError(ErrorKind::kInterrupted, "timing was interrupted");
    const int64_t before = preemptions_ ? preemptions_() : 0;
    const double begin = clock_();
    for (int i = 0; i < slot.timing.runs_per_batch; ++i) RLC_RETURN_IF_ERROR(slot.participant->run());
    const double end = clock_();
    return BatchTime{(end - begin) / slot.timing.runs_per_batch, !preemptions_ || preemptions_() == before};
  }

  // A batch of a round, if possible one that nobody disturbs.
  Expected<BatchTime> QuietBatch(Slot& slot) {
    BatchTime time;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      // Not counted: the caches hold another model, or another program.
      RLC_RETURN_IF_ERROR(slot.participant->run());
      RLC_ASSIGN_OR_RETURN(time, Batch(slot));
      ++slot.batches;
      if (time.quiet) break;
      // Others get the processor every few milliseconds: a shorter batch fits in between.
      if (++slot.disturbed * 2 > slot.batches && slot.batches >= kAttempts) {
        slot.timing.runs_per_batch = std::max(1, slot.timing.runs_per_batch / 2);
        slot.disturbed = slot.batches = 0;
      }
      if (clock_() - start_ >= options_.budget_seconds) break;
    }
    return time;
  }

  // The rounds in which both were quiet, if there are enough; else all.
  std::vector<size_t> Counted(const Slot& a, const Slot& b) const {
    std::vector<size_t> quiet, all(static_cast<size_t>(rounds_));
    std::iota(all.begin(), all.end(), size_t{0});
    std::copy_if(all.begin(), all.end(), std::back_inserter(quiet), [&](size_t i) { return a.quiet[i] && b.quiet[i]; });
    return quiet.size() >= static_cast<size_t>(options_.min_rounds) ? quiet : all;
  }

  static std::vector<double> Pick(const std::vector<double>& values, const std::vector<size_t>& rounds) {
    std::vector<double> picked;
    for (const size_t round : rounds) picked.push_back(values[round]);
    return picked;
  }

  BootstrapOptions Bootstrap() const {
    BootstrapOptions bootstrap;
    bootstrap.confidence = options_.confidence;
    bootstrap.seed = options_.seed;
    bootstrap.paired = true;
    return bootstrap;
  }

  Estimate Ratio(const Slot& slot) const {
    const Slot& baseline = slots_.front();
    const std::vector<size_t> counted = Counted(slot, baseline);
    if (&slot == &baseline) return Estimate{1, 1, 1, counted.size(), "x"};
    return RatioOfMedians(Pick(slot.run_ms, counted), Pick(baseline.run_ms, counted), Bootstrap());
  }

  bool PreciseEnough() const {
    if (options_.precision <= 0) return false;
    return std::all_of(slots_.begin() + 1, slots_.end(), [&](const Slot& slot) {
      const Estimate ratio = Ratio(slot);
      return ratio.high - ratio.low < 2 * options_.precision * ratio.value;
    });
  }

  const TimingOptions& options_;
  const Clock& clock_;
  StopToken stop_;
  const PreemptionCount& preemptions_;
  Rng rng_;
  double start_;
  std::vector<Slot> slots_;
  int rounds_ = 0;
  bool stable_ = false;
};

// The calling thread stays on one core while this lives.
class ScopedPin {
 public:
  explicit ScopedPin(int core) {
    if (core < 0 || sched_getaffinity(0, sizeof previous_, &previous_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(core), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) core_ = core;
  }
  ~ScopedPin() {
    if (core_ >= 0) sched_setaffinity(0, sizeof previous_, &previous_);
  }
  ScopedPin(const ScopedPin&) = delete;
  ScopedPin& operator=(const ScopedPin&) = delete;
  int core() const { return core_; }

 private:
  cpu_set_t previous_;
  int core_ = -1;
};

struct Loaded {
  Participant participant;
  double creation_ms = 0;
};

Expected<Loaded> Load(const TimedModel& model, std::span<const NamedTensor> inputs, int threads, const Clock& clock) {
  SessionOptions options;
  options.level = model.level;
  options.threads = threads;
  options.custom_op_libraries = model.custom_op_libraries;
  const double begin = clock();
  RLC_ASSIGN_OR_RETURN(const Session session, Session::FromFile(model.path, options));
  const double creation_ms = (clock() - begin) * 1e3;
  std::vector<NamedTensor> own;
  for (const InterfaceValue& input : session.inputs()) {
    const auto given = std::find_if(inputs.begin(), inputs.end(), [&](const auto& g) { return g.name == input.name; });
    if (given != inputs.end()) own.push_back(*given);
  }
  RLC_ASSIGN_OR_RETURN(BoundRun bound, BoundRun::Create(session, std::move(own)));
  const auto run = std::make_shared<BoundRun>(std::move(bound));
  return Loaded{{model.name, [run] { return run->Run(); }}, creation_ms};
}

}  // namespace

std::string_view ChangeName(Change change) {
  switch (change) {
    case Change::kFaster:
      return "faster";
    case Change::kSlower:
      return "slower";
    case Change::kNone:
      break;
  }
  return "no difference";
}

Change JudgeRatio(const Estimate& ratio, const std::optional<Estimate>& control) {
  const double low = control ? std::min(1.0, control->low) : 1.0;
  const double high = control ? std::max(1.0, control->high) : 1.0;
  if (ratio.high < low) return Change::kFaster;
  if (ratio.low > high) return Change::kSlower;
  return Change::kNone;
}

PreemptionCount PreemptionsOfProcess() {
  return [] {
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<int64_t>(usage.ru_nivcsw) : int64_t{0};
  };
}

Expected<TimingResult> TimeInterleaved(std::span<const Participant> participants, const Participant* control,
                                       const TimingOptions& options, const Clock& clock, StopToken stop,
                                       const PreemptionCount& preemptions) {
  if (participants.empty()) return MakeError(ErrorKind::kUsage, "there is no model to time");
  if (options.min_rounds < 1 || options.max_rounds < options.min_rounds || options.min_batch_seconds <= 0) {
    return MakeError(ErrorKind::kUsage, "timing needs at least one round and batches that take time");
  }
  Interleaver interleaver(options, clock, stop, preemptions);
  for (const Participant& participant : participants) interleaver.Add(participant);
  if (control != nullptr) interleaver.Add(*control);
  RLC_RETURN_IF_ERROR(interleaver.WarmUp());
  RLC_RETURN_IF_ERROR(interleaver.Rounds());
  return interleaver.Finish(control != nullptr);
}

Expected<TimingResult> TimeModels(std::span<const TimedModel> models, std::span<const NamedTensor> inputs,
                                  const TimingOptions& options, const Clock& clock, StopToken stop) {
  if (models.empty()) return MakeError(ErrorKind::kUsage, "there is no model to time");
  if (options.threads < 1) return MakeError(ErrorKind::kUsage, "{} threads cannot run a model", options.threads);
  const ScopedPin pin(options.pin && options.threads == 1 ? LeastBusyCore() : -1);
  std::vector<Participant> participants;
  std::vector<double> creation;
  for (const TimedModel& model : models) {
    RLC_ASSIGN_OR_RETURN(Loaded loaded, Load(model, inputs, options.threads, clock));
    participants.push_back(std::move(loaded.participant));
    creation.push_back(loaded.creation_ms);
  }
  std::optional<Participant> control;
  double control_creation = 0;
  if (options.control) {
    RLC_ASSIGN_OR_RETURN(Loaded loaded, Load(models.front(), inputs, options.threads, clock));
    control = std::move(loaded.participant);
    control_creation = loaded.creation_ms;
  }
  RLC_ASSIGN_OR_RETURN(TimingResult result, TimeInterleaved(participants, control ? &*control : nullptr, options, clock,
                                                            stop, PreemptionsOfProcess()));
  for (size_t i = 0; i < creation.size(); ++i) result.models[i].creation_ms = creation[i];
  if (result.control) result.control->creation_ms = control_creation;
  result.core = pin.core();
  return result;
}

}  // namespace rlc
