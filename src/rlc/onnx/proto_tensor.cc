#include "rlc/onnx/proto_tensor.h"

#include <onnx/onnx_pb.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace rlc {
namespace {

constexpr auto kInvalid = ErrorKind::kInvalidInput;

// Bits of one element in typed and raw form, for the types that DType has no name for, too (ONNX 1.19 and later).
int StorageBits(int data_type) {
  switch (data_type) {
    case onnx::TensorProto::FLOAT8E8M0:
      return 8;
    case onnx::TensorProto::UINT2:
    case onnx::TensorProto::INT2:
      return 2;
    case onnx::TensorProto::FLOAT6E2M3:
    case onnx::TensorProto::FLOAT6E3M2:
      return 6;
    default:
      return BitsOf(static_cast<DType>(data_type));
  }
}

template <typename Out, typename Field>
std::string Narrowed(const Field& field) {
  std::string bytes(static_cast<size_t>(field.size()) * sizeof(Out), '\0');
  char* to = bytes.data();
  for (const auto element : field) {
    const Out narrow = static_cast<Out>(element);
    std::memcpy(to, &narrow, sizeof(Out));
    to += sizeof(Out);
  }
  return bytes;
}

// The typed field as little-endian bytes, and the field cleared. Nothing: this type has no typed field.
std::optional<std::string> TakeTyped(onnx::TensorProto& proto) {
  using T = onnx::TensorProto;
  std::string bytes;
  switch (proto.data_type()) {
    case T::FLOAT:
    case T::COMPLEX64:
      bytes = Narrowed<float>(proto.float_data());
      proto.clear_float_data();
      return bytes;
    case T::DOUBLE:
    case T::COMPLEX128:
      bytes = Narrowed<double>(proto.double_data());
      proto.clear_double_data();
      return bytes;
    case T::INT64:
      bytes = Narrowed<int64_t>(proto.int64_data());
      proto.clear_int64_data();
      return bytes;
    case T::UINT64:
      bytes = Narrowed<uint64_t>(proto.uint64_data());
      proto.clear_uint64_data();
      return bytes;
    case T::UINT32:
      bytes = Narrowed<uint32_t>(proto.uint64_data());
      proto.clear_uint64_data();
      return bytes;
    default:
      break;
  }
  const int bits = StorageBits(proto.data_type());
  if (bits == 32) {
    bytes = Narrowed<int32_t>(proto.int32_data());
  } else if (bits == 16) {
    bytes = Narrowed<uint16_t>(proto.int32_data());
  } else if (bits == 8 || bits == 4 || bits == 2) {
    bytes = Narrowed<uint8_t>(proto.int32_data());
  } else {
    return std::nullopt;
  }
  proto.clear_int32_data();
  return bytes;
}

bool HasTypedData(const onnx::TensorProto& proto) {
  return proto.float_data_size() + proto.int32_data_size() + proto.int64_data_size() + proto.double_data_size() +
             proto.uint64_data_size() + proto.string_data_size() >
         0;
}

// Bytes that elements of this type take (more than any file has when it overflows); nothing: the size is not known.
std::optional<uint64_t> WantedBytes(int data_type, int64_t elements) {
  const int bits = StorageBits(data_type);
  if (bits == 0) return std::nullopt;
  int64_t total = 0;
  if (__builtin_mul_overflow(elements, int64_t{bits}, &total)) return std::numeric_limits<int64_t>::max();
  return (static_cast<uint64_t>(total) + 7) / 8;
}

Expected<uint64_t> ParseCount(const std::string& text, const char* what, const std::string& where) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > uint64_t{1} << 62) {
    return MakeError(kInvalid, "{}: external data has {} \"{}\", which is not a number of bytes", where, what,
                     text.substr(0, 40));
  }
  return value;
}

struct Location {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Expected<Location> ReadLocation(const onnx::TensorProto& proto, const std::string& where) {
  Location location;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      location.file = entry.value();
    } else if (entry.key() == "offset") {
      RLC_ASSIGN_OR_RETURN(location.offset, ParseCount(entry.value(), "offset", where));
    } else if (entry.key() == "length") {
      RLC_ASSIGN_OR_RETURN(location.length, ParseCount(entry.value(), "length", where));
    }
  }
  if (location.file.empty()) return MakeError(kInvalid, "{}: external data without a location", where);
  return location;
}

Expected<Tensor> TakeExternal(onnx::TensorProto& proto, std::vector<int64_t> dims, int64_t elements,
                              ExternalData& external, const std::string& where) {
  const auto wanted = WantedBytes(proto.data_type(), elements);
  if (!wanted) return MakeError(kInvalid, "{}: tensors of type {} cannot be external data", where, proto.data_type());
  RLC_ASSIGN_OR_RETURN(const Location location, ReadLocation(proto, where));
  auto file = external.Open(location.file);
  if (!file) return WithContext(std::move(file).error(), where);
  const auto bytes = (*file)->bytes();
  if (location.length && *location.length != *wanted) {
    return MakeError(kInvalid, "{}: external data has {} bytes, the dimensions need {}", where, *location.length,
                     *wanted);
  }
  if (location.offset > bytes.size() || bytes.size() - location.offset < *wanted) {
    return MakeError(kInvalid, "{}: external data reaches to byte {} of {}, which has only {}", where,
                     location.offset + *wanted, location.file, bytes.size());
  }
  const auto view = bytes.subspan(location.offset, *wanted);
  const auto dtype = static_cast<DType>(proto.data_type());
  proto.clear_external_data();
  proto.clear_data_location();
  // Elements are read in place, so they must be aligned; files with odd offsets are rare enough to copy.
  if (reinterpret_cast<uintptr_t>(view.data()) % 8 != 0) {
    return Tensor::FromBytes(dtype, std::move(dims),
                             std::string(reinterpret_cast<const char*>(view.data()), view.size()));
  }
  return Tensor::FromView(dtype, std::move(dims), view, *std::move(file));
}

