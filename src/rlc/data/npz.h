// numpy's .npz files: zip archives of .npy files, stored or deflated, zip64 too.
//
// Stored arrays are used from the mapped file. Deflated ones are inflated on Get(), within the limit. The checksum of
// each array is checked on Get(). Refused: encrypted archives, other compressions, archives in several parts.
#ifndef RLC_DATA_NPZ_H_
#define RLC_DATA_NPZ_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/data/array.h"

namespace rlc {

struct NpzLimits {
  std::size_t max_entries = 65536;
  uint64_t max_inflated_bytes = uint64_t{4} << 30;  // per array
};

class NpzFile {
 public:
  // Reads the directory only.
  static Expected<NpzFile> Open(const std::string& path, const NpzLimits& limits = {});
  // The same on bytes that `owner` keeps alive; `what` names them in errors.
  static Expected<NpzFile> FromBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                     std::string_view what, const NpzLimits& limits = {});

  // In the order of the archive, without ".npy"; entries that are not .npy are left out.
  const std::vector<std::string>& names() const { return names_; }
  bool Has(std::string_view name) const;
  // Error: no such array (lists those that there are), a damaged entry, or what ParseNpy refuses.
  Expected<StoredArray> Get(std::string_view name) const;

 private:
  struct Entry {
    uint64_t header_offset = 0;  // of the local header
    uint64_t stored_size = 0;
    uint64_t size = 0;
    uint32_t crc = 0;
    uint16_t method = 0;
    uint16_t flags = 0;
  };
  struct Directory {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t entries = 0;
  };

  Expected<Directory> FindDirectory() const;
  Expected<void> ReadDirectory(const Directory& directory);
  Expected<std::span<const std::byte>> StoredBytes(const Entry& entry, std::string_view name) const;

  std::string what_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  NpzLimits limits_;
  std::vector<std::string> names_;
  std::vector<Entry> entries_;  // one per name
};

// Stored, no time stamps: equal arrays give equal bytes. zip64 where sizes need it. Error: a name is empty or used
// twice.
Expected<void> WriteNpz(const std::string& path, std::span<const NamedArray> arrays);

}  // namespace rlc

#endif  // RLC_DATA_NPZ_H_
