// Elements of constants in the text form. Internal to ir.
#ifndef RLC_IR_TEXT_VALUES_H_
#define RLC_IR_TEXT_VALUES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/tensor.h"

namespace rlc {

// One element as it stands in the text: a number, a string in quotes, or a word (true, inf).
struct ElementText {
  std::string text;
  bool quoted = false;
};

// A float that reads back as the same float, with a mark of being one: "1.0", "1e-05", "-inf".
std::string SpellFloat(float value);

// "{1, 2}", a scalar's "0.5", or `bytes "hex"` where elements cannot be spelled.
std::string SpellElements(const Tensor& tensor);

// Precondition: dims have an element count that equals the number of elements.
Expected<Tensor> TensorFromText(DType dtype, std::vector<int64_t> dims, const std::vector<ElementText>& elements);

// The values of a constant that has none in the text. Error: a type without arithmetic (strings, 8-bit floats ...).
Expected<Tensor> GeneratedTensor(DType dtype, std::vector<int64_t> dims, std::string_view name);

}  // namespace rlc

#endif  // RLC_IR_TEXT_VALUES_H_
