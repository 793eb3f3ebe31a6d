#include "rlc/train/wire.h"

#include <bit>

namespace rlc {
namespace {

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7F) | 0x80));
  out.push_back(static_cast<char>(value));
}

void AppendTag(std::string& out, int field, WireType type) {
  AppendVarint(out, static_cast<uint64_t>(field << 3 | static_cast<int>(type)));
}

}  // namespace

void AppendFixed(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xFF));
}

void AppendInt(std::string& out, int field, int64_t value) {
  AppendTag(out, field, WireType::kVarint);
  AppendVarint(out, static_cast<uint64_t>(value));
}

void AppendFloat(std::string& out, int field, float value) {
  AppendTag(out, field, WireType::kFixed32);
  AppendFixed(out, std::bit_cast<uint32_t>(value), 4);
}

void AppendDouble(std::string& out, int field, double value) {
  AppendTag(out, field, WireType::kFixed64);
  AppendFixed(out, std::bit_cast<uint64_t>(value), 8);
}

void AppendBytes(std::string& out, int field, std::string_view bytes) {
  AppendTag(out, field, WireType::kBytes);
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

}  // namespace rlc
