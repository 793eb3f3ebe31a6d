#include "rlc/measure/inputs.h"

#include <algorithm>
#include <array>
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

Expected<Tensor> RandomTensor(const InterfaceValue& input, const std::vector<int64_t>& dims, const InputRanges& ranges,
                              Rng& rng) {
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
  const auto real = [&] { return ranges.signed_floats ? rng.Normal() : rng.UniformReal(); };
  const auto known_bound = ranges.bounds.find(input.name);
  const auto bound = static_cast<uint64_t>(known_bound == ranges.bounds.end() ? 2 : known_bound->second);
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
    const size_t width = static_cast<size_t>(BitsOf(dtype)) / 8;
    for (size_t i = 0; i < raw.size(); i += width) {
      const uint64_t value = rng.UniformInt(dtype == DType::kBool ? 2 : bound);
      std::memcpy(raw.data() + i, &value, width);  // little-endian
    }
  }
  return Tensor::FromBytes(dtype, dims, std::move(raw));
}

// Rows of the table that `node` looks its input `index` up in; -1: it does something else.
int64_t TableRows(const Graph& graph, const Node& node, int index) {
  if (!node.Is("Gather") || index != 1) return -1;
  const auto axis = node.GetInt("axis", 0);
  const Type& table = graph.type(node.input(0));
  if (!axis || !table.shape || table.shape->empty()) return -1;
  const auto rank = static_cast<int64_t>(table.shape->size());
  const int64_t place = *axis < 0 ? *axis + rank : *axis;
  return place >= 0 && place < rank ? (*table.shape)[static_cast<size_t>(place)].value : -1;
}

bool KeepsValues(const Node& node) {
  constexpr std::array kOps = {"Cast", "Identity", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Transpose", "Expand"};
  return std::any_of(kOps.begin(), kOps.end(), [&](const char* op) { return node.Is(op); });
}

// The smallest table that the value is looked up in, on whatever way; -1: none.
int64_t SmallestTable(const Graph& graph, ValueId value, int depth = 0) {
  constexpr int kMaxDepth = 16;
  int64_t smallest = -1;
  for (const Use& use : graph.value(value).uses) {
    if (use.input == Use::kCapture) continue;
    const Node& node = graph.node(use.node);
    int64_t rows = TableRows(graph, node, use.input);
    if (rows < 0 && use.input == 0 && depth < kMaxDepth && KeepsValues(node)) {
      rows = SmallestTable(graph, node.output(0), depth + 1);
    }
    if (rows > 0 && (smallest < 0 || rows < smallest)) smallest = rows;
  }
  return smallest;
}

}  // namespace

std::map<std::string, int64_t> IntegerBounds(const Graph& graph) {
  std::map<std::string, int64_t> bounds;
  for (const ValueId input : graph.inputs()) {
    const Type& type = graph.type(input);
    if (!type.is_tensor() || !IsInteger(type.elem)) continue;
    const int64_t largest = type.elem == DType::kUint8 ? 256 : 128;
    const int64_t rows = SmallestTable(graph, input);
    if (rows > 0) {
      bounds[graph.value(input).name] = BitsOf(type.elem) == 8 ? std::min(rows, largest) : rows;
    } else if (BitsOf(type.elem) == 8) {
      bounds[graph.value(input).name] = largest;
    }
  }
  return bounds;
}

Expected<std::vector<NamedTensor>> RandomInputs(std::span<const InterfaceValue> inputs, const RunShapes& shapes,
                                                uint64_t seed, const InputRanges& ranges) {
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
    RLC_ASSIGN_OR_RETURN(Tensor tensor, RandomTensor(inputs[i], dims, ranges, own));
    tensors.push_back({inputs[i].name, std::move(tensor)});
  }
  return tensors;
}

}  // namespace rlc
