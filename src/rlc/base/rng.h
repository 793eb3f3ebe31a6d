// A small seedable random number generator, as a value.
//
// Facts: xoshiro256** (Blackman, Vigna), seeded through splitmix64. Copying copies the stream; equal states give equal
// streams. No std distribution is used, so integers and uniform reals have the same bits on every platform; Normal()
// agrees up to the last bits of std::log and std::sqrt.
#ifndef RLC_BASE_RNG_H_
#define RLC_BASE_RNG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rlc {

class Rng {
 public:
  using State = std::array<uint64_t, 4>;

  explicit Rng(uint64_t seed);
  // Resumes a stream from what state() gave. The state of all zeros, from which the generator cannot leave, is
  // replaced by the one of seed 0.
  static Rng FromState(const State& state);
  const State& state() const { return state_; }

  // 64 uniform bits.
  uint64_t Next();
  // Uniform in [0, bound) without bias; bound > 0.
  uint64_t UniformInt(uint64_t bound);
  // Uniform in [low, high], both ends included; low <= high.
  int64_t UniformRange(int64_t low, int64_t high);
  // Uniform in [0, 1), a multiple of 2^-53.
  double UniformReal();
  // Uniform in [low, high).
  double UniformReal(double low, double high);
  // Normal with the given mean and standard deviation; uses exactly one Next().
  double Normal(double mean = 0.0, double deviation = 1.0);
  // True with the given probability.
  bool Bernoulli(double probability) { return UniformReal() < probability; }

  // Fisher-Yates. Range: anything with size() and operator[] (vector, span, array).
  template <typename Range>
  void Shuffle(Range& range) {
    for (std::size_t i = range.size(); i > 1; --i) {
      using std::swap;
      swap(range[i - 1], range[static_cast<std::size_t>(UniformInt(i))]);
    }
  }

  // An independent generator for sub-stream `stream` (worker, layer, episode ...). Does not advance this one; the same
  // state and stream give the same generator.
  Rng Fork(uint64_t stream) const;

  friend bool operator==(const Rng&, const Rng&) = default;

 private:
  State state_;
};

}  // namespace rlc

#endif  // RLC_BASE_RNG_H_
