#include "rlc/base/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/rng.h"

namespace rlc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool HasNan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

// Type 7 on values that may be reordered.
double QuantileInPlace(std::vector<double>& values, double probability) {
  const double position = probability * static_cast<double>(values.size() - 1);
  const auto lower = static_cast<std::ptrdiff_t>(std::floor(position));
  const double fraction = position - std::floor(position);
  const auto at = values.begin() + lower;
  std::nth_element(values.begin(), at, values.end());
  if (fraction == 0) return *at;
  const double next = *std::min_element(at + 1, values.end());
  return *at + fraction * (next - *at);
}

double MedianInPlace(std::vector<double>& values) { return QuantileInPlace(values, 0.5); }

// One figure computed from resampled rows, `resamples` times; the percentile interval of those figures.
template <typename Statistic>
Interval Bootstrap(const BootstrapOptions& options, Statistic statistic) {
  RLC_CHECK(options.resamples > 0 && options.confidence > 0 && options.confidence < 1);
  Rng rng(options.seed);
  std::vector<double> figures(static_cast<std::size_t>(options.resamples));
  for (double& figure : figures) figure = statistic(rng);
  const double tail = (1 - options.confidence) / 2;
  return {QuantileInPlace(figures, tail), QuantileInPlace(figures, 1 - tail)};
}

void Resample(std::span<const double> values, Rng& rng, std::vector<double>& sample) {
  sample.resize(values.size());
  for (double& drawn : sample) drawn = values[rng.UniformInt(values.size())];
}

void ResamplePairs(std::span<const double> a, std::span<const double> b, Rng& rng, std::vector<double>& sample_a,
                   std::vector<double>& sample_b) {
  sample_a.resize(a.size());
  sample_b.resize(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t row = rng.UniformInt(a.size());
    sample_a[i] = a[row];
    sample_b[i] = b[row];
  }
}

double TwoSidedZ(double confidence) {
  RLC_CHECK(confidence > 0 && confidence < 1);
  return NormalQuantile(0.5 + confidence / 2);
}

// Tango's score statistic for the hypothesis that the true difference is `delta`; falls as delta grows.
double TangoScore(double only_first, double only_second, double n, double delta) {
  const double a = 2 * n;
  const double b = -only_first - only_second + (2 * n - only_first + only_second) * delta;
  const double c = -only_second * delta * (1 - delta);
  const double q = (std::sqrt(std::max(0.0, b * b - 4 * a * c)) - b) / (2 * a);  // P(only second) under it
  const double variance = n * (2 * q + delta * (1 - delta));
  const double distance = only_first - only_second - n * delta;
  if (variance <= 0) return distance == 0 ? 0 : std::copysign(kInfinity, distance);
  return distance / std::sqrt(variance);
}

// The delta in [low, high] at which the falling score crosses `target`.
double TangoBound(double only_first, double only_second, double n, double target, double low, double high) {
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    if (TangoScore(only_first, only_second, n, middle) > target) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (low + high) / 2;
}

template <typename T>
double RelativeRmsOf(std::span<const T> reference, std::span<const T> actual, double floor) {
  RLC_CHECK_EQ(reference.size(), actual.size());
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double r = reference[i];
    const double a = actual[i];
    if (std::isfinite(r) && std::isfinite(a)) {
      error += (a - r) * (a - r);
      size += r * r;
    } else if (!(r == a || (std::isnan(r) && std::isnan(a)))) {
      return kInfinity;
    }
  }
  if (error == 0) return 0;
  size = std::max(size, floor * floor * static_cast<double>(reference.size()));
  return size == 0 ? kInfinity : std::sqrt(error / size);
}

