#include "rlc/search/best_by_estimate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace rlc {
namespace {

// What a set of entries costs, by the surrogate.
struct Price {
  double latency = 0, drop = 0;
};

// A set of entries that is always closed: folds that a quantization needs are in it.
class Solver {
 public:
  Solver(const Catalogue& catalogue, Surrogate& surrogate, double max_drop)
      : surrogate_(surrogate),
        max_drop_(max_drop),
        has_(catalogue.entries.size(), 0),
        dependents_(catalogue.entries.size()) {
    for (size_t entry = 0; entry < has_.size(); ++entry) {
      required_.push_back(RequiredEntry(catalogue, static_cast<int>(entry)));
      if (required_[entry] >= 0) dependents_[static_cast<size_t>(required_[entry])].push_back(entry);
    }
  }

  void StartFrom(bool everything) {
    std::fill(has_.begin(), has_.end(), everything ? uint8_t{1} : uint8_t{0});
    now_ = PriceNow();
  }

  // Adds, one after another, the entry that gains most for each unit of drop, as long as any gains and fits. `floor` is
  // added to each drop: small ones favour entries that cost no accuracy, large ones those that gain most.
  void AddGreedily(double floor) {
    for (;;) {
      size_t best = has_.size();
      double best_score = 0;
      Price best_price;
      for (size_t entry = 0; entry < has_.size(); ++entry) {
        if (has_[entry] != 0) continue;
        const Price price = PriceWith({entry});
        const double score = (now_.latency - price.latency) / (std::max(price.drop - now_.drop, 0.0) + floor);
        if (price.drop <= max_drop_ && score > best_score) best = entry, best_score = score, best_price = price;
      }
      if (best == has_.size()) return;
      Toggle(best);
      now_ = best_price;
    }
  }

  // Takes away what loses least for each unit of drop, until the limit holds.
  void RemoveGreedily(double floor) {
    while (now_.drop > max_drop_) {
      size_t best = has_.size();
      double best_score = -std::numeric_limits<double>::infinity();
      Price best_price;
      for (size_t entry = 0; entry < has_.size(); ++entry) {
        if (has_[entry] == 0) continue;
        const Price price = PriceWith({entry});
        const double saved = now_.drop - price.drop, lost = price.latency - now_.latency;
        if (saved <= 0) continue;
        const double score = lost <= 0 ? saved / floor : saved / (lost + floor);
        if (score > best_score) best = entry, best_score = score, best_price = price;
      }
      if (best == has_.size()) return;
      Toggle(best);
      now_ = best_price;
    }
  }

  // Single changes, then exchanges of one entry for another, until none is faster within the limit.
  void Improve() {
    while (ImproveBySingles() || ImproveByExchange()) {
    }
  }

  bool within() const { return now_.drop <= max_drop_; }
  double latency() const { return now_.latency; }
  Candidate chosen() const {
    Candidate candidate;
    for (size_t entry = 0; entry < has_.size(); ++entry) {
      if (has_[entry] != 0) candidate.push_back(static_cast<int>(entry));
    }
    return candidate;
  }

 private:
  // Puts an entry in with what it needs, or takes it out with what needs it.
  void Toggle(size_t entry) {
    has_[entry] ^= 1;
    if (has_[entry] != 0 && required_[entry] >= 0) has_[static_cast<size_t>(required_[entry])] = 1;
    if (has_[entry] == 0) {
      for (size_t dependent : dependents_[entry]) has_[dependent] = 0;
    }
  }

  Price PriceNow() {
    scratch_.clear();
    for (size_t entry = 0; entry < has_.size(); ++entry) {
      if (has_[entry] != 0) scratch_.push_back(static_cast<int>(entry));
    }
    const auto costs = surrogate_.Evaluate(scratch_);
    RLC_CHECK(costs.has_value());  // a surrogate prices everything
    return {costs->latency_ms.value, costs->drop ? costs->drop->value : 0.0};
  }

  Price PriceWith(std::initializer_list<size_t> toggled) {
    const std::vector<uint8_t> before = has_;
    for (size_t entry : toggled) Toggle(entry);
    const Price price = PriceNow();
    has_ = before;
    return price;
  }

  bool TakeIfBetter(std::initializer_list<size_t> toggled) {
    constexpr double kLeastGain = 1e-9;  // of the latency: rounding must not make it go round in circles
    const Price price = PriceWith(toggled);
    if (price.drop > max_drop_ || price.latency >= now_.latency * (1 - kLeastGain)) return false;
    for (size_t entry : toggled) Toggle(entry);
    now_ = price;
    return true;
  }

  bool ImproveBySingles() {
    bool improved = false;
    for (size_t entry = 0; entry < has_.size(); ++entry) improved |= TakeIfBetter({entry});
    return improved;
  }

  bool ImproveByExchange() {
    bool improved = false;
    for (size_t out = 0; out < has_.size(); ++out) {
      for (size_t in = 0; in < has_.size() && has_[out] != 0; ++in) {
        if (has_[in] == 0 && required_[out] != static_cast<int>(in)) improved |= TakeIfBetter({out, in});
      }
    }
    return improved;
  }

  Surrogate& surrogate_;
  double max_drop_;
  std::vector<uint8_t> has_;
  std::vector<int> required_;                    // by entry: the fold it needs, -1: none
  std::vector<std::vector<size_t>> dependents_;  // by entry: what needs it
  Price now_;
  Candidate scratch_;
};

}  // namespace

Candidate BestByEstimate(const Catalogue& catalogue, Surrogate& surrogate, double max_drop) {
  Solver solver(catalogue, surrogate, max_drop);
  Candidate best;
  solver.StartFrom(/*everything=*/false);
  double best_latency = solver.latency();
  // From "gain per drop" to "gain alone": shares of the limit that each entry is charged beside its own drop.
  const std::array<double, 3> floors = {1e-3, 1e-1, 1e3};
  for (const double share : floors) {
    for (const bool everything : {false, true}) {
      solver.StartFrom(everything);
      const double floor = std::max(share * max_drop, 1e-9);
      if (everything) solver.RemoveGreedily(floor);
      if (!solver.within()) continue;
      solver.AddGreedily(floor);
      solver.Improve();
      if (solver.latency() < best_latency) best_latency = solver.latency(), best = solver.chosen();
    }
  }
  return Normalized(catalogue, best);
}

}  // namespace rlc
