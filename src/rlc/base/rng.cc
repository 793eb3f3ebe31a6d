#include "rlc/base/rng.h"

#include <bit>

#include "rlc/base/error.h"
#include "rlc/base/statistics.h"

namespace rlc {
namespace {

uint64_t SplitMix64(uint64_t& x) {
  x += 0x9e3779b97f4a7c15U;
  uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix64(seed);
}

Rng Rng::FromState(const State& state) {
  Rng rng(0);
  if (state != State{}) rng.state_ = state;
  return rng;
}

uint64_t Rng::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Rng::UniformInt(uint64_t bound) {
  RLC_CHECK(bound > 0);
  // The 2^64 mod bound smallest draws would make some results likelier than others: they are drawn again.
  const uint64_t unfair = (0 - bound) % bound;
  uint64_t draw = Next();
  while (draw < unfair) draw = Next();
  return draw % bound;
}

int64_t Rng::UniformRange(int64_t low, int64_t high) {
  RLC_CHECK(low <= high);
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;  // 0: all of int64
  const uint64_t offset = span == 0 ? Next() : UniformInt(span);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

double Rng::UniformReal() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

double Rng::UniformReal(double low, double high) { return low + (high - low) * UniformReal(); }

double Rng::Normal(double mean, double deviation) {
  // By inversion: one draw per value and no state beside the generator's. The half step keeps 0 and 1 out.
  const double probability = (static_cast<double>(Next() >> 12) + 0.5) * 0x1.0p-52;
  return mean + deviation * NormalQuantile(probability);
}

Rng Rng::Fork(uint64_t stream) const {
  uint64_t mix = stream;
  uint64_t seed = SplitMix64(mix);
  for (const uint64_t word : state_) {
    seed ^= word;
    seed = SplitMix64(seed);
  }
  return Rng(seed);
}

}  // namespace rlc
