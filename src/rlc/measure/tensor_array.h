// Between the two kinds of arrays: what files hold (rlc/data/array.h) and what sessions take (rlc/ir/tensor.h). Bytes
// are shared, not copied.
#ifndef RLC_MEASURE_TENSOR_ARRAY_H_
#define RLC_MEASURE_TENSOR_ARRAY_H_

#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/data/array.h"
#include "rlc/ir/tensor.h"
#include "rlc/ort/session.h"

namespace rlc {

DType DTypeOfElement(ElementType type);
Expected<ElementType> ElementOfDType(DType type);  // error, kUnavailable: strings, complex, 4- and 8-bit floats

Tensor ToTensor(const Array& array);
Expected<Array> ToArray(const Tensor& tensor);  // errors: as ElementOfDType

std::vector<NamedTensor> ToTensors(std::span<const NamedArray> arrays);
Expected<std::vector<NamedArray>> ToArrays(std::span<const NamedTensor> tensors);

}  // namespace rlc

#endif  // RLC_MEASURE_TENSOR_ARRAY_H_
