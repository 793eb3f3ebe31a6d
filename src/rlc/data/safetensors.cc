#include "rlc/data/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/base/json.h"

namespace rlc {
namespace {

constexpr std::size_t kSizeBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as the format's own reader
constexpr std::size_t kAlignment = 64;             // of the data in files that we write
constexpr std::string_view kMetadata = "__metadata__";

constexpr std::array<std::pair<std::string_view, ElementType>, 13> kTypes = {{{"F16", ElementType::kFloat16},
                                                                              {"BF16", ElementType::kBFloat16},
                                                                              {"F32", ElementType::kFloat32},
                                                                              {"F64", ElementType::kFloat64},
                                                                              {"I8", ElementType::kInt8},
                                                                              {"I16", ElementType::kInt16},
                                                                              {"I32", ElementType::kInt32},
                                                                              {"I64", ElementType::kInt64},
                                                                              {"U8", ElementType::kUint8},
                                                                              {"U16", ElementType::kUint16},
                                                                              {"U32", ElementType::kUint32},
                                                                              {"U64", ElementType::kUint64},
                                                                              {"BOOL", ElementType::kBool}}};

struct Range {
  uint64_t begin;
  uint64_t end;
};

struct Entry {
  ElementType type;
  std::vector<int64_t> shape;
  Range range;
};

Expected<Entry> ParseEntry(const Json& json, uint64_t data_bytes) {
  RLC_ASSIGN_OR_RETURN(const std::string dtype, GetString(json, "dtype"));
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> shape, GetInts(json, "shape"));
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets, GetInts(json, "data_offsets"));
  const auto* const type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& row) { return row.first == dtype; });
  if (type == kTypes.end()) {
    return MakeError(ErrorKind::kInvalidInput, "its type {} is not supported", dtype);
  }
  if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0] ||
      static_cast<uint64_t>(offsets[1]) > data_bytes) {
    return MakeError(ErrorKind::kInvalidInput, "its data_offsets lie outside the {} bytes of data", data_bytes);
  }
  const std::optional<int64_t> count = ElementCount(shape);
  const auto bytes = static_cast<uint64_t>(offsets[1] - offsets[0]);
  if (!count || static_cast<uint64_t>(*count) * ElementSize(type->second) != bytes) {
    return MakeError(ErrorKind::kInvalidInput, "it has {} bytes of data, which do not fit shape [{}] of {}", bytes,
                     fmt::join(shape, ","), dtype);
  }
  return Entry{type->second, std::move(shape), {static_cast<uint64_t>(offsets[0]), static_cast<uint64_t>(offsets[1])}};
}

Expected<void> ParseMetadata(const Json& json, std::map<std::string, std::string>& metadata) {
  if (!json.is_object()) return MakeError(ErrorKind::kInvalidInput, "__metadata__ is no object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return MakeError(ErrorKind::kInvalidInput, "__metadata__ '{}' is no string", key);
    metadata[key] = value.get<std::string>();
  }
  return {};
}

// Every byte of the data belongs to exactly one array.
bool CoverWithoutGaps(std::vector<Range> ranges, uint64_t data_bytes) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  uint64_t at = 0;
  for (const Range& range : ranges) {
    if (range.begin != at) return false;
    at = range.end;
  }
  return at == data_bytes;
}

std::string HeaderFor(std::span<const NamedArray* const> sorted, const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  uint64_t offset = 0;
  for (const NamedArray* named : sorted) {
    const Array& array = named->array;
    const auto* const type =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& row) { return row.second == array.type(); });
    header[named->name] = {
        {"dtype", type->first}, {"shape", array.shape()}, {"data_offsets", {offset, offset + array.bytes().size()}}};
    offset += array.bytes().size();
  }
  std::string text = DumpJson(header, -1);
  text.append((kAlignment - (kSizeBytes + text.size()) % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

Expected<Safetensors> ParseSafetensors(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                                       std::string_view what) {
  if (bytes.size() < kSizeBytes) {
    return MakeError(ErrorKind::kInvalidInput, "{}: is no safetensors file: only {} bytes long", what, bytes.size());
  }
  uint64_t header_bytes = 0;
  for (std::size_t i = kSizeBytes; i-- > 0;) header_bytes = header_bytes << 8 | std::to_integer<uint64_t>(bytes[i]);
  if (header_bytes > kMaxHeaderBytes || header_bytes > bytes.size() - kSizeBytes) {
    return MakeError(ErrorKind::kInvalidInput,
                     "{}: is no safetensors file, or is cut off: it announces a header of {} bytes", what,
                     header_bytes);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kSizeBytes,
                              static_cast<std::size_t>(header_bytes));
  RLC_ASSIGN_OR_RETURN(const Json header, ParseJson(text, fmt::format("{}: header", what), {.max_depth = 4}));
  if (!header.is_object()) return MakeError(ErrorKind::kInvalidInput, "{}: its header is no JSON object", what);
  const std::span<const std::byte> data = bytes.subspan(kSizeBytes + static_cast<std::size_t>(header_bytes));
  Safetensors result;
  std::vector<Range> ranges;
  for (const auto& [name, json] : header.items()) {
    if (name == kMetadata) {
      if (auto status = ParseMetadata(json, result.metadata); !status) return WithContext(status.error(), what);
      continue;
    }
    const std::string place = fmt::format("{}: array '{}'", what, name);
    auto entry = ParseEntry(json, data.size());
    if (!entry) return WithContext(std::move(entry).error(), place);
    const auto view = data.subspan(static_cast<std::size_t>(entry->range.begin),
                                   static_cast<std::size_t>(entry->range.end - entry->range.begin));
    if (entry->type == ElementType::kBool && !AreBools(view)) {
      return MakeError(ErrorKind::kInvalidInput, "{}: has elements of type bool that are neither 0 nor 1", place);
    }
    ranges.push_back(entry->range);
    result.arrays.emplace(name, StoredArray(entry->type, std::move(entry->shape), view, owner));
  }
  if (!CoverWithoutGaps(std::move(ranges), data.size())) {
    return MakeError(ErrorKind::kInvalidInput, "{}: its arrays overlap or leave gaps in the {} bytes of data", what,
                     data.size());
  }
  return result;
}

Expected<Safetensors> ReadSafetensors(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  return ParseSafetensors(file->bytes(), file, path);
}

Expected<void> WriteSafetensors(const std::string& path, std::span<const NamedArray> arrays,
                                const std::map<std::string, std::string>& metadata) {
  std::vector<const NamedArray*> sorted;
  for (const NamedArray& named : arrays) sorted.push_back(&named);
  // Wide elements first, as the format's own writer does: then every array is aligned for its type.
  std::sort(sorted.begin(), sorted.end(), [](const NamedArray* a, const NamedArray* b) {
    const std::size_t size_a = ElementSize(a->array.type());
    const std::size_t size_b = ElementSize(b->array.type());
    return size_a != size_b ? size_a > size_b : a->name < b->name;
  });
  std::map<std::string_view, int> uses;
  for (const NamedArray* named : sorted) RLC_CHECK(named->name != kMetadata && ++uses[named->name] == 1);
  const std::string header = HeaderFor(sorted, metadata);
  std::string size;
  for (std::size_t i = 0; i < kSizeBytes; ++i) size += static_cast<char>(uint64_t{header.size()} >> (8 * i) & 0xff);
  RLC_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RLC_RETURN_IF_ERROR(file.Write(size));
  RLC_RETURN_IF_ERROR(file.Write(header));
  for (const NamedArray* named : sorted) RLC_RETURN_IF_ERROR(file.Write(named->array.bytes()));
  return file.Commit();
}

}  // namespace rlc
