// The evaluator: turns a candidate into costs, by measuring or by estimating.
#ifndef RLC_COST_EVALUATOR_H_
#define RLC_COST_EVALUATOR_H_

#include <optional>
#include <span>

#include "rlc/base/error.h"
#include "rlc/cost/catalogue.h"
#include "rlc/cost/cost.h"

namespace rlc {

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Costs of the candidate. Error: it could not be built, or crashed, hung or ran out of memory; the sentence says
  // which.
  virtual Expected<Costs> Evaluate(const Candidate& candidate) = 0;
  // The accuracy drop that is expected of a candidate, where that can be said without an evaluation: for masks.
  virtual std::optional<double> ExpectedDrop(const Candidate& /*candidate*/) const { return std::nullopt; }
  // The same for each entry of the catalogue added to the candidate: drops[entry] = ExpectedDrop(candidate + entry),
  // for all entries that are not in it. False, and nothing written: it cannot be said.
  virtual bool ExpectedDropsAfter(const Candidate& candidate, std::span<double> drops) const {
    Candidate next = candidate;
    next.push_back(-1);
    for (size_t entry = 0; entry < drops.size(); ++entry) {
      next.back() = static_cast<int>(entry);
      const auto drop = ExpectedDrop(next);
      if (!drop) return false;
      drops[entry] = *drop;
    }
    return true;
  }
  virtual CostSource source() const = 0;
  // How many evaluations were really made (not answered from a store): what budgets count.
  virtual int evaluations() const = 0;
};

}  // namespace rlc

#endif  // RLC_COST_EVALUATOR_H_
