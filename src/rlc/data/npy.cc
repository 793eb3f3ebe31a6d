#include "rlc/data/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "rlc/base/file.h"

namespace rlc {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes = 65536;  // of numpy's own are 128 to a few hundred
constexpr std::size_t kMaxRank = 64;            // numpy 2's limit

struct Header {
  ElementType type = ElementType::kFloat32;
  bool swapped = false;  // big-endian
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// The header is a Python dictionary literal: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. This reads
// exactly such dictionaries, in any order of keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  Expected<Header> Parse() {
    Header header;
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    if (!Take('{')) return Damaged();
    while (!Take('}')) {
      const std::optional<std::string_view> key = Quoted();
      if (!key || !Take(':')) return Damaged();
      if (*key == "descr" && !has_type) {
        RLC_RETURN_IF_ERROR(ParseType(header));
        has_type = true;
      } else if (*key == "fortran_order" && !has_order) {
        header.fortran_order = TakeWord("True");
        if (!header.fortran_order && !TakeWord("False")) return Damaged();
        has_order = true;
      } else if (*key == "shape" && !has_shape) {
        if (!ParseShape(header.shape)) return Damaged();
        has_shape = true;
      } else {
        return Damaged();
      }
      if (!Take(',') && !Peek('}')) return Damaged();
    }
    SkipSpace();
    if (!text_.empty() || !has_type || !has_order || !has_shape) return Damaged();
    return header;
  }

 private:
  Unexpected Damaged() const {
    return MakeError(ErrorKind::kInvalidInput, "{}: the header of this .npy array is damaged", what_);
  }

  void SkipSpace() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }

  bool Peek(char c) {
    SkipSpace();
    return !text_.empty() && text_.front() == c;
  }

  bool Take(char c) {
    const bool found = Peek(c);
    if (found) text_.remove_prefix(1);
    return found;
  }

  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string_view> Quoted() {
    const char quote = Peek('"') ? '"' : '\'';
    if (!Take(quote)) return std::nullopt;
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view content = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return content;
  }

  Expected<void> ParseType(Header& header) {
    if (Peek('[')) {
      return MakeError(ErrorKind::kInvalidInput, "{}: is a structured array; save one plain array per input", what_);
    }
    const std::optional<std::string_view> descr = Quoted();
    if (!descr || descr->size() < 3) return Damaged();
    static constexpr std::array<std::pair<std::string_view, ElementType>, 12> kTypes = {{{"f2", ElementType::kFloat16},
                                                                                         {"f4", ElementType::kFloat32},
                                                                                         {"f8", ElementType::kFloat64},
                                                                                         {"i1", ElementType::kInt8},
                                                                                         {"i2", ElementType::kInt16},
                                                                                         {"i4", ElementType::kInt32},
                                                                                         {"i8", ElementType::kInt64},
                                                                                         {"u1", ElementType::kUint8},
                                                                                         {"u2", ElementType::kUint16},
                                                                                         {"u4", ElementType::kUint32},
                                                                                         {"u8", ElementType::kUint64},
                                                                                         {"b1", ElementType::kBool}}};
    const char order = descr->front();
    const auto* const found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& row) { return row.first == descr->substr(1); });
    if (found == kTypes.end() || (order != '<' && order != '>' && order != '|')) {
      return MakeError(ErrorKind::kInvalidInput,
                       "{}: has elements of type '{}', wanted a float, integer or bool type; convert it with astype()",
                       what_, *descr);
    }
    header.type = found->second;
    header.swapped = order == '>' && ElementSize(header.type) > 1;
    return {};
  }

  // False if it is no tuple of numbers >= 0.
  bool ParseShape(std::vector<int64_t>& shape) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      SkipSpace();
      int64_t dim = 0;
      const auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), dim);
      if (code != std::errc() || dim < 0 || shape.size() == kMaxRank) return false;
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      TakeWord("L");  // Python 2 wrote (3L, 4L)
      shape.push_back(dim);
      if (!Take(',') && !Peek(')')) return false;
    }
    return true;
  }

  std::string_view text_;
  std::string_view what_;
};

template <std::size_t N>
void SwapElements(std::string& bytes) {
  for (std::size_t i = 0; i + N <= bytes.size(); i += N) std::reverse(bytes.data() + i, bytes.data() + i + N);
}

// Elements in C order from Fortran order, where the first index runs fastest.
std::string ToRowMajor(std::string_view bytes, std::size_t element, const std::vector<int64_t>& shape) {
  std::string result(bytes.size(), '\0');
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<std::size_t> stride(shape.size(), element);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    stride[axis] = stride[axis - 1] * static_cast<std::size_t>(shape[axis - 1]);
  }
  std::size_t from = 0;
  for (std::size_t to = 0; to < result.size(); to += element) {
    std::memcpy(result.data() + to, bytes.data() + from, element);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return result;
}

