// The evaluator that runs what it judges: candidate -> plan -> file -> timing against the baseline, and accuracy.
#ifndef RLC_MEASURE_MEASURED_EVALUATOR_H_
#define RLC_MEASURE_MEASURED_EVALUATOR_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rlc/base/clock.h"
#include "rlc/base/file.h"
#include "rlc/cost/evaluator.h"
#include "rlc/measure/accuracy.h"
#include "rlc/measure/energy.h"
#include "rlc/measure/store.h"
#include "rlc/measure/timing.h"

namespace rlc {

struct MeasuredSetup {
  const Model* model = nullptr;  // these five must outlive the evaluator
  const Catalogue* catalogue = nullptr;
  const AccuracyJudge* judge = nullptr;  // null: no data, no drop
  TrialStore* store = nullptr;           // null: nothing is kept
  Services services;                     // what its pointers point to
  std::string model_path;                // the original's file: the baseline
  std::string model_hash;
  std::string machine;  // Machine::Fingerprint()
  std::vector<NamedTensor> timing_inputs;
  TimingOptions timing;  // the control may be left out: the ratio's interval is against the baseline itself
  ChildLimits limits;
  bool reuse = true;                    // trials of the store count as evaluated; finalists are measured fresh
  std::optional<EnergyOptions> energy;  // nothing, or no readable counters: energy is not measured
  std::string powercap = "/sys/class/powercap";
  Clock wall_clock;  // for time stamps
  StopToken stop;
};

class MeasuredEvaluator : public Evaluator {
 public:
  static Expected<MeasuredEvaluator> Create(MeasuredSetup setup);

  // A file that was measured before (the store has it for the same baseline, machine, runtime, threads and data) is not
  // measured again; neither is a candidate that this evaluator measured or saw failing. Every new measurement and
  // failure is added to the store. kInterrupted when told to stop; that is no failure of the candidate.
  Expected<Costs> Evaluate(const Candidate& candidate) override;
  CostSource source() const override { return CostSource::kMeasured; }
  int evaluations() const override { return evaluations_; }

  // The file that the candidate's plan gives, as Evaluate measures it.
  Expected<std::string> BytesOf(const Candidate& candidate) const;

 private:
  MeasuredEvaluator(MeasuredSetup setup, TempDir folder, std::string runtime)
      : setup_(std::move(setup)), folder_(std::move(folder)), runtime_(std::move(runtime)) {}
  Expected<Costs> Measure(const std::string& bytes, const std::string& name);
  Expected<std::optional<Trial>> Look(const TrialKey& key) const;

  MeasuredSetup setup_;
  TempDir folder_;
  std::string runtime_;
  std::map<Candidate, Expected<Costs>> known_;
  int evaluations_ = 0;
  bool energy_readable_ = true;
};

}  // namespace rlc

#endif  // RLC_MEASURE_MEASURED_EVALUATOR_H_
