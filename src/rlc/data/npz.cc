#include "rlc/data/npz.h"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/data/npy.h"

// Layout and names after PKWARE's APPNOTE.TXT 6.3.
namespace rlc {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kCentralHeader = 0x02014b50;
constexpr uint32_t kEndOfDirectory = 0x06054b50;
constexpr uint32_t kZip64EndOfDirectory = 0x06064b50;
constexpr uint32_t kZip64Locator = 0x07064b50;
constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::size_t kCentralHeaderSize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kZip64EndSize = 56;
constexpr std::size_t kZip64LocatorSize = 20;
constexpr uint16_t kZip64Extra = 1;
constexpr uint32_t kIn64Bits = 0xffffffff;  // "look into the zip64 field"
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kEncrypted = 1;
// Deflate cannot shrink by more than this (1032:1 by its format): a larger claim is a lie.
constexpr uint64_t kMaxDeflateRatio = 1040;
constexpr std::string_view kNpySuffix = ".npy";

// Little-endian number at an offset that the caller has checked.
template <typename T>
T Load(std::span<const std::byte> bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | (static_cast<T>(std::to_integer<unsigned>(bytes[offset + i])) << (8 * i)));
  }
  return value;
}

template <typename T>
void Append(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

bool Fits(std::span<const std::byte> bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

uint32_t Crc(std::span<const std::byte> bytes, uint32_t crc = 0) {
  // zlib takes 32-bit sizes.
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), 1U << 30));
    crc = static_cast<uint32_t>(
        crc32(crc, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size())));
    bytes = bytes.subspan(piece.size());
  }
  return crc;
}

// The raw deflate stream, at most `size` bytes of result. Empty optional: damaged, or not of this size.
std::optional<std::string> Inflate(std::span<const std::byte> bytes, uint64_t size) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  std::string result;
  uint64_t produced = 0;
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  while (true) {
    if (stream.avail_in == 0 && !bytes.empty()) {
      const auto piece = bytes.first(std::min(bytes.size(), kPiece));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
      stream.avail_in = static_cast<uInt>(piece.size());
      bytes = bytes.subspan(piece.size());
    }
    // Memory grows with what really comes, not with what the archive claims. One byte more, to see that it ends.
    const std::size_t room = static_cast<std::size_t>(std::min<uint64_t>(size - produced + 1, kPiece));
    if (result.capacity() < produced + room) result.reserve(std::min<uint64_t>(2 * (produced + room), size + 1));
    result.resize(static_cast<std::size_t>(produced) + room);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + produced);
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    produced += room - stream.avail_out;
    if (produced > size || (code != Z_OK && code != Z_STREAM_END)) return std::nullopt;
    if (code == Z_STREAM_END) break;
  }
  result.resize(static_cast<std::size_t>(produced));
  if (produced != size || stream.avail_in > 0 || !bytes.empty()) return std::nullopt;
  return result;
}

struct CentralFields {
  uint64_t stored_size;
  uint64_t size;
  uint64_t header_offset;
};

// Replaces the fields that are all ones by those of the zip64 extra field. False if it is missing or too short.
bool ReadZip64Extra(std::span<const std::byte> extra, CentralFields& fields) {
  const bool wanted = fields.size == kIn64Bits || fields.stored_size == kIn64Bits || fields.header_offset == kIn64Bits;
  while (wanted && extra.size() >= 4) {
    const auto id = Load<uint16_t>(extra, 0);
    const auto length = Load<uint16_t>(extra, 2);
    if (extra.size() - 4 < length) return false;
    std::span<const std::byte> body = extra.subspan(4, length);
    extra = extra.subspan(4 + length);
    if (id != kZip64Extra) continue;
    for (uint64_t* field : {&fields.size, &fields.stored_size, &fields.header_offset}) {
      if (*field != kIn64Bits) continue;
      if (body.size() < 8) return false;
      *field = Load<uint64_t>(body, 0);
      body = body.subspan(8);
    }
    return true;
  }
  return !wanted;
}

}  // namespace

Expected<NpzFile> NpzFile::Open(const std::string& path, const NpzLimits& limits) {
  RLC_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  return FromBytes(file->bytes(), file, path, limits);
}

Expected<NpzFile> NpzFile::FromBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                     std::string_view what, const NpzLimits& limits) {
  NpzFile file;
  file.what_ = what;
  file.bytes_ = bytes;
  file.owner_ = std::move(owner);
  file.limits_ = limits;
  RLC_ASSIGN_OR_RETURN(const Directory directory, file.FindDirectory());
  RLC_RETURN_IF_ERROR(file.ReadDirectory(directory));
  return file;
}

