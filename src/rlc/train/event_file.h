// TensorBoard event files, scalars only.
//
// A file is a sequence of records: length (8 bytes), masked CRC-32C of it, payload, masked CRC-32C of that. The payload
// is an Event message (tensorflow/core/util/event.proto): wall_time 1 (double), step 2 (varint), file_version 3
// (string), summary 5 with values of tag 1 and simple_value 2.
#ifndef RLC_TRAIN_EVENT_FILE_H_
#define RLC_TRAIN_EVENT_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rlc/base/error.h"

namespace rlc {

// Collects events in memory; WriteTo writes the whole file anew (curves are short), so it is always complete.
class EventFile {
 public:
  explicit EventFile(double wall_time);
  void Add(double wall_time, int64_t step, const std::vector<std::pair<std::string, float>>& scalars);
  Expected<void> WriteTo(const std::string& path) const;
  const std::string& bytes() const { return bytes_; }

 private:
  void AddRecord(std::string_view payload);
  std::string bytes_;
};

// CRC-32C (Castagnoli), as in RFC 3720.
uint32_t Crc32c(std::string_view bytes);

}  // namespace rlc

#endif  // RLC_TRAIN_EVENT_FILE_H_
