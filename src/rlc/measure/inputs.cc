#include "rlc/measure/inputs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rlc/base/format.h"
#include "rlc/base/rng.h"

namespace rlc {
namespace {

// A random input is no place for gigabytes: a wrong --shape should say so, not swap.
constexpr int64_t kMaxInputBytes = int64_t{2} << 30;

// "name:1,3,?,224" as a hint for the flag.
std::string FlagFor(const InterfaceValue& input) {
  std::string flag = "--shape " + input.name + ":";
  for (size_t i = 0; i < input.type.shape->size(); ++i) {
    const Dim& dim = (*input.type.shape)[i];
    if (i > 0) flag += ',';
    flag += dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return flag;
}

Expected<std::vector<int64_t>> ConcreteDims(const InterfaceValue& input, const RunShapes& shapes) {
  const auto given = shapes.find(input.name);
  if (!input.type.shape) return given == shapes.end() ? std::vector<int64_t>{} : given->second;
  const Shape& shape = *input.type.shape;
  std::vector<int64_t> dims;
  if (given != shapes.end()) {
    bool fits = given->second.size() == shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i) {
      fits = given->second[i] >= 0 && (!shape[i].known() || shape[i].value == given->second[i]);
    }
    if (!fits) {
      return MakeError(ErrorKind::kUsage, "input '{}' is {}, which cannot have the shape {}", input.name,
                       ToString(input.type), FormatShape(given->second));
    }
    return given->second;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].known() && i > 0) {
      return MakeError(ErrorKind::kUsage, "input '{}' is {}: say with which size to run, as in {}", input.name,
                       ToString(input.type), FlagFor(input));
    }
    dims.push_back(shape[i].known() ? shape[i].value : 1);
  }
  return dims;
}

template <typename T, typename Draw>
Tensor Fill(const std::vector<int64_t>& dims, int64_t count, Draw draw) {
  std::vector<T> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), draw);
  return Tensor::Of<T>(dims, values);
}

Expected<Tensor> RandomTensor(const InterfaceValue& input, const std::vector<int64_t>& dims, Rng& rng) {
  const DType dtype = input.type.elem;
  const auto bytes = ByteSize(dtype, dims);
  const auto count = ElementCount(dims);
  if (!input.type.is_tensor() || !count || (!bytes && dtype != DType::kString)) {
    return MakeError(ErrorKind::kUnavailable,
                     "input '{}' is {}, for which rlc makes no random values; give data with --data", input.name,
                     ToString(input.type));
  }
  if (bytes.value_or(0) > kMaxInputBytes) {
    return MakeError(ErrorKind::kUsage, "input '{}' of shape {} would have {}; use a smaller shape", input.name,
                     FormatShape(dims), FormatBytes(static_cast<double>(*bytes)));
  }
  const auto real = [&] { return rng.UniformReal(); };
  const auto bit = [&] { return rng.Bernoulli(0.5); };
  switch (dtype) {
    case DType::kFloat:
      return Fill<float>(dims, *count, [&] { return static_cast<float>(real()); });
    case DType::kDouble:
      return Fill<double>(dims, *count, real);
    case DType::kFloat16:
    case DType::kBFloat16: {
      std::vector<double> values(static_cast<size_t>(*count));
      std::generate(values.begin(), values.end(), real);
      return Tensor::FromDoubles(dtype, dims, values);
    }
    case DType::kString:
      return Tensor::FromStrings(dims, std::vector<std::string>(static_cast<size_t>(*count)));
    default:
      break;
  }
  std::string raw(static_cast<size_t>(*bytes), '\0');
  if (dtype == DType::kBool || IsInteger(dtype)) {
    // Little-endian: the first byte of each element holds the 0 or 1.
    const size_t step = static_cast<size_t>(BitsOf(dtype)) / 8;
    for (size_t i = 0; i < raw.size(); i += step) raw[i] = bit() ? '\1' : '\0';
  }
  return Tensor::FromBytes(dtype, dims, std::move(raw));
}

}  // namespace

Expected<std::vector<NamedTensor>> RandomInputs(std::span<const InterfaceValue> inputs, const RunShapes& shapes,
                                                uint64_t seed) {
  for (const auto& [name, dims] : shapes) {
    if (std::none_of(inputs.begin(), inputs.end(), [&](const InterfaceValue& input) { return input.name == name; })) {
      return MakeError(ErrorKind::kUsage, "--shape {}: the model has no such input", name);
    }
  }
  std::vector<NamedTensor> tensors;
  const Rng rng(seed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Rng own = rng.Fork(i);  // an input's values do not depend on the others' sizes
    RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, ConcreteDims(inputs[i], shapes));
    RLC_ASSIGN_OR_RETURN(Tensor tensor, RandomTensor(inputs[i], dims, own));
    tensors.push_back({inputs[i].name, std::move(tensor)});
  }
  return tensors;
}

}  // namespace rlc