Expected<NpzFile::Directory> NpzFile::FindDirectory() const {
  // The end record is the last one, before a comment of at most 65535 bytes.
  const std::size_t lowest = bytes_.size() - std::min<std::size_t>(bytes_.size(), kEndSize + 65535);
  std::size_t end = bytes_.size() < kEndSize ? 0 : bytes_.size() - kEndSize + 1;
  bool found = false;
  while (!found && end > lowest) found = Load<uint32_t>(bytes_, --end) == kEndOfDirectory;
  if (!found) {
    return MakeError(ErrorKind::kInvalidInput, "{}: is no .npz file (no zip directory at its end), or is cut off",
                     what_);
  }
  Directory directory;
  directory.entries = Load<uint16_t>(bytes_, end + 10);
  directory.size = Load<uint32_t>(bytes_, end + 12);
  directory.offset = Load<uint32_t>(bytes_, end + 16);
  const bool several_parts = Load<uint16_t>(bytes_, end + 4) != 0 && Load<uint16_t>(bytes_, end + 4) != 0xffff;
  if (several_parts) return MakeError(ErrorKind::kInvalidInput, "{}: is one part of a split archive", what_);
  if (end >= kZip64LocatorSize && Load<uint32_t>(bytes_, end - kZip64LocatorSize) == kZip64Locator) {
    const auto record = Load<uint64_t>(bytes_, end - kZip64LocatorSize + 8);
    if (!Fits(bytes_, record, kZip64EndSize) ||
        Load<uint32_t>(bytes_, static_cast<std::size_t>(record)) != kZip64EndOfDirectory) {
      return MakeError(ErrorKind::kInvalidInput, "{}: its zip64 directory is damaged", what_);
    }
    const auto at = static_cast<std::size_t>(record);
    directory.entries = Load<uint64_t>(bytes_, at + 32);
    directory.size = Load<uint64_t>(bytes_, at + 40);
    directory.offset = Load<uint64_t>(bytes_, at + 48);
  }
  if (!Fits(bytes_, directory.offset, directory.size)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: its directory lies outside the file: cut off or damaged", what_);
  }
  if (directory.entries > limits_.max_entries) {
    return MakeError(ErrorKind::kInvalidInput, "{}: holds {} entries, at most {} are accepted", what_,
                     directory.entries, limits_.max_entries);
  }
  return directory;
}

Expected<void> NpzFile::ReadDirectory(const Directory& directory) {
  std::span<const std::byte> rest =
      bytes_.subspan(static_cast<std::size_t>(directory.offset), static_cast<std::size_t>(directory.size));
  std::set<std::string, std::less<>> seen;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    const Unexpected damaged =
        MakeError(ErrorKind::kInvalidInput, "{}: entry {} of its directory is damaged", what_, i);
    if (rest.size() < kCentralHeaderSize || Load<uint32_t>(rest, 0) != kCentralHeader) return damaged;
    const std::size_t name_size = Load<uint16_t>(rest, 28);
    const std::size_t extra_size = Load<uint16_t>(rest, 30);
    const std::size_t comment_size = Load<uint16_t>(rest, 32);
    if (rest.size() - kCentralHeaderSize < name_size + extra_size + comment_size) return damaged;
    CentralFields fields = {Load<uint32_t>(rest, 20), Load<uint32_t>(rest, 24), Load<uint32_t>(rest, 42)};
    if (!ReadZip64Extra(rest.subspan(kCentralHeaderSize + name_size, extra_size), fields)) return damaged;
    std::string name(reinterpret_cast<const char*>(rest.data()) + kCentralHeaderSize, name_size);
    const Entry entry = {.header_offset = fields.header_offset,
                         .stored_size = fields.stored_size,
                         .size = fields.size,
                         .crc = Load<uint32_t>(rest, 16),
                         .method = Load<uint16_t>(rest, 10),
                         .flags = Load<uint16_t>(rest, 8)};
    rest = rest.subspan(kCentralHeaderSize + name_size + extra_size + comment_size);
    if (!name.ends_with(kNpySuffix)) continue;
    name.resize(name.size() - kNpySuffix.size());
    if (!seen.insert(name).second) {
      return MakeError(ErrorKind::kInvalidInput, "{}: holds two arrays named '{}'", what_, name);
    }
    names_.push_back(std::move(name));
    entries_.push_back(entry);
  }
  return {};
}

