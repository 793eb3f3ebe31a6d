// Content hashes (XXH3, 128 bits) for arrays, models and plans.
//
// Not cryptographic: equal hashes mean equal contents unless somebody built a collision on purpose, so a hash names
// cached things and finds mix-ups; it does not prove who wrote a file. The same bytes give the same hash on every
// platform and in every version of rlc.
#ifndef RLC_BASE_HASH_H_
#define RLC_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace rlc {

// 32 lower-case hex digits.
std::string ContentHash(std::span<const std::byte> bytes);
std::string ContentHash(std::string_view text);

// 64-bit hash of a text, for tables and for combining.
uint64_t Hash64(std::string_view text);

// Mixes `value` into `seed`; the order matters: HashCombine(HashCombine(s, a), b) differs from (s, b), (a).
uint64_t HashCombine(uint64_t seed, uint64_t value);

// The same hash as ContentHash over everything that was added, in order.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  Hasher& Add(std::span<const std::byte> bytes);
  // The bytes of the text only: use AddText to keep ("ab", "c") and ("a", "bc") apart.
  Hasher& Add(std::string_view bytes);
  // Length, then bytes.
  Hasher& AddText(std::string_view text);
  // Little-endian, 8 bytes.
  Hasher& AddInt(uint64_t value);
  // The bits of the value; -0.0 counts as 0.0.
  Hasher& AddDouble(double value);

  std::string Hex() const;  // 32 hex digits; more can be added afterwards
  uint64_t Low64() const;   // the low half of the same hash

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlc

#endif  // RLC_BASE_HASH_H_
