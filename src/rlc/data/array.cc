#include "rlc/data/array.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace rlc {
namespace {

static_assert(std::endian::native == std::endian::little, "files and models are little-endian; so is Array");

struct ElementInfo {
  std::string_view name;
  std::size_t size;
};

// In the order of ElementType.
constexpr std::array<ElementInfo, 13> kElements = {{{"float16", 2},
                                                    {"bfloat16", 2},
                                                    {"float32", 4},
                                                    {"float64", 8},
                                                    {"int8", 1},
                                                    {"int16", 2},
                                                    {"int32", 4},
                                                    {"int64", 8},
                                                    {"uint8", 1},
                                                    {"uint16", 2},
                                                    {"uint32", 4},
                                                    {"uint64", 8},
                                                    {"bool", 1}}};

const ElementInfo& InfoOf(ElementType type) { return kElements.at(static_cast<std::size_t>(type)); }

// Bits of a 16-bit float, as types of their own so that the visitor below can tell them apart.
struct HalfBits {
  uint16_t bits;
};
struct BrainBits {
  uint16_t bits;
};

// Rounds a finite or infinite double to a float with `mantissa` explicit bits and `exponent` exponent bits, to nearest
// even, in one step (by way of float it would be rounded twice).
uint16_t RoundToSmallFloat(double value, int mantissa_bits, int exponent_bits) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | infinity | (1 << (mantissa_bits - 1)));
  const double size = std::abs(value);
  if (size == 0) return sign;
  if (std::isinf(size)) return static_cast<uint16_t>(sign | infinity);
  int exponent = std::max(std::ilogb(size), 1 - bias);  // below that the spacing stays: denormals
  // In units of the last place; nearbyint rounds to even. A carry into the next exponent comes out right by itself.
  const double units = std::nearbyint(std::scalbn(size, mantissa_bits - exponent));
  if (exponent > bias) return static_cast<uint16_t>(sign | infinity);
  const int64_t bits = static_cast<int64_t>(units) + (static_cast<int64_t>(exponent + bias - 1) << mantissa_bits);
  return static_cast<uint16_t>(sign | std::min<int64_t>(bits, infinity));
}

double SmallFloatToDouble(uint16_t bits, int mantissa_bits, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  double size = 0;
  if (exponent == (1 << exponent_bits) - 1) {
    size = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    size = std::scalbn(mantissa, 1 - bias - mantissa_bits);
  } else {
    size = std::scalbn(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

double ToDouble(HalfBits value) { return SmallFloatToDouble(value.bits, 10, 5); }
double ToDouble(BrainBits value) { return SmallFloatToDouble(value.bits, 7, 8); }
template <typename T>
double ToDouble(T value) {
  return static_cast<double>(value);
}

void FromDouble(double value, HalfBits& result) { result.bits = RoundToSmallFloat(value, 10, 5); }
void FromDouble(double value, BrainBits& result) { result.bits = RoundToSmallFloat(value, 7, 8); }
template <typename T>
void FromDouble(double value, T& result) {
  result = static_cast<T>(value);
}

// Calls function(T{}) with the C++ type of the elements; bool is uint8_t.
template <typename Function>
auto VisitType(ElementType type, Function function) {
  switch (type) {
    case ElementType::kFloat16:
      return function(HalfBits{});
    case ElementType::kBFloat16:
      return function(BrainBits{});
    case ElementType::kFloat32:
      return function(float{});
    case ElementType::kFloat64:
      return function(double{});
    case ElementType::kInt8:
      return function(int8_t{});
    case ElementType::kInt16:
      return function(int16_t{});
    case ElementType::kInt32:
      return function(int32_t{});
    case ElementType::kInt64:
      return function(int64_t{});
    case ElementType::kUint8:
    case ElementType::kBool:
      return function(uint8_t{});
    case ElementType::kUint16:
      return function(uint16_t{});
    case ElementType::kUint32:
      return function(uint32_t{});
    case ElementType::kUint64:
      return function(uint64_t{});
  }
  RLC_CHECK(false);
  return function(uint8_t{});
}

uint64_t BytesOf(ElementType type, std::span<const int64_t> shape) {
  const std::optional<int64_t> count = ElementCount(shape);
  RLC_CHECK(count.has_value());
  return static_cast<uint64_t>(*count) * ElementSize(type);
}

template <typename T>
std::span<const T> As(const Array& array) {
  return {reinterpret_cast<const T*>(array.bytes().data()), static_cast<std::size_t>(array.size())};
}

// Bytes of one row along the first axis.
std::size_t RowBytes(ElementType type, std::span<const int64_t> shape) {
  RLC_CHECK(!shape.empty());
  return static_cast<std::size_t>(BytesOf(type, shape.subspan(1)));
}

template <typename From, typename To>
Expected<void> CastIntegers(std::span<const From> from, std::span<To> to, ElementType type) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!std::in_range<To>(from[i])) {
      return MakeError(ErrorKind::kInvalidInput, "element {} is {}, which {} does not hold", i, from[i],
                       ElementTypeName(type));
    }
    to[i] = static_cast<To>(from[i]);
  }
  return {};
}

}  // namespace