bool NpzFile::Has(std::string_view name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

Expected<std::span<const std::byte>> NpzFile::StoredBytes(const Entry& entry, std::string_view name) const {
  const Unexpected damaged =
      MakeError(ErrorKind::kInvalidInput, "{}: array '{}' lies outside the file: cut off or damaged", what_, name);
  if (!Fits(bytes_, entry.header_offset, kLocalHeaderSize)) return damaged;
  const auto header = static_cast<std::size_t>(entry.header_offset);
  if (Load<uint32_t>(bytes_, header) != kLocalHeader) return damaged;
  const std::size_t start =
      header + kLocalHeaderSize + Load<uint16_t>(bytes_, header + 26) + Load<uint16_t>(bytes_, header + 28);
  if (!Fits(bytes_, start, entry.stored_size)) return damaged;
  return bytes_.subspan(start, static_cast<std::size_t>(entry.stored_size));
}

Expected<StoredArray> NpzFile::Get(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    return MakeError(ErrorKind::kInvalidInput, "{}: has no array '{}'; it has: {}", what_, name,
                     fmt::join(names_, ", "));
  }
  const Entry& entry = entries_[static_cast<std::size_t>(found - names_.begin())];
  const std::string what = fmt::format("{}: array '{}'", what_, name);
  if ((entry.flags & kEncrypted) != 0) return MakeError(ErrorKind::kInvalidInput, "{} is encrypted", what);
  RLC_ASSIGN_OR_RETURN(std::span<const std::byte> bytes, StoredBytes(entry, name));
  std::shared_ptr<const void> owner = owner_;
  if (entry.method == kDeflated) {
    if (entry.size > limits_.max_inflated_bytes) {
      return MakeError(ErrorKind::kInvalidInput, "{} has {} bytes when inflated, at most {} are accepted", what,
                       entry.size, limits_.max_inflated_bytes);
    }
    std::optional<std::string> inflated;
    if (entry.size / kMaxDeflateRatio <= entry.stored_size) inflated = Inflate(bytes, entry.size);
    if (!inflated) return MakeError(ErrorKind::kInvalidInput, "{} is damaged: it cannot be inflated", what);
    auto holder = std::make_shared<const std::string>(*std::move(inflated));
    bytes = std::as_bytes(std::span(holder->data(), holder->size()));
    owner = std::move(holder);
  } else if (entry.method != kStored) {
    return MakeError(ErrorKind::kInvalidInput, "{} is compressed by method {}; save it with numpy.savez", what,
                     entry.method);
  } else if (entry.stored_size != entry.size) {
    return MakeError(ErrorKind::kInvalidInput, "{} is damaged: its two sizes differ", what);
  }
  if (Crc(bytes) != entry.crc) {
    return MakeError(ErrorKind::kInvalidInput, "{} is damaged: its checksum does not match", what);
  }
  return ParseNpy(bytes, std::move(owner), what);
}

