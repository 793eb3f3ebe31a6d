#include "rlc/train/event_file.h"

#include <array>

#include "rlc/base/file.h"
#include "rlc/train/wire.h"

namespace rlc {
namespace {

constexpr uint32_t kCastagnoli = 0x82F63B78;  // reflected polynomial

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kCastagnoli : 0);
    table[i] = value;
  }
  return table;
}

// As TFRecord wants it: stored checksums are rotated, so that a checksum of data with checksums in it stays sound.
uint32_t MaskedCrc(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

std::string StartEvent(double wall_time) {
  std::string event;
  AppendDouble(event, 1, wall_time);
  return event;
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeTable();
  uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xFF];
  return crc ^ 0xFFFFFFFF;
}

EventFile::EventFile(double wall_time) {
  std::string event = StartEvent(wall_time);
  AppendBytes(event, 3, "brain.Event:2");
  AddRecord(event);
}

void EventFile::Add(double wall_time, int64_t step, const std::vector<std::pair<std::string, float>>& scalars) {
  std::string summary;
  for (const auto& [tag, number] : scalars) {
    std::string value;
    AppendBytes(value, 1, tag);
    AppendFloat(value, 2, number);
    AppendBytes(summary, 1, value);
  }
  std::string event = StartEvent(wall_time);
  AppendInt(event, 2, step);
  AppendBytes(event, 5, summary);
  AddRecord(event);
}

void EventFile::AddRecord(std::string_view payload) {
  std::string length;
  AppendFixed(length, payload.size(), 8);
  bytes_ += length;
  AppendFixed(bytes_, MaskedCrc(length), 4);
  bytes_ += payload;
  AppendFixed(bytes_, MaskedCrc(payload), 4);
}

Expected<void> EventFile::WriteTo(const std::string& path) const { return WriteFileAtomically(path, bytes_); }

}  // namespace rlc
