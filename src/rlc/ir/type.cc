#include "rlc/ir/type.h"

#include <array>
#include <charconv>
#include <utility>

#include "rlc/base/error.h"

namespace rlc {
namespace {

struct DTypeRow {
  DType type;
  std::string_view name;
  int bits;
};

constexpr std::array<DTypeRow, 23> kDTypes = {{
    {DType::kFloat, "float", 32},
    {DType::kUint8, "uint8", 8},
    {DType::kInt8, "int8", 8},
    {DType::kUint16, "uint16", 16},
    {DType::kInt16, "int16", 16},
    {DType::kInt32, "int32", 32},
    {DType::kInt64, "int64", 64},
    {DType::kString, "string", 0},
    {DType::kBool, "bool", 8},
    {DType::kFloat16, "float16", 16},
    {DType::kDouble, "double", 64},
    {DType::kUint32, "uint32", 32},
    {DType::kUint64, "uint64", 64},
    {DType::kComplex64, "complex64", 64},
    {DType::kComplex128, "complex128", 128},
    {DType::kBFloat16, "bfloat16", 16},
    {DType::kFloat8E4M3FN, "float8e4m3fn", 8},
    {DType::kFloat8E4M3FNUZ, "float8e4m3fnuz", 8},
    {DType::kFloat8E5M2, "float8e5m2", 8},
    {DType::kFloat8E5M2FNUZ, "float8e5m2fnuz", 8},
    {DType::kUint4, "uint4", 4},
    {DType::kInt4, "int4", 4},
    {DType::kFloat4E2M1, "float4e2m1", 4},
}};

const DTypeRow* FindRow(DType type) {
  for (const DTypeRow& row : kDTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

constexpr std::string_view kNumberedPrefix = "type";

}  // namespace

std::string DTypeName(DType type) {
  if (const DTypeRow* row = FindRow(type)) return std::string(row->name);
  return fmt::format("{}{}", kNumberedPrefix, static_cast<int32_t>(type));
}

DType DTypeFromName(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.type;
  }
  if (!name.starts_with(kNumberedPrefix)) return DType::kUndefined;
  const std::string_view digits = name.substr(kNumberedPrefix.size());
  int32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return DType::kUndefined;
  return static_cast<DType>(number);
}

int BitsOf(DType type) {
  const DTypeRow* row = FindRow(type);
  return row ? row->bits : 0;
}

bool IsFloat(DType type) {
  return type == DType::kFloat || type == DType::kDouble || type == DType::kFloat16 || type == DType::kBFloat16;
}

bool IsInteger(DType type) {
  switch (type) {
    case DType::kInt8:
    case DType::kUint8:
    case DType::kInt16:
    case DType::kUint16:
    case DType::kInt32:
    case DType::kUint32:
    case DType::kInt64:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
}

std::optional<std::vector<int64_t>> StaticDims(const Shape& shape) {
  std::vector<int64_t> dims;
  dims.reserve(shape.size());
  for (const Dim& dim : shape) {
    if (!dim.known()) return std::nullopt;
    dims.push_back(dim.value);
  }
  return dims;
}

std::optional<int64_t> ElementCount(const std::vector<int64_t>& dims) {
  // A zero anywhere makes the product zero, however large the others are.
  bool zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    zero = zero || dim == 0;
  }
  if (zero) return 0;
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  return count;
}

std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (const Dim& dim : shape) {
    if (text.size() > 1) text += ',';
    if (dim.known()) {
      text += std::to_string(dim.value);
    } else {
      text += dim.symbol.empty() ? "?" : dim.symbol;
    }
  }
  return text + "]";
}

std::string ToString(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kUnknown:
      return "?";
    case Type::Kind::kOpaque:
      return "opaque";
    case Type::Kind::kTensor:
      break;
  }
  return DTypeName(type.elem) + (type.shape ? ToString(*type.shape) : "[*]");
}

}  // namespace rlc