StoredArray Reordered(const Header& header, std::span<const std::byte> data) {
  std::string bytes(reinterpret_cast<const char*>(data.data()), data.size());
  const std::size_t element = ElementSize(header.type);
  if (header.swapped && element == 2) SwapElements<2>(bytes);
  if (header.swapped && element == 4) SwapElements<4>(bytes);
  if (header.swapped && element == 8) SwapElements<8>(bytes);
  if (header.fortran_order) bytes = ToRowMajor(bytes, element, header.shape);
  return StoredArray(Array::FromBytes(header.type, header.shape, std::move(bytes)));
}

struct Located {
  std::string_view header;
  std::span<const std::byte> data;
};

// Splits the bytes into the header's text and what follows it.
Expected<Located> Locate(std::span<const std::byte> bytes, std::string_view what) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < 10 || !text.starts_with(kMagic)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: is no .npy array (it does not start with \\x93NUMPY)", what);
  }
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) {
    return MakeError(ErrorKind::kInvalidInput, "{}: has version {} of the .npy format, known are 1 to 3", what,
                     version);
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (text.size() < start) return MakeError(ErrorKind::kInvalidInput, "{}: ends in the middle of its header", what);
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(text[8 + i]);
  if (length > kMaxHeaderBytes) {
    return MakeError(ErrorKind::kInvalidInput, "{}: has a header of {} bytes, at most {} are accepted", what, length,
                     kMaxHeaderBytes);
  }
  if (text.size() - start < length) {
    return MakeError(ErrorKind::kInvalidInput, "{}: ends in the middle of its header", what);
  }
  return Located{text.substr(start, length), bytes.subspan(start + length)};
}

std::string_view DescrOf(ElementType type) {
  switch (type) {
    case ElementType::kFloat16:
      return "<f2";
    case ElementType::kFloat32:
    case ElementType::kBFloat16:  // AsNpyType makes it so
      return "<f4";
    case ElementType::kFloat64:
      return "<f8";
    case ElementType::kInt8:
      return "|i1";
    case ElementType::kInt16:
      return "<i2";
    case ElementType::kInt32:
      return "<i4";
    case ElementType::kInt64:
      return "<i8";
    case ElementType::kUint8:
      return "|u1";
    case ElementType::kUint16:
      return "<u2";
    case ElementType::kUint32:
      return "<u4";
    case ElementType::kUint64:
      return "<u8";
    case ElementType::kBool:
      return "|b1";
  }
  return "|V1";
}

}  // namespace

Expected<StoredArray> ParseNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               std::string_view what) {
  RLC_ASSIGN_OR_RETURN(const Located located, Locate(bytes, what));
  RLC_ASSIGN_OR_RETURN(Header header, HeaderParser(located.header, what).Parse());
  const std::optional<int64_t> count = ElementCount(header.shape);
  const uint64_t wanted = static_cast<uint64_t>(count.value_or(0)) * ElementSize(header.type);
  if (!count || wanted != located.data.size()) {
    return MakeError(ErrorKind::kInvalidInput, "{}: has {} bytes of data, but shape [{}] of {} needs {}", what,
                     located.data.size(), fmt::join(header.shape, ","), ElementTypeName(header.type),
                     count ? fmt::format("{}", wanted) : "more than any memory");
  }
  if (header.type == ElementType::kBool && !AreBools(located.data)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: has elements of type bool that are neither 0 nor 1", what);
  }
  const bool one_dimensional = header.shape.size() < 2;
  if (one_dimensional) header.fortran_order = false;
  if (header.swapped || header.fortran_order) return Reordered(header, located.data);
  return StoredArray(header.type, std::move(header.shape), located.data, std::move(owner));
}

Expected<StoredArray> ReadNpy(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  return ParseNpy(file->bytes(), file, path);
}

std::string NpyHeader(ElementType type, const std::vector<int64_t>& shape) {
  const std::string tuple =
      shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", DescrOf(type), tuple);
  // Up to 32 dimensions of 20 digits fit into the 16-bit length of version 1.
  constexpr std::size_t kPrefix = 10;
  const std::size_t total = (kPrefix + text.size() + 1 + 63) / 64 * 64;
  text.append(total - kPrefix - text.size() - 1, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

Array AsNpyType(const Array& array) {
  if (array.type() != ElementType::kBFloat16) return array;
  return *array.Cast(ElementType::kFloat32);
}

Expected<void> WriteNpy(const std::string& path, const Array& array) {
  const Array written = AsNpyType(array);
  RLC_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RLC_RETURN_IF_ERROR(file.Write(NpyHeader(written.type(), written.shape())));
  RLC_RETURN_IF_ERROR(file.Write(written.bytes()));
  return file.Commit();
}

}  // namespace rlc
