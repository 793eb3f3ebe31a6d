// Types of values: element types, dimensions, shapes.
#ifndef RLC_IR_TYPE_H_
#define RLC_IR_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlc {

// Element types, numbered as in ONNX's TensorProto.DataType. Numbers that this list does not know (newer ONNX) are
// legal values of the enum: such tensors pass through as bytes.
enum class DType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
};

// "float", "int64", ...: ONNX's own lower-case names; "type99" for a number without a name.
std::string DTypeName(DType type);
// The reverse; kUndefined for an unknown name.
DType DTypeFromName(std::string_view name);
// Bits of one element; 0 for strings and for types that rlc does not know.
int BitsOf(DType type);
// True for kFloat, kDouble, kFloat16 and kBFloat16: the types whose arithmetic rlc reasons about as real numbers.
bool IsFloat(DType type);
bool IsInteger(DType type);  // signed and unsigned, 8 to 64 bits; not bool

// One dimension: a number, a name (equal names are equal sizes), or unknown.
struct Dim {
  int64_t value = -1;      // >= 0: known
  std::string symbol;      // used when value < 0; empty: unknown
  std::string denotation;  // ONNX's DimensionProto.denotation, kept only

  static Dim Of(int64_t value) { return Dim{value, {}, {}}; }
  static Dim Named(std::string symbol) { return Dim{-1, std::move(symbol), {}}; }
  bool known() const { return value >= 0; }
  // Provably the same size: equal numbers, or equal non-empty names.
  bool SameAs(const Dim& other) const {
    return known() ? value == other.value : !symbol.empty() && !other.known() && symbol == other.symbol;
  }
  bool operator==(const Dim&) const = default;
};

using Shape = std::vector<Dim>;

// All dimensions as numbers, or nothing when one is not known.
std::optional<std::vector<int64_t>> StaticDims(const Shape& shape);
// Product of dimensions; nothing when one is negative or the product does not fit in int64.
std::optional<int64_t> ElementCount(const std::vector<int64_t>& dims);
// "[1,3,N,?]"
std::string ToString(const Shape& shape);

// The type of a value. `kind` tells which fields count.
struct Type {
  enum class Kind {
    kUnknown,  // no record
    kTensor,   // elem and shape
    kOpaque,   // sequence, map, optional, sparse tensor: `opaque` holds the serialized TypeProto
  };
  Kind kind = Kind::kUnknown;
  DType elem = DType::kUndefined;
  std::optional<Shape> shape;  // nothing: unknown rank
  std::string opaque;          // kOpaque: TypeProto bytes. kTensor: denotation of the type, mostly empty

  static Type Tensor(DType elem, std::optional<Shape> shape = std::nullopt) {
    return Type{Kind::kTensor, elem, std::move(shape), {}};
  }
  bool is_tensor() const { return kind == Kind::kTensor; }
  // Rank if known, else -1.
  int rank() const { return is_tensor() && shape ? static_cast<int>(shape->size()) : -1; }
  bool operator==(const Type&) const = default;
};

std::string ToString(const Type& type);  // "float[1,3,N,?]", "float[*]" for unknown rank, "?" for no record

}  // namespace rlc

#endif  // RLC_IR_TYPE_H_
