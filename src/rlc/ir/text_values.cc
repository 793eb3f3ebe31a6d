#include "rlc/ir/text_values.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "rlc/base/hash.h"
#include "rlc/base/rng.h"
#include "rlc/ir/text_lexer.h"

namespace rlc {
namespace {

Unexpected BadElement(const ElementText& element, DType dtype) {
  return MakeError(ErrorKind::kInvalidInput, "'{}' is no value of type {}", element.text, DTypeName(dtype));
}

template <typename T>
bool ParseWhole(std::string_view text, T& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename T>
Expected<Tensor> Numbers(std::vector<int64_t> dims, const std::vector<ElementText>& elements) {
  std::vector<T> values;
  values.reserve(elements.size());
  for (const ElementText& element : elements) {
    T value{};
    if (element.quoted || !ParseWhole(element.text, value)) return BadElement(element, DTypeOf<T>::value);
    values.push_back(value);
  }
  return Tensor::Of<T>(std::move(dims), values);
}

Expected<Tensor> HalfFloats(DType dtype, std::vector<int64_t> dims, const std::vector<ElementText>& elements) {
  std::vector<double> values;
  values.reserve(elements.size());
  for (const ElementText& element : elements) {
    double value = 0;
    if (element.quoted || !ParseWhole(element.text, value)) return BadElement(element, dtype);
    values.push_back(value);
  }
  return Tensor::FromDoubles(dtype, std::move(dims), values);
}

Expected<Tensor> Bools(std::vector<int64_t> dims, const std::vector<ElementText>& elements) {
  std::string bytes;
  for (const ElementText& element : elements) {
    const bool yes = element.text == "true" || element.text == "1";
    const bool no = element.text == "false" || element.text == "0";
    if (element.quoted || (!yes && !no)) return BadElement(element, DType::kBool);
    bytes += yes ? '\1' : '\0';
  }
  return Tensor::FromBytes(DType::kBool, std::move(dims), std::move(bytes));
}

// Two to a byte, low half first.
std::string PackNibbles(const std::vector<int64_t>& values) {
  std::string bytes((values.size() + 1) / 2, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const int shifted = static_cast<int>(values[i] & 15) << (i % 2 == 0 ? 0 : 4);
    bytes[i / 2] = static_cast<char>(static_cast<unsigned char>(bytes[i / 2]) | shifted);
  }
  return bytes;
}

Expected<Tensor> Nibbles(DType dtype, std::vector<int64_t> dims, const std::vector<ElementText>& elements) {
  const int64_t low = dtype == DType::kInt4 ? -8 : 0;
  std::vector<int64_t> values;
  for (const ElementText& element : elements) {
    int64_t value = 0;
    if (element.quoted || !ParseWhole(element.text, value) || value < low || value > low + 15) {
      return BadElement(element, dtype);
    }
    values.push_back(value);
  }
  return Tensor::FromBytes(dtype, std::move(dims), PackNibbles(values));
}

// The spelled elements of a tensor; empty when some cannot be spelled.
template <typename T>
void Append(std::vector<std::string>& words, const Tensor& tensor) {
  for (const T value : tensor.data<T>()) words.push_back(fmt::format("{}", value));
}

std::vector<std::string> SpelledWords(const Tensor& tensor) {
  std::vector<std::string> words;
  switch (tensor.dtype()) {
    case DType::kFloat:
      Append<float>(words, tensor);
      break;
    case DType::kDouble:
      Append<double>(words, tensor);
      break;
    case DType::kUint64:
      Append<uint64_t>(words, tensor);
      break;
    case DType::kFloat16:
    case DType::kBFloat16:
      if (const auto values = tensor.ToDoubles()) {
        for (const double value : *values) words.push_back(fmt::format("{}", value));
      }
      break;
    case DType::kString:
      for (const std::string& text : tensor.strings()) words.push_back(Quote(text));
      break;
    case DType::kBool:
      for (const std::byte byte : tensor.bytes()) words.push_back(byte == std::byte{1} ? "true" : "false");
      break;
    default:
      if (const auto values = tensor.ToInt64s()) {
        for (const int64_t value : *values) words.push_back(fmt::format("{}", value));
      }
  }
  return words;
}

// True when reading the words back gives the same bytes: not for NaNs with a payload, bools like 7, unknown types.
bool ReadsBack(const Tensor& tensor, const std::vector<std::string>& words) {
  if (static_cast<int64_t>(words.size()) != tensor.size()) return false;
  if (tensor.dtype() == DType::kString) return true;
  if (words.empty()) return BitsOf(tensor.dtype()) != 0;
  std::vector<ElementText> elements;
  elements.reserve(words.size());
  for (const std::string& word : words) elements.push_back({word, false});
  const auto again = TensorFromText(tensor.dtype(), tensor.dims(), elements);
  return again && again->SameAs(tensor);
}

}  // namespace

std::string SpellFloat(float value) {
  std::string text = fmt::format("{}", value);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string SpellElements(const Tensor& tensor) {
  const std::vector<std::string> words = SpelledWords(tensor);
  if (!ReadsBack(tensor, words)) {
    const auto bytes = tensor.bytes();
    return "bytes \"" + ToHex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) + "\"";
  }
  if (tensor.rank() == 0) return words[0];
  return fmt::format("{{{}}}", fmt::join(words, ", "));
}

Expected<Tensor> TensorFromText(DType dtype, std::vector<int64_t> dims, const std::vector<ElementText>& elements) {
  switch (dtype) {
    case DType::kFloat:
      return Numbers<float>(std::move(dims), elements);
    case DType::kDouble:
      return Numbers<double>(std::move(dims), elements);
    case DType::kInt8:
      return Numbers<int8_t>(std::move(dims), elements);
    case DType::kUint8:
      return Numbers<uint8_t>(std::move(dims), elements);
    case DType::kInt16:
      return Numbers<int16_t>(std::move(dims), elements);
    case DType::kUint16:
      return Numbers<uint16_t>(std::move(dims), elements);
    case DType::kInt32:
      return Numbers<int32_t>(std::move(dims), elements);
    case DType::kUint32:
      return Numbers<uint32_t>(std::move(dims), elements);
    case DType::kInt64:
      return Numbers<int64_t>(std::move(dims), elements);
    case DType::kUint64:
      return Numbers<uint64_t>(std::move(dims), elements);
    case DType::kFloat16:
    case DType::kBFloat16:
      return HalfFloats(dtype, std::move(dims), elements);
    case DType::kBool:
      return Bools(std::move(dims), elements);
    case DType::kInt4:
    case DType::kUint4:
      return Nibbles(dtype, std::move(dims), elements);
    case DType::kString: {
      std::vector<std::string> strings;
      for (const ElementText& element : elements) {
        if (!element.quoted) return BadElement(element, dtype);
        strings.push_back(element.text);
      }
      return Tensor::FromStrings(std::move(dims), std::move(strings));
    }
    default:
      return MakeError(ErrorKind::kInvalidInput, "elements of type {} cannot be spelled: write bytes \"hex\"",
                       DTypeName(dtype));
  }
}

Expected<Tensor> GeneratedTensor(DType dtype, std::vector<int64_t> dims, std::string_view name) {
  Rng rng(Hash64(name));
  const auto count = static_cast<size_t>(ElementCount(dims).value_or(0));
  if (dtype == DType::kBool) {
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = rng.Bernoulli(0.5) ? '\1' : '\0';
    return Tensor::FromBytes(dtype, std::move(dims), std::move(bytes));
  }
  if (dtype == DType::kInt4 || dtype == DType::kUint4) {
    std::vector<int64_t> values(count);
    for (int64_t& value : values) value = rng.UniformRange(0, 15);
    return Tensor::FromBytes(dtype, std::move(dims), PackNibbles(values));
  }
  std::vector<double> values(count);
  // Multiples of 1/256: the same in every float type but bfloat16, and short to print.
  const bool variance = name.find("var") != std::string_view::npos;
  const bool is_signed =
      dtype == DType::kInt8 || dtype == DType::kInt16 || dtype == DType::kInt32 || dtype == DType::kInt64;
  for (double& value : values) {
    if (IsFloat(dtype)) {
      value = static_cast<double>(rng.UniformRange(variance ? 128 : -256, variance ? 383 : 255)) / 256;
    } else {
      value = static_cast<double>(is_signed ? rng.UniformRange(-8, 7) : rng.UniformRange(0, 15));
    }
  }
  return Tensor::FromDoubles(dtype, std::move(dims), values);
}

}  // namespace rlc
