// Observers: what calibration remembers of the tensors that stream by.
//
// One pass, fixed memory (a histogram of at most kBins cells that grows its range). The width of a cell is a power of
// two and cell edges are multiples of it, so growing the range joins whole cells: the result does not depend on the
// order of batches, and merging observers of two halves equals observing the whole.
#ifndef RLC_QUANT_OBSERVER_H_
#define RLC_QUANT_OBSERVER_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/quant/scheme.h"

namespace rlc {

enum class RangeMethod {
  kMinMax,      // everything that was seen
  kPercentile,  // cuts (1 - percentile) of the samples at each end
  kEntropy,     // smallest KL divergence between the samples and their quantized image
  kMse,         // smallest mean squared error of quantization
};
std::string RangeMethodName(RangeMethod method);                // "minmax", "percentile", "entropy", "mse"
Expected<RangeMethod> ParseRangeMethod(std::string_view name);  // kUsage

struct RangeOptions {
  RangeMethod method = RangeMethod::kMinMax;
  double percentile = 0.9999;  // in (0.5, 1]
};

struct Range {
  double low = 0, high = 0;
};

class Observer {
 public:
  static constexpr int kBins = 4096;

  // Error (the observer is unchanged): a NaN or an infinity among the samples; `name` is the tensor's, for the
  // sentence.
  Expected<void> Add(std::string_view name, std::span<const float> samples);
  void Merge(const Observer& other);

  int64_t count() const { return count_; }
  double min() const { return min_; }  // 0 when nothing was seen
  double max() const { return max_; }
  // The range to quantize, within [min, max] (widened to hold 0). `levels`: integers of the type, 256 for 8 bits.
  Range FindRange(const RangeOptions& options, int levels = 256) const;

 private:
  struct Cell {
    double low, high, count;
  };
  std::vector<Cell> Cells() const;  // non-empty ones, ascending; zeros are a cell of width 0
  void Cover(double low, double high);
  void Coarsen();

  int64_t count_ = 0;
  int64_t zeros_ = 0;  // exact zeros, kept apart: after Relu they are half of everything
  double min_ = 0, max_ = 0;
  int exponent_ = 0;   // a cell is 2^exponent_ wide
  int64_t first_ = 0;  // index of bins_[0]: it covers [first_, first_ + 1) * width
  std::vector<int64_t> bins_;
};

// Observers by the name of the value they watch.
class ObserverSet {
 public:
  Expected<void> Add(const std::string& name, std::span<const float> samples);
  void Merge(const ObserverSet& other);
  const std::map<std::string, Observer>& observers() const { return observers_; }

 private:
  std::map<std::string, Observer> observers_;
};

}  // namespace rlc

#endif  // RLC_QUANT_OBSERVER_H_
