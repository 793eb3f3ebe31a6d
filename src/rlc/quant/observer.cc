#include "rlc/quant/observer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rlc {
namespace {

constexpr int kMinExponent = -160;  // finer than the smallest denormal float needs

int64_t FloorHalf(int64_t x) { return x >= 0 ? x / 2 : -((-x + 1) / 2); }

int64_t CellOf(double x, int exponent) { return static_cast<int64_t>(std::floor(std::ldexp(x, -exponent))); }

// Whether the cells of [low, high] are at most kBins, computed in double: indices may be far beyond int64.
bool Fits(double low, double high, int exponent, int bins) {
  return std::floor(std::ldexp(high, -exponent)) - std::floor(std::ldexp(low, -exponent)) + 1 <= bins;
}

// Smallest exponent for which [low, high] fits.
int ExponentFor(double low, double high, int bins) {
  const double magnitude = std::max(std::fabs(low), std::fabs(high));
  int exponent = std::max(kMinExponent, std::ilogb(std::max(high - low, magnitude * 1e-7)) - 16);
  while (!Fits(low, high, exponent, bins)) ++exponent;
  return exponent;
}

}  // namespace

std::string RangeMethodName(RangeMethod method) {
  switch (method) {
    case RangeMethod::kMinMax:
      return "minmax";
    case RangeMethod::kPercentile:
      return "percentile";
    case RangeMethod::kEntropy:
      return "entropy";
    case RangeMethod::kMse:
      return "mse";
  }
  RLC_CHECK(false);
}

Expected<RangeMethod> ParseRangeMethod(std::string_view name) {
  for (const RangeMethod method :
       {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy, RangeMethod::kMse}) {
    if (RangeMethodName(method) == name) return method;
  }
  return MakeError(ErrorKind::kUsage,
                   "no calibration method is called '{}'; there are minmax, percentile, entropy and mse", name);
}

Expected<void> Observer::Add(std::string_view name, std::span<const float> samples) {
  if (samples.empty()) return {};
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  int64_t bad = 0;
  int64_t zeros = 0;
  for (const float x : samples) {
    bad += std::isfinite(x) ? 0 : 1;
    zeros += x == 0 ? 1 : 0;
    low = std::min<double>(low, x);
    high = std::max<double>(high, x);
  }
  if (bad > 0) {
    return MakeError(ErrorKind::kInvalidInput,
                     "{}: {} of {} calibration samples are NaN or infinite; check the data and its preprocessing", name,
                     bad, samples.size());
  }
  min_ = count_ == 0 ? low : std::min(min_, low);
  max_ = count_ == 0 ? high : std::max(max_, high);
  count_ += static_cast<int64_t>(samples.size());
  zeros_ += zeros;
  if (zeros == static_cast<int64_t>(samples.size())) return {};
  Cover(low, high);
  // 2^-exponent is a double for all exponents that occur, and the product is exact.
  const double inverse = std::ldexp(1.0, -exponent_);
  for (const float x : samples) {
    if (x == 0) continue;
    ++bins_[static_cast<size_t>(static_cast<int64_t>(std::floor(x * inverse)) - first_)];
  }
  return {};
}

void Observer::Coarsen() {
  std::vector<int64_t> joined;
  const int64_t first = FloorHalf(first_);
  joined.resize(static_cast<size_t>(FloorHalf(first_ + static_cast<int64_t>(bins_.size()) - 1) - first + 1));
  for (size_t i = 0; i < bins_.size(); ++i) {
    joined[static_cast<size_t>(FloorHalf(first_ + static_cast<int64_t>(i)) - first)] += bins_[i];
  }
  bins_ = std::move(joined);
  first_ = first;
  ++exponent_;
}

// Makes the cells cover [low, high] as well as what they cover now.
void Observer::Cover(double low, double high) {
  if (bins_.empty()) {
    exponent_ = ExponentFor(low, high, kBins);
    first_ = CellOf(low, exponent_);
    bins_.assign(static_cast<size_t>(CellOf(high, exponent_) - first_ + 1), 0);
    return;
  }
  const auto all_low = [&] { return std::min(low, std::ldexp(static_cast<double>(first_), exponent_)); };
  const auto all_high = [&] {
    return std::max(high, std::ldexp(static_cast<double>(first_) + static_cast<double>(bins_.size()) - 1, exponent_));
  };
  while (!Fits(all_low(), all_high(), exponent_, kBins)) Coarsen();
  const int64_t first = std::min(first_, CellOf(low, exponent_));
  const int64_t last = std::max(first_ + static_cast<int64_t>(bins_.size()) - 1, CellOf(high, exponent_));
  if (first == first_ && last == first_ + static_cast<int64_t>(bins_.size()) - 1) return;
  std::vector<int64_t> wider(static_cast<size_t>(last - first + 1), 0);
  std::copy(bins_.begin(), bins_.end(), wider.begin() + static_cast<std::ptrdiff_t>(first_ - first));
  bins_ = std::move(wider);
  first_ = first;
}

void Observer::Merge(const Observer& other) {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = count_ == 0 ? other.max_ : std::max(max_, other.max_);
  count_ += other.count_;
  zeros_ += other.zeros_;
  if (other.bins_.empty()) return;
  Observer theirs = other;
  if (bins_.empty()) {
    exponent_ = theirs.exponent_;
    first_ = theirs.first_;
    bins_ = std::move(theirs.bins_);
    return;
  }
  while (exponent_ < theirs.exponent_) Coarsen();
  while (theirs.exponent_ < exponent_) theirs.Coarsen();
  const auto edge = [](const Observer& o, size_t cell) {
    return std::ldexp(static_cast<double>(o.first_) + static_cast<double>(cell), o.exponent_);
  };
  Cover(edge(theirs, 0), edge(theirs, theirs.bins_.size() - 1));
  while (theirs.exponent_ < exponent_) theirs.Coarsen();
  for (size_t i = 0; i < theirs.bins_.size(); ++i) {
    bins_[static_cast<size_t>(theirs.first_ - first_) + i] += theirs.bins_[i];
  }
}

std::vector<Observer::Cell> Observer::Cells() const {
  std::vector<Cell> cells;
  bool zero_done = zeros_ == 0;
  const auto put_zero = [&] {
    if (!zero_done) cells.push_back({0, 0, static_cast<double>(zeros_)});
    zero_done = true;
  };
  for (size_t i = 0; i < bins_.size(); ++i) {
    if (bins_[i] == 0) continue;
    const int64_t index = first_ + static_cast<int64_t>(i);
    if (index >= 0) put_zero();
    cells.push_back({std::max(std::ldexp(static_cast<double>(index), exponent_), min_),
                     std::min(std::ldexp(static_cast<double>(index) + 1, exponent_), max_),
                     static_cast<double>(bins_[i])});
  }
  put_zero();
  return cells;
}

Expected<void> ObserverSet::Add(const std::string& name, std::span<const float> samples) {
  return observers_[name].Add(name, samples);
}

void ObserverSet::Merge(const ObserverSet& other) {
  for (const auto& [name, observer] : other.observers_) observers_[name].Merge(observer);
}

}  // namespace rlc
