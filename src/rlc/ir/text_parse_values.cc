#include <algorithm>
#include <charconv>
#include <utility>

#include "rlc/ir/text_parser.h"
#include "rlc/ir/text_values.h"

namespace rlc::text_internal {

// --- attributes ----------------------------------------------------------------------------------------------------

Expected<std::vector<Attribute>> Parser::Attributes(const Graph& graph) {
  std::vector<Attribute> attributes;
  while (!Skip(">")) {
    RLC_ASSIGN_OR_RETURN(std::string name, Name("the name of an attribute"));
    for (const Attribute& other : attributes) {
      if (other.name == name) return Fail(fmt::format("one value for the attribute '{}' before this", name));
    }
    RLC_RETURN_IF_ERROR(Want("="));
    RLC_ASSIGN_OR_RETURN(AttributeValue value, Value(graph, name));
    attributes.push_back({std::move(name), std::move(value), ""});
    if (!Skip(",") && !Peek().Is(">")) return Fail("',' or '>'");
  }
  return attributes;
}

Expected<float> Parser::Float() {
  const std::string text = Peek().text;
  const std::string_view digits = std::string_view(text).substr(text.starts_with('+') ? 1 : 0);
  float value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return Fail("a float");
  Take();
  return value;
}

Expected<AttributeValue> Parser::Value(const Graph& graph, const std::string& name) {
  const Token& token = Peek();
  if (token.Is("[")) return ListValue(graph, name);
  if (token.kind == Token::Kind::kQuoted) return Take().text;
  if (token.kind == Token::Kind::kInt) return Int("an integer");
  if (AtOpaque()) {
    Take();
    RLC_ASSIGN_OR_RETURN(std::string bytes, HexBytes());
    return OpaqueAttribute{std::move(bytes)};
  }
  if (token.IsName("graph")) {
    RLC_ASSIGN_OR_RETURN(Graph body, GraphBlock(graph.opsets()));
    return std::make_shared<const Graph>(std::move(body));
  }
  if (AtType()) {
    if (Peek(2).Is("]") && DTypeFromName(token.text) == DType::kUndefined) {
      const std::string kind = Take().text;
      Take();
      Take();
      if (kind == "ints") return std::vector<int64_t>();
      if (kind == "floats") return std::vector<float>();
      if (kind == "strings") return std::vector<std::string>();
      if (kind == "tensors") return std::vector<Tensor>();
      if (kind == "graphs") return std::vector<Body>();
      return Fail(fmt::format("ints, floats, strings, tensors or graphs instead of '{}' before this", kind));
    }
    return TensorValue(name);
  }
  return Float();
}

Expected<AttributeValue> Parser::NumberList() {
  std::vector<int64_t> ints;
  std::vector<float> floats;
  bool all_ints = true;
  while (!Skip("]")) {
    if (all_ints && Peek().kind == Token::Kind::kInt) {
      RLC_ASSIGN_OR_RETURN(const int64_t value, Int("an integer"));
      ints.push_back(value);
      floats.push_back(static_cast<float>(value));
    } else {
      all_ints = false;
      RLC_ASSIGN_OR_RETURN(const float value, Float());
      floats.push_back(value);
    }
    if (!Skip(",") && !Peek().Is("]")) return Fail("',' or ']'");
  }
  if (all_ints) return ints;
  return floats;
}

Expected<AttributeValue> Parser::ListValue(const Graph& graph, const std::string& name) {
  Take();  // [
  const bool strings = Peek().kind == Token::Kind::kQuoted;
  const bool bodies = Peek().IsName("graph");
  if (!strings && !bodies && !AtType()) return NumberList();
  std::vector<std::string> texts;
  std::vector<Body> graphs;
  std::vector<Tensor> tensors;
  do {
    RLC_ASSIGN_OR_RETURN(AttributeValue value, Value(graph, fmt::format("{}{}", name, tensors.size())));
    if (strings && std::holds_alternative<std::string>(value)) {
      texts.push_back(std::get<std::string>(std::move(value)));
    } else if (bodies && std::holds_alternative<Body>(value)) {
      graphs.push_back(std::get<Body>(std::move(value)));
    } else if (!strings && !bodies && std::holds_alternative<Tensor>(value)) {
      tensors.push_back(std::get<Tensor>(std::move(value)));
    } else {
      return Fail("a list of one kind before this");
    }
  } while (Skip(","));
  RLC_RETURN_IF_ERROR(Want("]"));
  if (strings) return texts;
  if (bodies) return graphs;
  return tensors;
}

// --- types and tensors ---------------------------------------------------------------------------------------------

Expected<Type> Parser::ParseType() {
  if (AtOpaque()) {
    Take();
    Type type;
    type.kind = Type::Kind::kOpaque;
    RLC_ASSIGN_OR_RETURN(type.opaque, HexBytes());
    return type;
  }
  const DType elem = DTypeFromName(Peek().text);
  if (elem == DType::kUndefined) return Fail("an element type (float, int64, ...)");
  Take();
  Take();  // [
  if (Skip("*")) {
    RLC_RETURN_IF_ERROR(Want("]"));
    return Type::Tensor(elem);
  }
  Shape shape;
  while (!Skip("]")) {
    if (Skip("?")) {
      shape.emplace_back();
    } else if (Peek().kind == Token::Kind::kInt) {
      RLC_ASSIGN_OR_RETURN(const int64_t size, Int("a dimension"));
      if (size < 0) return Fail("a dimension of 0 or more before this");
      shape.push_back(Dim::Of(size));
    } else {
      RLC_ASSIGN_OR_RETURN(std::string symbol, Name("a dimension"));
      shape.push_back(Dim::Named(std::move(symbol)));
    }
    if (!Skip(",") && !Peek().Is("]")) return Fail("',' or ']'");
  }
  return Type::Tensor(elem, std::move(shape));
}

Expected<Tensor> Parser::TensorValue(const std::string& name) {
  RLC_ASSIGN_OR_RETURN(const Type type, ParseType());
  const auto dims = type.is_tensor() && type.shape ? StaticDims(*type.shape) : std::nullopt;
  if (!dims || !ElementCount(*dims)) return Fail("a tensor type with a known shape before this");
  if (Skip("=")) return Elements(type.elem, *dims);
  RLC_RETURN_IF_ERROR(Charge(type.elem, *dims));
  auto tensor = GeneratedTensor(type.elem, *dims, name);
  if (!tensor) return WithContext(tensor.error(), lexer_.Place(Peek().offset));
  return tensor;
}

Expected<void> Parser::Charge(DType dtype, const std::vector<int64_t>& dims) {
  // At least 4 bytes an element: making small ones takes that much, too.
  const int64_t count = ElementCount(dims).value_or(INT64_MAX);
  const int64_t left = options_.max_generated_bytes - generated_bytes_;
  const int64_t size = std::max<int64_t>(BitsOf(dtype) / 8, 4);
  if (count > left / size) {
    return Fail(
        fmt::format("constants without values to have {} bytes at most before this", options_.max_generated_bytes));
  }
  generated_bytes_ += count * size;
  return {};
}

Expected<Tensor> Parser::Elements(DType dtype, std::vector<int64_t> dims) {
  const size_t offset = Peek().offset;
  if (Peek().IsName("bytes") && Peek(1).kind == Token::Kind::kQuoted) {
    Take();
    RLC_ASSIGN_OR_RETURN(std::string bytes, HexBytes());
    const bool known = BitsOf(dtype) != 0;
    if (dtype == DType::kString || !ElementCount(dims) ||
        (known && ByteSize(dtype, dims) != static_cast<int64_t>(bytes.size()))) {
      return MakeError(ErrorKind::kInvalidInput, "{}: {} bytes do not make a tensor of this type", lexer_.Place(offset),
                       bytes.size());
    }
    return Tensor::FromBytes(dtype, std::move(dims), std::move(bytes));
  }
  std::vector<ElementText> elements;
  const bool braces = Skip("{");
  while (!braces || !Skip("}")) {
    const Token::Kind kind = Peek().kind;
    if (kind == Token::Kind::kSymbol || kind == Token::Kind::kEnd) return Fail("an element");
    elements.push_back({Take().text, kind == Token::Kind::kQuoted});
    if (!braces) break;
    if (!Skip(",") && !Peek().Is("}")) return Fail("',' or '}'");
  }
  if (static_cast<int64_t>(elements.size()) != ElementCount(dims)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: {} elements do not fill a tensor [{}]", lexer_.Place(offset),
                     elements.size(), fmt::join(dims, ","));
  }
  auto tensor = TensorFromText(dtype, std::move(dims), elements);
  if (!tensor) return WithContext(tensor.error(), lexer_.Place(offset));
  return tensor;
}

}  // namespace rlc::text_internal
