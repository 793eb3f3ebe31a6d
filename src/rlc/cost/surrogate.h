// The surrogate: estimates a candidate's costs from tables of what was measured once, corrected by full measurements.
//
//   latency = exact + sum over layers (time in its form - time as float) * work that pruning leaves
//                   + borders (one quantize or dequantize where a form changes between neighbours)
//                   + correction
//   drop    = sum over the candidate's entries of the drop that each one causes alone (never below 0)
//
// The correction is a ridge regression of what full measurements differ from this, on which entries are in the
// candidate. Everything it says is an estimate, and says so (CostSource::kSurrogate).
#ifndef RLC_COST_SURROGATE_H_
#define RLC_COST_SURROGATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/json.h"
#include "rlc/cost/catalogue.h"
#include "rlc/cost/evaluator.h"

namespace rlc {

// Milliseconds of one run. Forms that were not measured are NaN: then that form is taken to cost what float costs.
struct LayerTimes {
  double float_ms = 0, int8_ms = 0;
  double quantize_ms = 0;    // its input, float to int8
  double dequantize_ms = 0;  // its output, int8 to float
};

struct SurrogateTables {
  double baseline_ms = 0;          // the original model, measured
  double exact_ms = 0;             // the empty candidate (prologue and epilogue only), measured
  std::vector<LayerTimes> layers;  // by layer number
  std::vector<double> entry_drop;  // by catalogue number: accuracy drop of this entry alone; 0 where not measured
  bool drop_known = false;         // false: there was no data, drops are not stated
};

class Surrogate : public Evaluator {
 public:
  // The catalogue must outlive it. Preconditions, checked: one row for each layer and entry, baseline_ms > 0.
  // One object serves one thread (evaluations share scratch memory); copies are independent.
  Surrogate(const Catalogue& catalogue, SurrogateTables tables);

  Expected<Costs> Evaluate(const Candidate& candidate) override;
  std::optional<double> ExpectedDrop(const Candidate& candidate) const override;
  bool ExpectedDropsAfter(const Candidate& candidate, std::span<double> drops) const override;
  CostSource source() const override { return CostSource::kSurrogate; }
  int evaluations() const override { return evaluations_; }

  // What full measurements said. All of them each time: the correction is fitted anew.
  struct Measured {
    Candidate candidate;
    double latency_ms = 0;
    double drop = 0;
  };
  void Correct(std::span<const Measured> measured);

  const SurrogateTables& tables() const { return tables_; }

  // With the correction; the catalogue travels apart (rlc/cost/catalogue.h).
  Json ToJson() const;
  static Expected<Surrogate> FromJson(const Catalogue& catalogue, const Json& json);

 private:
  double TableLatency(const Candidate& candidate) const;
  double TableDrop(const Candidate& candidate) const;

  const Catalogue* catalogue_;
  SurrogateTables tables_;
  std::vector<double> latency_correction_, drop_correction_;  // by catalogue number
  std::vector<bool> reads_layer_;  // by layer: it reads another layer, whose output carries the border between them
  mutable std::vector<double> factor_;  // scratch, so that an evaluation allocates nothing
  mutable std::vector<uint8_t> quantized_;
  int evaluations_ = 0;
};

}  // namespace rlc

#endif  // RLC_COST_SURROGATE_H_
