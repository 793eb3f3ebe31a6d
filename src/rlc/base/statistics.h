// Robust statistics of measurements. Spans must not be empty unless said otherwise; NaN in, NaN out (or the widest
// interval). All resampling is seeded.
#ifndef RLC_BASE_STATISTICS_H_
#define RLC_BASE_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rlc {

struct Interval {
  double low = 0;
  double high = 0;
  bool Contains(double value) const { return low <= value && value <= high; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// A figure with its uncertainty, sample count and unit ("s", "x", "points", "B", "J").
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
  std::size_t samples = 0;
  std::string unit = {};
  Interval interval() const { return {low, high}; }
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

double Mean(std::span<const double> values);
double StandardDeviation(std::span<const double> values);  // n - 1; 0 for one value
double Median(std::span<const double> values);
// Median absolute deviation from the median, times 1.4826 (so that it estimates the deviation of a normal).
double Mad(std::span<const double> values);
// Linear interpolation between order statistics (type 7, numpy's default); probability in [0, 1].
double Quantile(std::span<const double> values, double probability);
double GeometricMean(std::span<const double> values);  // all > 0

// Quantile of the standard normal, probability in (0, 1); Wichura's AS 241, relative error about 1e-16.
double NormalQuantile(double probability);

struct BootstrapOptions {
  double confidence = 0.95;
  int resamples = 2000;
  uint64_t seed = 0;
  // Draw the same rows from both samples (interleaved measurements share drift). Needs equal sizes.
  bool paired = false;
};

// Percentile bootstrap interval of the median.
Estimate MedianEstimate(std::span<const double> values, std::string unit, const BootstrapOptions& options = {});

// Median(numerator) / Median(denominator) with its percentile bootstrap interval, unit "x". All values > 0.
// With baseline times over candidate times it is the speed-up.
Estimate RatioOfMedians(std::span<const double> numerator, std::span<const double> denominator,
                        const BootstrapOptions& options = {});

// Wilson score interval of a proportion; samples > 0.
Interval WilsonInterval(std::size_t successes, std::size_t samples, double confidence = 0.95);

// Difference of two proportions measured on the same `samples` rows, (only_first - only_second) / samples, where
// only_first counts the rows right only under the first. Tango's score interval (1998): honest when both counts are 0.
// Unit "points" (0.01 = one point).
Estimate PairedProportionDifference(std::size_t only_first, std::size_t only_second, std::size_t samples,
                                    double confidence = 0.95);

// Two-sided exact McNemar test (binomial): the chance of a split at least as uneven as this if nothing changed.
double McNemarExact(std::size_t only_first, std::size_t only_second);

// Mean(first - second) over the same rows. Scores that are all 0 or 1: PairedProportionDifference; others: bootstrap.
Estimate PairedDifference(std::span<const double> first, std::span<const double> second,
                          const BootstrapOptions& options = {});

// Kendall's tau-b (corrected for ties); 0 when one side is constant. Equal sizes; O(n^2).
double KendallTau(std::span<const double> a, std::span<const double> b);

// rms(actual - reference) / max(rms(reference), floor). 0 if equal (also when both are 0 or NaN at the same places);
// infinity if the divisor is 0 and the values differ, or if one has a NaN or infinity where the other differs. Equal
// sizes; 0 for empty spans.
double RelativeRms(std::span<const float> reference, std::span<const float> actual, double floor = 0);
double RelativeRms(std::span<const double> reference, std::span<const double> actual, double floor = 0);

}  // namespace rlc

#endif  // RLC_BASE_STATISTICS_H_
