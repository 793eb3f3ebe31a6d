// Constant tensors: immutable bytes, shared by all copies.
#ifndef RLC_IR_TENSOR_H_
#define RLC_IR_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/type.h"

namespace rlc {

// A value type: copying shares the bytes, nothing can change them. Elements are dense, row-major, little-endian, as in
// ONNX's raw_data (4-bit types packed two to a byte, low half first). Strings are held apart.
class Tensor {
 public:
  Tensor() = default;

  // Takes over `bytes` (moved, never copied). Precondition, checked: the size fits dtype and dims (ByteSize()).
  static Tensor FromBytes(DType dtype, std::vector<int64_t> dims, std::string bytes);
  // Bytes that live elsewhere, for example in a mapped file; `owner` keeps them alive. Copied if they are not aligned
  // for the element type.
  static Tensor FromView(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes,
                         std::shared_ptr<const void> owner);
  static Tensor FromStrings(std::vector<int64_t> dims, std::vector<std::string> strings);
  template <typename T>
  static Tensor Of(std::vector<int64_t> dims, const std::vector<T>& elements);  // bool: use FromBytes
  template <typename T>
  static Tensor Scalar(T element) {
    return Of<T>({}, std::vector<T>{element});
  }

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t size() const { return size_; }  // number of elements
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const std::string> strings() const {
    return strings_ ? std::span<const std::string>(*strings_) : std::span<const std::string>();
  }

  // Elements in place. Precondition, checked: T matches dtype(). Use ToDoubles / ToInt64s for "whatever it is".
  template <typename T>
  std::span<const T> data() const;

  // Elements converted to double (float types, integers, bool). Error: strings, complex, 4- and 8-bit floats.
  Expected<std::vector<double>> ToDoubles() const;
  // Elements of an integer or bool tensor. Error: any other type.
  Expected<std::vector<int64_t>> ToInt64s() const;
  // A tensor of `dtype` (float types, integers) from doubles, rounded to nearest even. Error when a finite value
  // becomes infinite or does not fit, or a NaN would become an integer.
  static Expected<Tensor> FromDoubles(DType dtype, std::vector<int64_t> dims, std::span<const double> elements);

  // The same bytes with other dims. Precondition, checked: same number of elements.
  Tensor Reshaped(std::vector<int64_t> dims) const;

  // Same dtype, dims and bytes.
  bool SameAs(const Tensor& other) const;

 private:
  DType dtype_ = DType::kUndefined;
  std::vector<int64_t> dims_;
  int64_t size_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const std::vector<std::string>> strings_;
};

// Bytes that a dense tensor takes; nothing for strings, unknown types, and sizes that overflow int64.
std::optional<int64_t> ByteSize(DType dtype, const std::vector<int64_t>& dims);

template <typename T>
struct DTypeOf;  // DTypeOf<float>::value == DType::kFloat
#define RLC_DTYPE_OF(type, enumerator)                \
  template <>                                         \
  struct DTypeOf<type> {                              \
    static constexpr DType value = DType::enumerator; \
  }
RLC_DTYPE_OF(float, kFloat);
RLC_DTYPE_OF(double, kDouble);
RLC_DTYPE_OF(int8_t, kInt8);
RLC_DTYPE_OF(uint8_t, kUint8);
RLC_DTYPE_OF(int16_t, kInt16);
RLC_DTYPE_OF(uint16_t, kUint16);
RLC_DTYPE_OF(int32_t, kInt32);
RLC_DTYPE_OF(uint32_t, kUint32);
RLC_DTYPE_OF(int64_t, kInt64);
RLC_DTYPE_OF(uint64_t, kUint64);
RLC_DTYPE_OF(bool, kBool);
#undef RLC_DTYPE_OF

template <typename T>
Tensor Tensor::Of(std::vector<int64_t> dims, const std::vector<T>& elements) {
  std::string bytes(elements.size() * sizeof(T), '\0');
  if (!elements.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return FromBytes(DTypeOf<T>::value, std::move(dims), std::move(bytes));
}

template <typename T>
std::span<const T> Tensor::data() const {
  RLC_CHECK(DTypeOf<T>::value == dtype_);
  return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(size_)};
}

}  // namespace rlc

#endif  // RLC_IR_TENSOR_H_