template <std::size_t N>
double Polynomial(const std::array<double, N>& coefficients, double x) {  // highest power first
  double sum = 0;
  for (const double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

}  // namespace

double Mean(std::span<const double> values) {
  RLC_CHECK(!values.empty());
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double StandardDeviation(std::span<const double> values) {
  const double mean = Mean(values);
  if (values.size() == 1) return 0;
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double Quantile(std::span<const double> values, double probability) {
  RLC_CHECK(!values.empty());
  RLC_CHECK(probability >= 0 && probability <= 1);
  if (HasNan(values)) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> copy(values.begin(), values.end());
  return QuantileInPlace(copy, probability);
}

double Median(std::span<const double> values) { return Quantile(values, 0.5); }

double Mad(std::span<const double> values) {
  const double median = Median(values);
  if (std::isnan(median)) return median;
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - median));
  return 1.4826 * MedianInPlace(distances);
}

double GeometricMean(std::span<const double> values) {
  RLC_CHECK(!values.empty());
  double sum = 0;
  for (const double value : values) {
    RLC_CHECK(value > 0 || std::isnan(value));
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

double NormalQuantile(double probability) {
  RLC_CHECK(probability > 0 && probability < 1);
  // M. J. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988): one rational function for the middle and
  // two for the tails.
  static constexpr std::array<double, 8> kA = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
                                               45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
                                               133.14166789178437745, 3.387132872796366608};
  static constexpr std::array<double, 8> kB = {
      5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
  static constexpr std::array<double, 8> kC = {7.7454501427834140764e-4, .0227238449892691845833, .24178072517745061177,
                                               1.27045825245236838258,   3.64784832476320460504,  5.7694972214606914055,
                                               4.6303378461565452959,    1.42343711074968357734};
  static constexpr std::array<double, 8> kD = {
      1.05075007164441684324e-9, 5.475938084995344946e-4, .0151986665636164571966, .14810397642748007459,
      .68976733498510000455,     1.6763848301838038494,   2.05319162663775882187,  1.0};
  static constexpr std::array<double, 8> kE = {
      2.01033439929228813265e-7, 2.71155556874348757815e-5, .0012426609473880784386, .026532189526576123093,
      .29656057182850489123,     1.7848265399172913358,     5.4637849111641143699,   6.6579046435011037772};
  static constexpr std::array<double, 8> kF = {
      2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
      .0148753612908506148525,    .13692988092273580531,    .59983220655588793769,    1.0};
  const double q = probability - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * Polynomial(kA, r) / Polynomial(kB, r);
  }
  const double r = std::sqrt(-std::log(q < 0 ? probability : 1 - probability));
  const double size =
      r <= 5 ? Polynomial(kC, r - 1.6) / Polynomial(kD, r - 1.6) : Polynomial(kE, r - 5) / Polynomial(kF, r - 5);
  return q < 0 ? -size : size;
}

Estimate MedianEstimate(std::span<const double> values, std::string unit, const BootstrapOptions& options) {
  const double median = Median(values);
  if (std::isnan(median)) return {median, -kInfinity, kInfinity, values.size(), std::move(unit)};
  std::vector<double> sample;
  const Interval interval = Bootstrap(options, [&](Rng& rng) {
    Resample(values, rng, sample);
    return MedianInPlace(sample);
  });
  return {median, interval.low, interval.high, values.size(), std::move(unit)};
}

Estimate RatioOfMedians(std::span<const double> numerator, std::span<const double> denominator,
                        const BootstrapOptions& options) {
  if (options.paired) RLC_CHECK_EQ(numerator.size(), denominator.size());
  const std::size_t samples = std::min(numerator.size(), denominator.size());
  const double ratio = Median(numerator) / Median(denominator);
  if (std::isnan(ratio)) return {ratio, 0, kInfinity, samples, "x"};
  std::vector<double> above;
  std::vector<double> below;
  const Interval interval = Bootstrap(options, [&](Rng& rng) {
    if (options.paired) {
      ResamplePairs(numerator, denominator, rng, above, below);
    } else {
      Resample(numerator, rng, above);
      Resample(denominator, rng, below);
    }
    return MedianInPlace(above) / MedianInPlace(below);
  });
  return {ratio, interval.low, interval.high, samples, "x"};
}

Interval WilsonInterval(std::size_t successes, std::size_t samples, double confidence) {
  RLC_CHECK(samples > 0 && successes <= samples);
  const double n = static_cast<double>(samples);
  const double p = static_cast<double>(successes) / n;
  const double z = TwoSidedZ(confidence);
  const double scale = 1 / (1 + z * z / n);
  const double centre = scale * (p + z * z / (2 * n));
  const double half = scale * z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // At the ends the formula gives 0 and 1 exactly; rounding must not move them.
  return {successes == 0 ? 0 : std::max(0.0, centre - half), successes == samples ? 1 : std::min(1.0, centre + half)};
}

Estimate PairedProportionDifference(std::size_t only_first, std::size_t only_second, std::size_t samples,
                                    double confidence) {
  RLC_CHECK(samples > 0 && only_first <= samples && only_second <= samples - only_first);
  const auto first = static_cast<double>(only_first);
  const auto second = static_cast<double>(only_second);
  const auto n = static_cast<double>(samples);
  const double z = TwoSidedZ(confidence);
  const double difference = (first - second) / n;
  const double low = TangoBound(first, second, n, z, -1, difference);
  const double high = TangoBound(first, second, n, -z, difference, 1);
  return {difference, low, high, samples, "points"};
}

double McNemarExact(std::size_t only_first, std::size_t only_second) {
  const std::size_t n = only_first + only_second;
  const std::size_t smaller = std::min(only_first, only_second);
  // Sum of binomial(n, k) / 2^n for k <= smaller, in logarithms: 2^-n underflows from n = 1075 on.
  double tail = 0;
  double log_term = -static_cast<double>(n) * std::log(2.0);
  for (std::size_t k = 0; k <= smaller; ++k) {
    tail += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1));
  }
  return std::min(1.0, 2 * tail);
}

