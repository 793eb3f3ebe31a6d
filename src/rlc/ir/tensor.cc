#include "rlc/ir/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "rlc/ir/float16.h"

namespace rlc {

static_assert(std::endian::native == std::endian::little, "tensors hold little-endian bytes");

namespace {

// The element types that have a C++ type of the same layout. Bool is read as bytes: a file may hold any byte there, and
// a bool that is neither 0 nor 1 is undefined behaviour.
template <typename Visitor>
bool VisitNumbers(const Tensor& tensor, Visitor&& visit) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      visit(tensor.data<float>());
      return true;
    case DType::kDouble:
      visit(tensor.data<double>());
      return true;
    case DType::kInt8:
      visit(tensor.data<int8_t>());
      return true;
    case DType::kUint8:
      visit(tensor.data<uint8_t>());
      return true;
    case DType::kInt16:
      visit(tensor.data<int16_t>());
      return true;
    case DType::kUint16:
      visit(tensor.data<uint16_t>());
      return true;
    case DType::kInt32:
      visit(tensor.data<int32_t>());
      return true;
    case DType::kUint32:
      visit(tensor.data<uint32_t>());
      return true;
    case DType::kInt64:
      visit(tensor.data<int64_t>());
      return true;
    case DType::kUint64:
      visit(tensor.data<uint64_t>());
      return true;
    default:
      return false;
  }
}

uint16_t HalfBits(std::span<const std::byte> bytes, size_t index) {
  uint16_t bits = 0;
  std::memcpy(&bits, bytes.data() + 2 * index, sizeof bits);
  return bits;
}

// Element of a packed 4-bit tensor, low half first.
int64_t Nibble(const Tensor& tensor, size_t index) {
  const int byte = static_cast<int>(tensor.bytes()[index / 2]);
  const int value = index % 2 == 0 ? byte & 15 : byte >> 4;
  return tensor.dtype() == DType::kInt4 && value > 7 ? value - 16 : value;
}

Unexpected NoNumbers(const Tensor& tensor, std::string_view wanted) {
  return MakeError(ErrorKind::kInvalidInput, "a {} constant where {} are needed", DTypeName(tensor.dtype()), wanted);
}

template <typename T>
Expected<Tensor> IntegersFromDoubles(std::vector<int64_t> dims, std::span<const double> elements) {
  // Both limits are powers of two (or zero), so they are exact as doubles; the upper one is exclusive.
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<T>::digits);
  std::vector<T> values;
  values.reserve(elements.size());
  for (const double element : elements) {
    const double rounded = std::nearbyint(element);
    if (!(rounded >= low && rounded < high)) {
      return MakeError(ErrorKind::kInvalidInput, "{} does not fit into {}", element, DTypeName(DTypeOf<T>::value));
    }
    values.push_back(static_cast<T>(rounded));
  }
  return Tensor::Of<T>(std::move(dims), values);
}

Expected<Tensor> FloatsFromDoubles(DType dtype, std::vector<int64_t> dims, std::span<const double> elements) {
  std::string bytes(elements.size() * static_cast<size_t>(BitsOf(dtype)) / 8, '\0');
  for (size_t i = 0; i < elements.size(); ++i) {
    bool finite = true;
    if (dtype == DType::kFloat) {
      const auto value = static_cast<float>(elements[i]);
      finite = std::isfinite(value);
      std::memcpy(bytes.data() + sizeof(value) * i, &value, sizeof value);
    } else if (dtype == DType::kDouble) {
      std::memcpy(bytes.data() + sizeof(double) * i, &elements[i], sizeof(double));
    } else {
      const bool half = dtype == DType::kFloat16;
      const uint16_t value = half ? DoubleToFloat16(elements[i]) : DoubleToBFloat16(elements[i]);
      finite = std::isfinite(half ? Float16ToFloat(value) : BFloat16ToFloat(value));
      std::memcpy(bytes.data() + sizeof(value) * i, &value, sizeof value);
    }
    if (!finite && std::isfinite(elements[i])) {
      return MakeError(ErrorKind::kInvalidInput, "{} is too large for {}", elements[i], DTypeName(dtype));
    }
  }
  return Tensor::FromBytes(dtype, std::move(dims), std::move(bytes));
}

// Alignment that data<T>() needs.
size_t AlignmentOf(DType dtype) { return static_cast<size_t>(std::clamp(BitsOf(dtype) / 8, 1, 8)); }

}  // namespace

std::optional<int64_t> ByteSize(DType dtype, const std::vector<int64_t>& dims) {
  const int bits = BitsOf(dtype);
  const std::optional<int64_t> count = ElementCount(dims);
  if (bits == 0 || !count) return std::nullopt;
  if (bits < 8) return *count / 2 + *count % 2;
  int64_t size = 0;
  if (__builtin_mul_overflow(*count, int64_t{bits / 8}, &size)) return std::nullopt;
  return size;
}

Tensor Tensor::FromBytes(DType dtype, std::vector<int64_t> dims, std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const auto view = std::as_bytes(std::span<const char>(owner->data(), owner->size()));
  return FromView(dtype, std::move(dims), view, std::move(owner));
}