Expected<Tensor> TakeStrings(onnx::TensorProto& proto, std::vector<int64_t> dims, int64_t elements,
                             const std::string& where) {
  if (proto.string_data_size() != elements || proto.has_raw_data()) {
    return MakeError(kInvalid, "{}: has {} strings, its dimensions need {}", where, proto.string_data_size(), elements);
  }
  std::vector<std::string> strings;
  strings.reserve(proto.string_data_size());
  for (auto& text : *proto.mutable_string_data()) strings.push_back(std::move(text));
  proto.clear_string_data();
  return Tensor::FromStrings(std::move(dims), std::move(strings));
}

}  // namespace

Expected<std::shared_ptr<const MappedFile>> ExternalData::Open(const std::string& location) {
  namespace fs = std::filesystem;
  if (auto known = files_.find(location); known != files_.end()) return known->second;
  if (folder_.empty()) {
    return MakeError(kInvalid, "weights are in the file \"{}\", but this model was not read from a folder", location);
  }
  const fs::path relative(location);
  bool inside = relative.is_relative() && location.find('\0') == std::string::npos;
  for (const auto& part : relative) inside = inside && part != "..";
  std::error_code error;
  const fs::path root = fs::canonical(folder_, error);
  fs::path resolved;
  if (inside && !error) {
    resolved = fs::weakly_canonical(root / relative, error);
    const auto [at_root, at_path] = std::mismatch(root.begin(), root.end(), resolved.begin(), resolved.end());
    inside = at_root == root.end() && at_path != resolved.end();
  }
  if (!inside) {
    return MakeError(kInvalid, "external data \"{}\" lies outside the model's folder, which rlc does not follow",
                     location);
  }
  if (error || !fs::exists(resolved, error)) {
    return MakeError(kInvalid, "the external data file \"{}\" is missing; put it beside the model", location);
  }
  auto file = MappedFile::Open(resolved.string());
  if (!file) return Unexpected(std::move(file).error());
  files_.emplace(location, *file);
  return *std::move(file);
}

Expected<Tensor> TakeTensor(onnx::TensorProto& proto, ExternalData& external, const std::string& where) {
  std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  for (const int64_t dim : dims) {
    if (dim < 0) return MakeError(kInvalid, "{}: has a negative dimension ({})", where, dim);
  }
  const auto elements = ElementCount(dims);
  if (!elements) return MakeError(kInvalid, "{}: the product of its dimensions overflows", where);
  if (proto.has_segment()) return MakeError(kInvalid, "{}: is stored in segments, which ONNX has dropped", where);
  const int data_type = proto.data_type();
  if (data_type == 0) return MakeError(kInvalid, "{}: has no element type", where);
  if (!onnx::TensorProto_DataType_IsValid(data_type)) {
    return MakeError(kInvalid, "{}: has element type number {}, which ONNX does not have", where, data_type);
  }
  proto.clear_dims();
  Expected<Tensor> tensor;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    if (proto.has_raw_data() || HasTypedData(proto)) {
      return MakeError(kInvalid, "{}: has both external data and data in the file", where);
    }
    tensor = TakeExternal(proto, std::move(dims), *elements, external, where);
  } else if (data_type == onnx::TensorProto::STRING) {
    tensor = TakeStrings(proto, std::move(dims), *elements, where);
  } else {
    std::string bytes;
    const bool raw = proto.has_raw_data() && (proto.raw_data().size() > 0 || !HasTypedData(proto));
    if (raw) {
      bytes = std::move(*proto.mutable_raw_data());
    } else if (auto typed = TakeTyped(proto)) {
      bytes = *std::move(typed);
    } else {
      return MakeError(kInvalid, "{}: element type {} is unknown and has no raw data", where, data_type);
    }
    proto.clear_raw_data();
    if (HasTypedData(proto)) return MakeError(kInvalid, "{}: has data in more than one field", where);
    const auto wanted = WantedBytes(data_type, *elements);
    if (wanted && *wanted != bytes.size()) {
      return MakeError(kInvalid, "{}: has {} bytes of data, its dimensions need {}", where, bytes.size(), *wanted);
    }
    tensor = Tensor::FromBytes(static_cast<DType>(data_type), std::move(dims), std::move(bytes));
  }
  if (tensor) proto.clear_data_type();
  return tensor;
}

void TensorToProto(const Tensor& tensor, bool with_elements, onnx::TensorProto& proto) {
  proto.mutable_dims()->Add(tensor.dims().begin(), tensor.dims().end());
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  if (!with_elements) return;
  if (tensor.dtype() == DType::kString) {
    for (const std::string& text : tensor.strings()) proto.add_string_data(text);
    return;
  }
  const auto bytes = tensor.bytes();
  proto.set_raw_data(bytes.data(), bytes.size());
}

}  // namespace rlc
