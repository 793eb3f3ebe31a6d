// Importance of channels: which ones go first.
#ifndef RLC_PRUNE_IMPORTANCE_H_
#define RLC_PRUNE_IMPORTANCE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/tensor.h"

namespace rlc {

// Activation energy: sum of |x| for each channel (axis 1) of each watched value, over all calibration samples.
class ChannelEnergy {
 public:
  // `dims` is [batch, channels, ...]. Error: fewer than two dims, a size that does not fit, another channel count than
  // before, NaN or infinity; names the value. The sums are then unchanged.
  Expected<void> Add(const std::string& name, std::span<const float> samples, std::span<const int64_t> dims);
  Expected<void> Merge(const ChannelEnergy& other);
  // Null when the value was not watched.
  const std::vector<double>* Find(const std::string& name) const;
  const std::map<std::string, std::vector<double>>& sums() const { return sums_; }

 private:
  std::map<std::string, std::vector<double>> sums_;
};

// Sum of |w| for each entry of axis 0: the fallback without data. Error: not a float tensor of rank >= 1.
Expected<std::vector<double>> WeightL1(const Tensor& weight);

// Indices of the channels to keep, ascending: the most important ones, ties to the lower index. How many: at least
// (1 - sparsity) of them, at least one, rounded up to `multiple_of` (never beyond all). Precondition, checked: sparsity
// in [0, 1), multiple_of >= 1.
std::vector<int64_t> KeepChannels(std::span<const double> importance, double sparsity, int64_t multiple_of);

}  // namespace rlc

#endif  // RLC_PRUNE_IMPORTANCE_H_
