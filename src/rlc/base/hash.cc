#include "rlc/base/hash.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <bit>
#include <cstring>

#include "rlc/base/error.h"

namespace rlc {
namespace {

std::string ToHex(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string ContentHash(std::span<const std::byte> bytes) { return ToHex(XXH3_128bits(bytes.data(), bytes.size())); }

std::string ContentHash(std::string_view text) { return ToHex(XXH3_128bits(text.data(), text.size())); }

uint64_t Hash64(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

uint64_t HashCombine(uint64_t seed, uint64_t value) {
  // Multiply-and-fold with two odd constants; the rotation makes the order matter.
  const uint64_t a = std::rotl(seed, 29) ^ 0x9e3779b97f4a7c15U;
  const uint64_t b = value ^ 0xd6e8feb86659fd93U;
  uint64_t x = a * 0xbf58476d1ce4e5b9U + b;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93U;
  x ^= x >> 29;
  x *= 0x94d049bb133111ebU;
  return x ^ (x >> 32);
}

struct Hasher::Impl {
  // Aligned to 64 bytes by its own type; plain operator new honours that since C++17.
  XXH3_state_t state;
};

Hasher::Hasher() : impl_(std::make_unique<Impl>()) { XXH3_128bits_reset(&impl_->state); }
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::Add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(&impl_->state, bytes.data(), bytes.size());
  return *this;
}

Hasher& Hasher::Add(std::string_view bytes) { return Add(std::as_bytes(std::span(bytes.data(), bytes.size()))); }

Hasher& Hasher::AddText(std::string_view text) { return AddInt(text.size()).Add(text); }

Hasher& Hasher::AddInt(uint64_t value) {
  std::array<std::byte, 8> bytes;
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(value & 0xff);
    value >>= 8;
  }
  return Add(std::span<const std::byte>(bytes));
}

Hasher& Hasher::AddDouble(double value) { return AddInt(std::bit_cast<uint64_t>(value == 0 ? 0.0 : value)); }

std::string Hasher::Hex() const { return ToHex(XXH3_128bits_digest(&impl_->state)); }

uint64_t Hasher::Low64() const { return XXH3_128bits_digest(&impl_->state).low64; }

}  // namespace rlc
