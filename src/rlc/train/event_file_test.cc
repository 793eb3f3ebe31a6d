#include "rlc/train/event_file.h"

#include <bit>

#include "rlc/base/file.h"
#include "rlc/testing/expected.h"

namespace rlc {
namespace {

TEST(EventFile, ChecksumsAsInTheStandard) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
}

uint64_t Fixed(std::string_view bytes, size_t at, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= uint64_t{static_cast<uint8_t>(bytes[at + static_cast<size_t>(i)])} << (8 * i);
  return value;
}

uint32_t Unmasked(uint64_t stored) {
  const uint32_t rotated = static_cast<uint32_t>(stored) - 0xA282EAD8U;
  return (rotated >> 17) | (rotated << 15);
}

// The payloads of all records, their checksums checked.
std::vector<std::string> Records(std::string_view bytes) {
  std::vector<std::string> records;
  while (!bytes.empty()) {
    const uint64_t size = Fixed(bytes, 0, 8);
    EXPECT_EQ(Unmasked(Fixed(bytes, 8, 4)), Crc32c(bytes.substr(0, 8)));
    records.emplace_back(bytes.substr(12, size));
    EXPECT_EQ(Unmasked(Fixed(bytes, 12 + size, 4)), Crc32c(records.back()));
    bytes.remove_prefix(12 + size + 4);
  }
  return records;
}

TEST(EventFile, StartsWithTheVersionAndKeepsScalars) {
  EventFile events(1.5);
  events.Add(2.5, 300, {{"rollout/mean_gain", 0.25F}, {"x", -1.0F}});
  const std::vector<std::string> records = Records(events.bytes());
  ASSERT_EQ(records.size(), 2U);
  // wall_time 1.5 (tag 9), file_version (tag 0x1a).
  EXPECT_EQ(std::bit_cast<double>(Fixed(records[0], 1, 8)), 1.5);
  EXPECT_EQ(records[0].substr(9), std::string("\x1a\x0d") + "brain.Event:2");
  // step 300 as varint; summary with two values.
  std::string want = std::string("\x10\xac\x02\x2a\x24\x0a\x18\x0a\x11") + "rollout/mean_gain" + '\x15' +
                     std::string("\x00\x00\x80\x3e", 4) + std::string("\x0a\x08\x0a\x01x\x15", 6) +
                     std::string("\x00\x00\x80\xbf", 4);
  EXPECT_EQ(records[1].substr(9), want);
}

TEST(EventFile, WritesWhatItHolds) {
  const auto folder = TempDir::Create("event-file-test");
  ASSERT_THAT(folder, IsOk());
  EventFile events(0);
  const std::string path = JoinPath(folder->path(), "events");
  ASSERT_THAT(events.WriteTo(path), IsOk());
  EXPECT_THAT(ReadFile(path), IsOkAndHolds(events.bytes()));
  EXPECT_THAT(events.WriteTo("/proc/none/events"), IsError(::testing::HasSubstr("/proc/none")));
}

}  // namespace
}  // namespace rlc