std::string_view ElementTypeName(ElementType type) { return InfoOf(type).name; }
std::size_t ElementSize(ElementType type) { return InfoOf(type).size; }

std::optional<ElementType> ElementTypeFromName(std::string_view name) {
  for (std::size_t i = 0; i < kElements.size(); ++i) {
    if (kElements[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

bool IsFloatType(ElementType type) { return type <= ElementType::kFloat64; }
bool IsIntegerType(ElementType type) { return type >= ElementType::kInt8 && type <= ElementType::kUint64; }

std::optional<int64_t> ElementCount(std::span<const int64_t> shape) {
  // 8 bytes for the largest element. A zero dimension makes the array empty, but the others must make sense too.
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 8;
  int64_t count = 1;
  bool empty = false;
  for (const int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      empty = true;
    } else if (count > kMost / dim) {
      return std::nullopt;
    } else {
      count *= dim;
    }
  }
  return empty ? 0 : count;
}

bool AreBools(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte <= std::byte{1}; });
}

Array Array::FromBytes(ElementType type, std::vector<int64_t> shape, std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const std::span<const std::byte> view = std::as_bytes(std::span(owner->data(), owner->size()));
  return FromView(type, std::move(shape), view, std::move(owner));
}

Array Array::FromView(ElementType type, std::vector<int64_t> shape, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner) {
  RLC_CHECK_EQ(BytesOf(type, shape), bytes.size());
  if (reinterpret_cast<uintptr_t>(bytes.data()) % ElementSize(type) != 0) {
    // A string on the heap is aligned for everything, a short one inside its object is not; vectors always allocate.
    auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    bytes = *copy;
    owner = std::move(copy);
  }
  Array array;
  array.type_ = type;
  array.size_ = *ElementCount(shape);
  array.shape_ = std::move(shape);
  array.bytes_ = bytes;
  array.owner_ = std::move(owner);
  return array;
}

int64_t Array::rows() const {
  RLC_CHECK(!shape_.empty());
  return shape_[0];
}

Array Array::Rows(int64_t first, int64_t count) const {
  RLC_CHECK(first >= 0 && count >= 0 && count <= rows() - first);
  const std::size_t row_bytes = RowBytes(type_, shape_);
  Array part = *this;
  part.shape_[0] = count;
  part.size_ = *ElementCount(part.shape_);
  part.bytes_ =
      bytes_.subspan(static_cast<std::size_t>(first) * row_bytes, static_cast<std::size_t>(count) * row_bytes);
  return part;
}

Array Array::Reshaped(std::vector<int64_t> shape) const {
  RLC_CHECK_EQ(ElementCount(shape).value_or(-1), size_);
  Array result = *this;
  result.shape_ = std::move(shape);
  return result;
}

std::vector<double> Array::ToDoubles() const {
  std::vector<double> result(static_cast<std::size_t>(size_));
  VisitType(type_, [&](auto element) {
    const auto from = As<decltype(element)>(*this);
    std::transform(from.begin(), from.end(), result.begin(), [](auto value) { return ToDouble(value); });
  });
  return result;
}

Expected<Array> Array::Cast(ElementType type) const {
  if (type == type_) return *this;
  const bool floats = IsFloatType(type_) && IsFloatType(type);
  if (!floats && !(IsIntegerType(type_) && IsIntegerType(type))) {
    return MakeError(ErrorKind::kInvalidInput, "{} cannot be converted to {} without guessing; convert the data",
                     ElementTypeName(type_), ElementTypeName(type));
  }
  std::string bytes(static_cast<std::size_t>(size_) * ElementSize(type), '\0');
  const Expected<void> status = VisitType(type_, [&](auto from_element) {
    using From = decltype(from_element);
    return VisitType(type, [&](auto to_element) -> Expected<void> {
      using To = decltype(to_element);
      const std::span<const From> from = As<From>(*this);
      const std::span<To> to(reinterpret_cast<To*>(bytes.data()), from.size());
      if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
        return CastIntegers<From, To>(from, to, type);
      } else {
        for (std::size_t i = 0; i < from.size(); ++i) FromDouble(ToDouble(from[i]), to[i]);
        return {};
      }
    });
  });
  RLC_RETURN_IF_ERROR(status);
  return FromBytes(type, shape_, std::move(bytes));
}