namespace {

struct WrittenEntry {
  std::string name;  // with ".npy"
  uint64_t offset;
  uint64_t size;
  uint32_t crc;
  bool large() const { return size >= kIn64Bits; }
};

constexpr uint16_t kVersion = 20;
constexpr uint16_t kZip64Version = 45;
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kFirstOfJanuary1980 = 0x21;  // the earliest date that zip knows: no time stamp

// What local and central header share, from the version needed to the length of the extra field.
void AppendCommon(std::string& bytes, const WrittenEntry& entry, uint16_t extra_size, bool zip64) {
  Append<uint16_t>(bytes, zip64 ? kZip64Version : kVersion);
  Append<uint16_t>(bytes, kUtf8Names);
  Append<uint16_t>(bytes, kStored);
  Append<uint16_t>(bytes, 0);
  Append<uint16_t>(bytes, kFirstOfJanuary1980);
  Append<uint32_t>(bytes, entry.crc);
  const uint32_t size = entry.large() ? kIn64Bits : static_cast<uint32_t>(entry.size);
  Append<uint32_t>(bytes, size);
  Append<uint32_t>(bytes, size);
  Append<uint16_t>(bytes, static_cast<uint16_t>(entry.name.size()));
  Append<uint16_t>(bytes, extra_size);
}

std::string LocalHeader(const WrittenEntry& entry) {
  std::string bytes;
  Append<uint32_t>(bytes, kLocalHeader);
  AppendCommon(bytes, entry, entry.large() ? 20 : 0, entry.large());
  bytes += entry.name;
  if (entry.large()) {
    Append<uint16_t>(bytes, kZip64Extra);
    Append<uint16_t>(bytes, 16);
    Append<uint64_t>(bytes, entry.size);
    Append<uint64_t>(bytes, entry.size);
  }
  return bytes;
}

std::string CentralHeader(const WrittenEntry& entry) {
  const bool far = entry.offset >= kIn64Bits;
  const bool zip64 = entry.large() || far;
  const auto body = static_cast<uint16_t>((entry.large() ? 16 : 0) + (far ? 8 : 0));
  std::string bytes;
  Append<uint32_t>(bytes, kCentralHeader);
  Append<uint16_t>(bytes, zip64 ? kZip64Version : kVersion);
  AppendCommon(bytes, entry, zip64 ? static_cast<uint16_t>(body + 4) : 0, zip64);
  Append<uint16_t>(bytes, 0);  // comment
  Append<uint16_t>(bytes, 0);  // part of the archive
  Append<uint16_t>(bytes, 0);  // attributes
  Append<uint32_t>(bytes, 0);
  Append<uint32_t>(bytes, far ? kIn64Bits : static_cast<uint32_t>(entry.offset));
  bytes += entry.name;
  if (zip64) {
    Append<uint16_t>(bytes, kZip64Extra);
    Append<uint16_t>(bytes, body);
    if (entry.large()) Append<uint64_t>(bytes, entry.size);
    if (entry.large()) Append<uint64_t>(bytes, entry.size);
    if (far) Append<uint64_t>(bytes, entry.offset);
  }
  return bytes;
}

std::string EndRecords(uint64_t entries, uint64_t offset, uint64_t size) {
  std::string bytes;
  const bool zip64 = entries >= 0xffff || offset >= kIn64Bits || size >= kIn64Bits;
  if (zip64) {
    Append<uint32_t>(bytes, kZip64EndOfDirectory);
    Append<uint64_t>(bytes, kZip64EndSize - 12);
    Append<uint16_t>(bytes, kZip64Version);
    Append<uint16_t>(bytes, kZip64Version);
    Append<uint32_t>(bytes, 0);
    Append<uint32_t>(bytes, 0);
    Append<uint64_t>(bytes, entries);
    Append<uint64_t>(bytes, entries);
    Append<uint64_t>(bytes, size);
    Append<uint64_t>(bytes, offset);
    Append<uint32_t>(bytes, kZip64Locator);
    Append<uint32_t>(bytes, 0);
    Append<uint64_t>(bytes, offset + size);
    Append<uint32_t>(bytes, 1);
  }
  const auto count = static_cast<uint16_t>(std::min<uint64_t>(entries, 0xffff));
  Append<uint32_t>(bytes, kEndOfDirectory);
  Append<uint16_t>(bytes, 0);
  Append<uint16_t>(bytes, 0);
  Append<uint16_t>(bytes, count);
  Append<uint16_t>(bytes, count);
  Append<uint32_t>(bytes, static_cast<uint32_t>(std::min<uint64_t>(size, kIn64Bits)));
  Append<uint32_t>(bytes, static_cast<uint32_t>(std::min<uint64_t>(offset, kIn64Bits)));
  Append<uint16_t>(bytes, 0);
  return bytes;
}

}  // namespace

Expected<void> WriteNpz(const std::string& path, std::span<const NamedArray> arrays) {
  RLC_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  std::set<std::string> names;
  std::string directory;
  for (const NamedArray& named : arrays) {
    if (named.name.empty() || !names.insert(named.name).second) {
      return MakeError(ErrorKind::kInvalidInput, "{}: cannot be written: two arrays are named '{}', or one has no name",
                       path, named.name);
    }
    if (named.name.size() > 65000) {
      return MakeError(ErrorKind::kUnavailable, "{}: cannot be written: an array's name is {} bytes long", path,
                       named.name.size());
    }
    const Array array = AsNpyType(named.array);
    const std::string header = NpyHeader(array.type(), array.shape());
    const uint32_t header_crc = Crc(std::as_bytes(std::span(header.data(), header.size())));
    const WrittenEntry entry = {.name = named.name + std::string(kNpySuffix),
                                .offset = file.bytes_written(),
                                .size = header.size() + array.bytes().size(),
                                .crc = Crc(array.bytes(), header_crc)};
    RLC_RETURN_IF_ERROR(file.Write(LocalHeader(entry)));
    RLC_RETURN_IF_ERROR(file.Write(header));
    RLC_RETURN_IF_ERROR(file.Write(array.bytes()));
    directory += CentralHeader(entry);
  }
  const uint64_t offset = file.bytes_written();
  RLC_RETURN_IF_ERROR(file.Write(directory));
  RLC_RETURN_IF_ERROR(file.Write(EndRecords(arrays.size(), offset, directory.size())));
  return file.Commit();
}

}  // namespace rlc