Estimate PairedDifference(std::span<const double> first, std::span<const double> second,
                          const BootstrapOptions& options) {
  RLC_CHECK_EQ(first.size(), second.size());
  RLC_CHECK(!first.empty());
  const auto is_binary = [](double score) { return score == 0 || score == 1; };
  std::size_t only_first = 0;
  std::size_t only_second = 0;
  bool binary = true;
  std::vector<double> differences(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    differences[i] = first[i] == second[i] ? 0 : first[i] - second[i];  // equal infinities differ by nothing
    binary = binary && is_binary(first[i]) && is_binary(second[i]);
    only_first += differences[i] > 0 ? 1 : 0;
    only_second += differences[i] < 0 ? 1 : 0;
  }
  if (binary) return PairedProportionDifference(only_first, only_second, first.size(), options.confidence);
  const double mean = Mean(differences);
  if (!std::isfinite(mean)) return {mean, -kInfinity, kInfinity, first.size(), "points"};
  const Interval interval = Bootstrap(options, [&](Rng& rng) {
    double sum = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) sum += differences[rng.UniformInt(differences.size())];
    return sum / static_cast<double>(differences.size());
  });
  return {mean, interval.low, interval.high, first.size(), "points"};
}

double KendallTau(std::span<const double> a, std::span<const double> b) {
  RLC_CHECK_EQ(a.size(), b.size());
  double score = 0;
  double untied_a = 0;
  double untied_b = 0;
  const auto sign = [](double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; };
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const int sign_a = sign(a[i] - a[j]);
      const int sign_b = sign(b[i] - b[j]);
      score += sign_a * sign_b;
      untied_a += sign_a != 0;
      untied_b += sign_b != 0;
    }
  }
  if (untied_a == 0 || untied_b == 0) return 0;
  return score / std::sqrt(untied_a * untied_b);
}

double RelativeRms(std::span<const float> reference, std::span<const float> actual, double floor) {
  return RelativeRmsOf(reference, actual, floor);
}

double RelativeRms(std::span<const double> reference, std::span<const double> actual, double floor) {
  return RelativeRmsOf(reference, actual, floor);
}

}  // namespace rlc
