// Arrays of data: typed, shaped, immutable bytes that copies share. What files hold and what models get and give; the
// weights of a graph are Tensors (rlc/ir/tensor.h). Both share bytes without copying through FromView and owner().
#ifndef RLC_DATA_ARRAY_H_
#define RLC_DATA_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rlc/base/error.h"

namespace rlc {

enum class ElementType : uint8_t {
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kBool,
};

std::string_view ElementTypeName(ElementType type);  // as numpy: "float32", "uint8", "bool"; and "bfloat16"
std::optional<ElementType> ElementTypeFromName(std::string_view name);
std::size_t ElementSize(ElementType type);  // bytes
bool IsFloatType(ElementType type);
bool IsIntegerType(ElementType type);  // not bool

// Number of elements; nothing if a dimension is negative or the size in bytes of any type would not fit into int64.
std::optional<int64_t> ElementCount(std::span<const int64_t> shape);

template <typename T>
struct ElementTypeOf;  // ElementTypeOf<float>::value

// False if one of the bytes is neither 0 nor 1, which no C++ bool may be: readers refuse such arrays of bool.
bool AreBools(std::span<const std::byte> bytes);

// Dense, row-major, native byte order (little-endian), aligned for its type.
class Array {
 public:
  Array() = default;  // float32, shape [0]

  // Takes over the bytes. Precondition, checked: as many as type and shape need.
  static Array FromBytes(ElementType type, std::vector<int64_t> shape, std::string bytes);
  // Bytes that live elsewhere; `owner` keeps them alive. Copied if they are not aligned for the type.
  static Array FromView(ElementType type, std::vector<int64_t> shape, std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner);
  template <typename T>
  static Array Of(std::vector<int64_t> shape, const std::vector<T>& elements);  // bool: as uint8_t, then FromBytes

  ElementType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t size() const { return size_; }  // elements
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  // Precondition, checked: T is the element type.
  template <typename T>
  std::span<const T> data() const;

  // Rows along the first axis, sharing the bytes. Precondition, checked: rank >= 1 and the range is inside.
  int64_t rows() const;
  Array Rows(int64_t first, int64_t count) const;
  // Precondition, checked: same number of elements.
  Array Reshaped(std::vector<int64_t> shape) const;

  std::vector<double> ToDoubles() const;  // int64 and uint64 beyond 2^53 are rounded
  // float to float rounds to nearest even (too large: infinity); integer to integer of any width. Error: a value does
  // not fit (says which), or the types are not both floats or both integers.
  Expected<Array> Cast(ElementType type) const;

  // Same type, shape and bytes.
  friend bool operator==(const Array& a, const Array& b);

 private:
  ElementType type_ = ElementType::kFloat32;
  std::vector<int64_t> shape_ = {0};
  int64_t size_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

struct NamedArray {
  std::string name;
  Array array;
};

// An array in a file: its bytes stay there (mapped) until rows are asked for. Bytes need not be aligned.
class StoredArray {
 public:
  StoredArray() = default;
  // Precondition, checked: bytes.size() is what type and shape need.
  StoredArray(ElementType type, std::vector<int64_t> shape, std::span<const std::byte> bytes,
              std::shared_ptr<const void> owner);
  explicit StoredArray(const Array& array);

  ElementType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  // All of it; without a copy where the bytes are aligned.
  Array Load() const;
  // The rows with these indices along the first axis, in this order. Precondition, checked: rank >= 1, indices inside.
  Array Gather(std::span<const std::size_t> rows) const;

 private:
  ElementType type_ = ElementType::kFloat32;
  std::vector<int64_t> shape_ = {0};
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

// One array [rows..., ] out of several that agree in type and in all but the first dimension. Precondition, checked.
Array Concatenate(std::span<const Array> arrays);

#define RLC_ELEMENT_TYPE_OF(type, enumerator)                     \
  template <>                                                     \
  struct ElementTypeOf<type> {                                    \
    static constexpr ElementType value = ElementType::enumerator; \
  }
RLC_ELEMENT_TYPE_OF(float, kFloat32);
RLC_ELEMENT_TYPE_OF(double, kFloat64);
RLC_ELEMENT_TYPE_OF(int8_t, kInt8);
RLC_ELEMENT_TYPE_OF(int16_t, kInt16);
RLC_ELEMENT_TYPE_OF(int32_t, kInt32);
RLC_ELEMENT_TYPE_OF(int64_t, kInt64);
RLC_ELEMENT_TYPE_OF(uint8_t, kUint8);
RLC_ELEMENT_TYPE_OF(uint16_t, kUint16);
RLC_ELEMENT_TYPE_OF(uint32_t, kUint32);
RLC_ELEMENT_TYPE_OF(uint64_t, kUint64);
RLC_ELEMENT_TYPE_OF(bool, kBool);
#undef RLC_ELEMENT_TYPE_OF

template <typename T>
Array Array::Of(std::vector<int64_t> shape, const std::vector<T>& elements) {
  std::string bytes(elements.size() * sizeof(T), '\0');
  if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return FromBytes(ElementTypeOf<T>::value, std::move(shape), std::move(bytes));
}

template <typename T>
std::span<const T> Array::data() const {
  RLC_CHECK(ElementTypeOf<T>::value == type_);
  return {reinterpret_cast<const T*>(bytes_.data()), static_cast<std::size_t>(size_)};
}

}  // namespace rlc

#endif  // RLC_DATA_ARRAY_H_
