// How a histogram becomes a range. All methods work on weighted cells; a cell's samples are taken to be spread evenly
// over it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "rlc/quant/observer.h"

namespace rlc {
namespace {

// Candidate ranges keep this share of the observed one, at the least.
constexpr double kSmallestShare = 0.1;
constexpr int kCandidates = 64;

struct Weighted {
  double low, high, count;
};

// The point below which `share` of the samples lie.
double QuantileOf(const std::vector<Weighted>& cells, double total, double share) {
  double below = 0;
  for (const Weighted& cell : cells) {
    if (below + cell.count >= share * total) {
      return cell.low + (cell.high - cell.low) * (share * total - below) / cell.count;
    }
    below += cell.count;
  }
  return cells.back().high;
}

Range Percentile(const std::vector<Weighted>& cells, double total, double percentile) {
  return {QuantileOf(cells, total, 1 - percentile), QuantileOf(cells, total, percentile)};
}

// Mean squared error when [low, high] is cut into `levels` integers.
double SquaredError(const std::vector<Weighted>& cells, Range range, int levels) {
  const double low = std::min(range.low, 0.0);
  const double high = std::max(range.high, 0.0);
  const double step = (high - low) / (levels - 1);
  if (step <= 0) return std::numeric_limits<double>::infinity();
  double error = 0;
  for (const Weighted& cell : cells) {
    const double x = (cell.low + cell.high) / 2;
    const double width = cell.high - cell.low;
    const double clipped = std::clamp(x, low, high);
    const bool cut = clipped != x;
    // Inside, a cell wider than a fraction of a step holds all phases of the rounding error: step^2 / 12. A narrow one
    // has the error of its middle.
    const double middle = std::round((clipped - low) / step) * step + low - clipped;
    const double rounding = width > step ? step * step / 12 : middle * middle;
    error += cell.count * (cut ? (x - clipped) * (x - clipped) : rounding);
  }
  return error;
}

Range Mse(const std::vector<Weighted>& cells, Range seen, int levels) {
  Range best = seen;
  double best_error = SquaredError(cells, seen, levels);
  // One end after the other, twice: the error is nearly separable, as each end pays for its own outliers.
  for (int round = 0; round < 2; ++round) {
    for (double Range::* end : {&Range::high, &Range::low}) {
      for (int i = 0; i <= kCandidates; ++i) {
        Range candidate = best;
        candidate.*end = seen.*end * (kSmallestShare + (1 - kSmallestShare) * i / kCandidates);
        const double error = SquaredError(cells, candidate, levels);
        if (error < best_error) {
          best = candidate;
          best_error = error;
        }
      }
    }
  }
  return best;
}

// KL divergence between the samples (outliers moved to the ends) and what `levels` integers make of them. Both are
// taken as distributions over the cells; an empty cell stays empty in the image.
double Divergence(const std::vector<Weighted>& cells, Range range, int levels) {
  const double low = std::min(range.low, 0.0);
  const double high = std::max(range.high, 0.0);
  const double step = (high - low) / (levels - 1);
  if (step <= 0) return std::numeric_limits<double>::infinity();
  std::vector<double> inside(cells.size(), 0.0);  // without outliers: what quantization sees
  std::vector<double> with_outliers(cells.size(), 0.0);
  std::vector<size_t> level(cells.size(), 0);
  std::vector<double> level_sum(static_cast<size_t>(levels), 0.0);
  std::vector<double> level_cells(static_cast<size_t>(levels), 0.0);
  size_t first = cells.size();
  size_t last = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const double x = (cells[i].low + cells[i].high) / 2;
    if (x < low || x > high) continue;
    first = std::min(first, i);
    last = i;
    inside[i] = with_outliers[i] = cells[i].count;
    level[i] = static_cast<size_t>(std::lround((x - low) / step));
    level_sum[level[i]] += inside[i];
    level_cells[level[i]] += 1;
  }
  if (first == cells.size()) return std::numeric_limits<double>::infinity();
  double total = 0;
  double total_inside = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i < first) with_outliers[first] += cells[i].count;
    if (i > last) with_outliers[last] += cells[i].count;
    total += cells[i].count;
    total_inside += inside[i];
  }
  double divergence = 0;
  for (size_t i = first; i <= last; ++i) {
    const double p = with_outliers[i] / total;
    const double q = level_sum[level[i]] / level_cells[level[i]] / total_inside;
    if (p > 0 && q > 0) divergence += p * std::log(p / q);
  }
  return divergence;
}

// A common bound T for both ends: [max(min, -T), min(max, T)].
Range Entropy(const std::vector<Weighted>& cells, Range seen, int levels) {
  const double bound = std::max(std::fabs(seen.low), std::fabs(seen.high));
  Range best = seen;
  double best_divergence = Divergence(cells, seen, levels);
  for (int i = 0; i < kCandidates; ++i) {
    const double cut = bound * (kSmallestShare + (1 - kSmallestShare) * i / kCandidates);
    const Range candidate{std::max(seen.low, -cut), std::min(seen.high, cut)};
    const double divergence = Divergence(cells, candidate, levels);
    if (divergence < best_divergence) {
      best = candidate;
      best_divergence = divergence;
    }
  }
  return best;
}

}  // namespace

Range Observer::FindRange(const RangeOptions& options, int levels) const {
  RLC_CHECK(levels > 1);
  Range range{min_, max_};
  if (count_ > zeros_ && options.method != RangeMethod::kMinMax) {
    std::vector<Weighted> cells;
    for (const Cell& cell : Cells()) cells.push_back({cell.low, cell.high, cell.count});
    switch (options.method) {
      case RangeMethod::kPercentile:
        range = Percentile(cells, static_cast<double>(count_), options.percentile);
        break;
      case RangeMethod::kEntropy:
        range = Entropy(cells, range, levels);
        break;
      case RangeMethod::kMse:
        range = Mse(cells, range, levels);
        break;
      case RangeMethod::kMinMax:
        break;
    }
  }
  return {std::min(range.low, 0.0), std::max(range.high, 0.0)};
}

}  // namespace rlc