Tensor Tensor::FromView(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner) {
  RLC_CHECK(dtype != DType::kString);
  const std::optional<int64_t> count = ElementCount(dims);
  RLC_CHECK(count.has_value());
  // Of a type that rlc does not know, it cannot know the size either.
  if (BitsOf(dtype) != 0) RLC_CHECK_EQ(static_cast<int64_t>(bytes.size()), ByteSize(dtype, dims).value_or(-1));
  if (reinterpret_cast<uintptr_t>(bytes.data()) % AlignmentOf(dtype) != 0) {
    return FromBytes(dtype, std::move(dims), std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.dims_ = std::move(dims);
  tensor.size_ = *count;
  tensor.bytes_ = bytes;
  tensor.owner_ = std::move(owner);
  return tensor;
}

Tensor Tensor::FromStrings(std::vector<int64_t> dims, std::vector<std::string> strings) {
  RLC_CHECK_EQ(static_cast<int64_t>(strings.size()), ElementCount(dims).value_or(-1));
  Tensor tensor;
  tensor.dtype_ = DType::kString;
  tensor.dims_ = std::move(dims);
  tensor.size_ = static_cast<int64_t>(strings.size());
  tensor.strings_ = std::make_shared<const std::vector<std::string>>(std::move(strings));
  return tensor;
}

Expected<std::vector<double>> Tensor::ToDoubles() const {
  std::vector<double> values;
  const auto count = static_cast<size_t>(size_);
  values.reserve(count);
  const bool plain = VisitNumbers(*this, [&](auto elements) {
    for (const auto element : elements) values.push_back(static_cast<double>(element));
  });
  if (plain) return values;
  for (size_t i = 0; i < count; ++i) {
    switch (dtype_) {
      case DType::kBool:
        values.push_back(bytes_[i] != std::byte{0} ? 1.0 : 0.0);
        break;
      case DType::kFloat16:
        values.push_back(static_cast<double>(Float16ToFloat(HalfBits(bytes_, i))));
        break;
      case DType::kBFloat16:
        values.push_back(static_cast<double>(BFloat16ToFloat(HalfBits(bytes_, i))));
        break;
      case DType::kInt4:
      case DType::kUint4:
        values.push_back(static_cast<double>(Nibble(*this, i)));
        break;
      default:
        return NoNumbers(*this, "numbers");
    }
  }
  if (count == 0 && BitsOf(dtype_) == 0) return NoNumbers(*this, "numbers");
  return values;
}

Expected<std::vector<int64_t>> Tensor::ToInt64s() const {
  std::vector<int64_t> values;
  const auto count = static_cast<size_t>(size_);
  values.reserve(count);
  if (dtype_ == DType::kBool) {
    for (const std::byte byte : bytes_) values.push_back(byte != std::byte{0} ? 1 : 0);
    return values;
  }
  if (dtype_ == DType::kInt4 || dtype_ == DType::kUint4) {
    for (size_t i = 0; i < count; ++i) values.push_back(Nibble(*this, i));
    return values;
  }
  if (!IsInteger(dtype_)) return NoNumbers(*this, "integers");
  bool fits = true;
  VisitNumbers(*this, [&](auto elements) {
    for (const auto element : elements) {
      if constexpr (std::is_same_v<decltype(element), const uint64_t>) {
        fits = fits && element <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
      }
      values.push_back(static_cast<int64_t>(element));
    }
  });
  if (!fits) return MakeError(ErrorKind::kInvalidInput, "a uint64 constant holds a number above 2^63 - 1");
  return values;
}

Expected<Tensor> Tensor::FromDoubles(DType dtype, std::vector<int64_t> dims, std::span<const double> elements) {
  RLC_CHECK_EQ(static_cast<int64_t>(elements.size()), ElementCount(dims).value_or(-1));
  switch (dtype) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kFloat16:
    case DType::kBFloat16:
      return FloatsFromDoubles(dtype, std::move(dims), elements);
    case DType::kInt8:
      return IntegersFromDoubles<int8_t>(std::move(dims), elements);
    case DType::kUint8:
      return IntegersFromDoubles<uint8_t>(std::move(dims), elements);
    case DType::kInt16:
      return IntegersFromDoubles<int16_t>(std::move(dims), elements);
    case DType::kUint16:
      return IntegersFromDoubles<uint16_t>(std::move(dims), elements);
    case DType::kInt32:
      return IntegersFromDoubles<int32_t>(std::move(dims), elements);
    case DType::kUint32:
      return IntegersFromDoubles<uint32_t>(std::move(dims), elements);
    case DType::kInt64:
      return IntegersFromDoubles<int64_t>(std::move(dims), elements);
    case DType::kUint64:
      return IntegersFromDoubles<uint64_t>(std::move(dims), elements);
    default:
      return MakeError(ErrorKind::kInvalidInput, "numbers cannot be stored as {}", DTypeName(dtype));
  }
}

Tensor Tensor::Reshaped(std::vector<int64_t> dims) const {
  RLC_CHECK_EQ(size_, ElementCount(dims).value_or(-1));
  Tensor tensor = *this;
  tensor.dims_ = std::move(dims);
  return tensor;
}

bool Tensor::SameAs(const Tensor& other) const {
  if (dtype_ != other.dtype_ || dims_ != other.dims_) return false;
  if (dtype_ == DType::kString) return std::ranges::equal(strings(), other.strings());
  if (bytes_.size() != other.bytes_.size()) return false;
  return bytes_.empty() || bytes_.data() == other.bytes_.data() ||
         std::memcmp(bytes_.data(), other.bytes_.data(), bytes_.size()) == 0;
}

}  // namespace rlc
