#include "rlc/measure/tensor_array.h"

#include <memory>
#include <utility>

namespace rlc {
namespace {

struct Pair {
  ElementType element;
  DType dtype;
};

constexpr Pair kPairs[] = {
    {ElementType::kFloat16, DType::kFloat16}, {ElementType::kBFloat16, DType::kBFloat16},
    {ElementType::kFloat32, DType::kFloat},   {ElementType::kFloat64, DType::kDouble},
    {ElementType::kInt8, DType::kInt8},       {ElementType::kInt16, DType::kInt16},
    {ElementType::kInt32, DType::kInt32},     {ElementType::kInt64, DType::kInt64},
    {ElementType::kUint8, DType::kUint8},     {ElementType::kUint16, DType::kUint16},
    {ElementType::kUint32, DType::kUint32},   {ElementType::kUint64, DType::kUint64},
    {ElementType::kBool, DType::kBool},
};

}  // namespace

DType DTypeOfElement(ElementType type) {
  for (const Pair& pair : kPairs) {
    if (pair.element == type) return pair.dtype;
  }
  RLC_CHECK(false && "every element type has a row");
  return DType::kUndefined;
}

Expected<ElementType> ElementOfDType(DType type) {
  for (const Pair& pair : kPairs) {
    if (pair.dtype == type) return pair.element;
  }
  return MakeError(ErrorKind::kUnavailable, "data of type {} is not supported", DTypeName(type));
}

Tensor ToTensor(const Array& array) {
  return Tensor::FromView(DTypeOfElement(array.type()), array.shape(), array.bytes(), array.owner());
}

Expected<Array> ToArray(const Tensor& tensor) {
  RLC_ASSIGN_OR_RETURN(const ElementType type, ElementOfDType(tensor.dtype()));
  // A Tensor shares its bytes with its copies, so a copy keeps them alive.
  auto owner = std::make_shared<const Tensor>(tensor);
  const auto bytes = owner->bytes();
  return Array::FromView(type, tensor.dims(), bytes, std::move(owner));
}

std::vector<NamedTensor> ToTensors(std::span<const NamedArray> arrays) {
  std::vector<NamedTensor> tensors;
  for (const NamedArray& array : arrays) tensors.push_back({array.name, ToTensor(array.array)});
  return tensors;
}

Expected<std::vector<NamedArray>> ToArrays(std::span<const NamedTensor> tensors) {
  std::vector<NamedArray> arrays;
  for (const NamedTensor& tensor : tensors) {
    auto array = ToArray(tensor.tensor);
    if (!array) return WithContext(array.error(), tensor.name);
    arrays.push_back({tensor.name, *std::move(array)});
  }
  return arrays;
}

}  // namespace rlc