bool operator==(const Array& a, const Array& b) {
  return a.type_ == b.type_ && a.shape_ == b.shape_ && std::ranges::equal(a.bytes_, b.bytes_);
}

StoredArray::StoredArray(ElementType type, std::vector<int64_t> shape, std::span<const std::byte> bytes,
                         std::shared_ptr<const void> owner)
    : type_(type), shape_(std::move(shape)), bytes_(bytes), owner_(std::move(owner)) {
  RLC_CHECK_EQ(BytesOf(type_, shape_), bytes_.size());
}

StoredArray::StoredArray(const Array& array) : StoredArray(array.type(), array.shape(), array.bytes(), array.owner()) {}

Array StoredArray::Load() const { return Array::FromView(type_, shape_, bytes_, owner_); }

Array StoredArray::Gather(std::span<const std::size_t> rows) const {
  const std::size_t row_bytes = RowBytes(type_, shape_);
  std::string bytes(rows.size() * row_bytes, '\0');
  for (std::size_t i = 0; i < rows.size() && row_bytes > 0; ++i) {
    RLC_CHECK(rows[i] < static_cast<std::size_t>(shape_[0]));
    std::memcpy(bytes.data() + i * row_bytes, bytes_.data() + rows[i] * row_bytes, row_bytes);
  }
  std::vector<int64_t> shape = shape_;
  shape[0] = static_cast<int64_t>(rows.size());
  return Array::FromBytes(type_, std::move(shape), std::move(bytes));
}

Array Concatenate(std::span<const Array> arrays) {
  RLC_CHECK(!arrays.empty());
  std::vector<int64_t> shape = arrays[0].shape();
  RLC_CHECK(!shape.empty());
  shape[0] = 0;
  std::string bytes;
  for (const Array& array : arrays) {
    RLC_CHECK(array.type() == arrays[0].type());
    RLC_CHECK(array.shape().size() == shape.size());
    RLC_CHECK(std::equal(shape.begin() + 1, shape.end(), array.shape().begin() + 1));
    shape[0] += array.rows();
    bytes.append(reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size());
  }
  return Array::FromBytes(arrays[0].type(), std::move(shape), std::move(bytes));
}

}  // namespace rlc
