#include "rlc/prune/importance.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace rlc {

Expected<void> ChannelEnergy::Add(const std::string& name, std::span<const float> samples,
                                  std::span<const int64_t> dims) {
  int64_t size = 1;
  for (const int64_t d : dims) size *= d;
  if (dims.size() < 2 || size != static_cast<int64_t>(samples.size())) {
    return MakeError(ErrorKind::kInvalidInput, "{}: {} samples in {} dimensions do not form [batch, channels, ...]",
                     name, samples.size(), dims.size());
  }
  const auto channels = static_cast<size_t>(dims[1]);
  const auto known = sums_.find(name);
  if (known != sums_.end() && known->second.size() != channels) {
    return MakeError(ErrorKind::kInvalidInput, "{}: {} channels, there were {} before", name, channels,
                     known->second.size());
  }
  std::vector<double> sums = known != sums_.end() ? known->second : std::vector<double>(channels, 0.0);
  if (samples.empty()) return {};
  const size_t inner = samples.size() / (static_cast<size_t>(dims[0]) * channels);
  for (size_t i = 0; i < samples.size(); ++i) sums[i / inner % channels] += std::fabs(static_cast<double>(samples[i]));
  for (const double sum : sums) {
    if (!std::isfinite(sum)) {
      return MakeError(ErrorKind::kInvalidInput, "{}: calibration samples are NaN or infinite; check the data", name);
    }
  }
  sums_[name] = std::move(sums);
  return {};
}

Expected<void> ChannelEnergy::Merge(const ChannelEnergy& other) {
  for (const auto& [name, sums] : other.sums_) {
    const auto known = sums_.find(name);
    if (known != sums_.end() && known->second.size() != sums.size()) {
      return MakeError(ErrorKind::kInvalidInput, "{}: {} channels, there were {} before", name, sums.size(),
                       known->second.size());
    }
  }
  for (const auto& [name, sums] : other.sums_) {
    std::vector<double>& mine = sums_[name];
    mine.resize(sums.size(), 0.0);
    for (size_t c = 0; c < sums.size(); ++c) mine[c] += sums[c];
  }
  return {};
}

const std::vector<double>* ChannelEnergy::Find(const std::string& name) const {
  const auto found = sums_.find(name);
  return found == sums_.end() ? nullptr : &found->second;
}

Expected<std::vector<double>> WeightL1(const Tensor& weight) {
  if (!IsFloat(weight.dtype()) || weight.rank() < 1) {
    return MakeError(ErrorKind::kInvalidInput, "the weight has type {} and {} dimensions, a float tensor is needed",
                     DTypeName(weight.dtype()), weight.rank());
  }
  RLC_ASSIGN_OR_RETURN(const std::vector<double> elements, weight.ToDoubles());
  const auto channels = static_cast<size_t>(weight.dims().front());
  std::vector<double> sums(channels, 0.0);
  const size_t inner = channels == 0 ? 0 : elements.size() / channels;
  for (size_t i = 0; i < elements.size(); ++i) sums[i / inner] += std::fabs(elements[i]);
  return sums;
}

std::vector<int64_t> KeepChannels(std::span<const double> importance, double sparsity, int64_t multiple_of) {
  RLC_CHECK(sparsity >= 0 && sparsity < 1 && multiple_of >= 1);
  const auto channels = static_cast<int64_t>(importance.size());
  // The small margin keeps (1 - 0.9) * 10 at 1, as it is meant.
  auto count = static_cast<int64_t>(std::ceil((1 - sparsity) * static_cast<double>(channels) - 1e-9));
  count = std::max<int64_t>(count, 1);
  count = std::min((count + multiple_of - 1) / multiple_of * multiple_of, channels);
  std::vector<int64_t> order(importance.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return importance[static_cast<size_t>(a)] > importance[static_cast<size_t>(b)];
  });
  order.resize(static_cast<size_t>(count));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace rlc
