#include <charconv>
#include <utility>

#include "rlc/ir/text_parser.h"

namespace rlc {
namespace text_internal {
namespace {

constexpr int kDefaultOpset = 17;
constexpr int64_t kDefaultIrVersion = 8;

}  // namespace

// --- tokens --------------------------------------------------------------------------------------------------------

const Token& Parser::Peek(size_t ahead) {
  while (ahead_.size() <= ahead) {
    Expected<Token> token = lexer_error_.empty() ? lexer_.Next() : Token{};
    if (!token) {
      lexer_error_ = token.error().message;
      token = Token{};
    }
    ahead_.push_back(*std::move(token));
  }
  return ahead_[ahead];
}

Token Parser::Take() {
  Peek();
  Token token = std::move(ahead_.front());
  ahead_.pop_front();
  return token;
}

bool Parser::Skip(std::string_view symbol) {
  if (!Peek().Is(symbol)) return false;
  Take();
  return true;
}

bool Parser::SkipName(std::string_view name) {
  if (!Peek().IsName(name)) return false;
  Take();
  return true;
}

Unexpected Parser::Fail(std::string_view wanted) {
  const Token& token = Peek();
  if (token.kind == Token::Kind::kEnd && !lexer_error_.empty()) {
    return MakeError(ErrorKind::kInvalidInput, "{}", lexer_error_);
  }
  const std::string found = token.kind == Token::Kind::kEnd ? "the end" : "'" + token.text + "'";
  return MakeError(ErrorKind::kInvalidInput, "{}: found {}, wanted {}", lexer_.Place(token.offset), found, wanted);
}

Expected<void> Parser::Want(std::string_view symbol) {
  if (!Skip(symbol)) return Fail("'" + std::string(symbol) + "'");
  return {};
}

Expected<std::string> Parser::Name(std::string_view wanted) {
  const Token& token = Peek();
  const bool named = token.kind == Token::Kind::kQuoted || (token.kind == Token::Kind::kName && token.text != "_");
  if (!named || token.text.empty()) return Fail(wanted);
  return Take().text;
}

Expected<std::string> Parser::HexBytes() {
  if (Peek().kind != Token::Kind::kQuoted) return Fail("bytes as a string of hex digits");
  auto bytes = FromHex(Peek().text);
  if (!bytes) return WithContext(bytes.error(), lexer_.Place(Peek().offset));
  Take();
  return bytes;
}

Expected<int64_t> Parser::Int(std::string_view wanted) {
  const Token& token = Peek();
  std::string_view digits = token.text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (token.kind != Token::Kind::kInt || !whole) return Fail(wanted);
  Take();
  return value;
}

// --- structure -----------------------------------------------------------------------------------------------------

Expected<Model> Parser::ParseAll() {
  Model model;
  model.ir_version = kDefaultIrVersion;
  RLC_RETURN_IF_ERROR(Header(model));
  RLC_ASSIGN_OR_RETURN(model.graph, GraphBlock(model.graph.opsets()));
  while (SkipName("function")) {
    RLC_ASSIGN_OR_RETURN(OpName op, Op());
    RLC_ASSIGN_OR_RETURN(std::string bytes, HexBytes());
    model.functions.push_back({std::move(op.domain), std::move(op.op), std::move(op.overload), std::move(bytes)});
  }
  if (Peek().kind != Token::Kind::kEnd || !lexer_error_.empty()) return Fail("the end");
  return model;
}

Expected<void> Parser::Header(Model& model) {
  model.graph.SetOpset("", kDefaultOpset);
  if (!Skip("<")) return {};
  std::map<std::string, int> opsets = {{"", kDefaultOpset}};
  while (!Skip(">")) {
    if (SkipName("ir")) {
      RLC_ASSIGN_OR_RETURN(model.ir_version, Int("an IR version"));
    } else if (SkipName("opset")) {
      std::string domain;
      if (Peek().kind != Token::Kind::kInt) {
        RLC_ASSIGN_OR_RETURN(domain, Name("a domain or a version"));
      }
      RLC_ASSIGN_OR_RETURN(const int64_t version, Int("a version"));
      if (version < 0 || version > INT32_MAX) return Fail("a version from 0 to 2147483647 before this");
      opsets[domain] = static_cast<int>(version);
    } else {
      return Fail("'ir' or 'opset'");
    }
    if (!Skip(",") && !Peek().Is(">")) return Fail("',' or '>'");
  }
  Graph graph;
  for (const auto& [domain, version] : opsets) {
    if (!domain.empty() || version > 0) graph.SetOpset(domain, version);
  }
  model.graph = std::move(graph);
  return {};
}

Expected<Graph> Parser::GraphBlock(const std::map<std::string, int>& opsets) {
  Graph graph;
  if (!SkipName("graph")) return Fail("'graph'");
  if (static_cast<int>(scopes_.size()) > options_.max_depth) return Fail("fewer subgraphs inside each other");
  for (const auto& [domain, version] : opsets) graph.SetOpset(domain, version);
  graph.SetScope(names_, scopes_.empty() ? "" : fmt::format("b{}", ++bodies_));
  if (!Peek().Is("(")) {
    RLC_ASSIGN_OR_RETURN(std::string name, Name("the graph's name or '('"));
    graph.SetName(std::move(name));
  }
  scopes_.push_back(&graph);
  RLC_RETURN_IF_ERROR(Inputs(graph));
  RLC_RETURN_IF_ERROR(Want("=>"));
  RLC_RETURN_IF_ERROR(Want("("));
  std::vector<TypedName> outputs;
  if (!Peek().Is(")")) {
    RLC_ASSIGN_OR_RETURN(outputs, TypedNames("the name of an output"));
  }
  RLC_RETURN_IF_ERROR(Want(")"));
  RLC_RETURN_IF_ERROR(Want("{"));
  while (!Skip("}")) {
    if (Peek().Is("%")) {
      ValueId id = ValueId::kNone;
      RLC_RETURN_IF_ERROR(Constant(graph, id));
    } else {
      RLC_RETURN_IF_ERROR(NodeStatement(graph));
    }
  }
  RLC_RETURN_IF_ERROR(Outputs(graph, outputs));
  scopes_.pop_back();
  return graph;
}

Expected<void> Parser::Inputs(Graph& graph) {
  RLC_RETURN_IF_ERROR(Want("("));
  while (!Skip(")")) {
    Type type;
    if (AtType()) {
      RLC_ASSIGN_OR_RETURN(type, ParseType());
    }
    RLC_ASSIGN_OR_RETURN(std::string name, Name("the type or name of an input"));
    RLC_RETURN_IF_ERROR(Claim(graph, name));
    if (Skip("=")) {
      const auto dims = type.is_tensor() && type.shape ? StaticDims(*type.shape) : std::nullopt;
      if (!dims) return Fail("a type with a known shape before a default value");
      RLC_ASSIGN_OR_RETURN(Tensor tensor, Elements(type.elem, *dims));
      graph.AddOverridable(std::move(name), std::move(type), std::move(tensor));
    } else {
      graph.AddInput(std::move(name), std::move(type));
    }
    if (!Skip(",") && !Peek().Is(")")) return Fail("',' or ')'");
  }
  return {};
}

Expected<void> Parser::Outputs(Graph& graph, const std::vector<TypedName>& outputs) {
  for (const TypedName& output : outputs) {
    if (output.name.empty()) return Fail("a name, not '_', for every output of the graph that ends before this");
    RLC_ASSIGN_OR_RETURN(const ValueId id, Reference(graph, output.name));
    if (output.type.kind != Type::Kind::kUnknown) graph.SetType(id, output.type);
    graph.AddOutput(id);
  }
  return {};
}

Expected<std::vector<TypedName>> Parser::TypedNames(std::string_view wanted) {
  std::vector<TypedName> names;
  do {
    TypedName& item = names.emplace_back();
    if (AtType()) {
      RLC_ASSIGN_OR_RETURN(item.type, ParseType());
    }
    if (SkipName("_")) continue;
    RLC_ASSIGN_OR_RETURN(item.name, Name(wanted));
  } while (Skip(","));
  return names;
}

Expected<void> Parser::Claim(const Graph& graph, const std::string& name) {
  if (graph.Find(name) != ValueId::kNone) {
    return Fail(fmt::format("another name than '{}', which is taken, before this", name));
  }
  names_->insert(name);
  return {};
}

// --- constants and nodes -------------------------------------------------------------------------------------------

// %name, declared here or before.
Expected<void> Parser::Constant(Graph& graph, ValueId& id) {
  Take();  // %
  RLC_ASSIGN_OR_RETURN(const std::string name, Name("the name of a constant"));
  if (Peek().IsName("sparse") && Peek(1).kind == Token::Kind::kQuoted) {
    Take();
    RLC_ASSIGN_OR_RETURN(std::string bytes, HexBytes());
    RLC_RETURN_IF_ERROR(Claim(graph, name));
    id = graph.AddSparseInitializer(name, std::move(bytes));
  } else if (AtType()) {
    RLC_ASSIGN_OR_RETURN(Tensor tensor, TensorValue(name));
    RLC_RETURN_IF_ERROR(Claim(graph, name));
    id = graph.AddInitializer(name, std::move(tensor));
  } else {
    RLC_ASSIGN_OR_RETURN(id, Reference(graph, name));
    const Value::Kind kind = graph.value(id).kind;
    if (kind != Value::Kind::kInitializer && kind != Value::Kind::kCaptured) {
      return Fail(fmt::format("'{}' to be a constant (%) before this", name));
    }
  }
  return {};
}

Expected<ValueId> Parser::Input(Graph& graph) {
  if (SkipName("_")) return ValueId::kNone;
  if (Peek().Is("%")) {
    ValueId id = ValueId::kNone;
    RLC_RETURN_IF_ERROR(Constant(graph, id));
    return id;
  }
  RLC_ASSIGN_OR_RETURN(const std::string name, Name("the name of a value"));
  return Reference(graph, name);
}

Expected<ValueId> Parser::Reference(Graph& graph, const std::string& name) {
  if (const ValueId id = graph.Find(name); id != ValueId::kNone) return id;
  for (size_t i = scopes_.size() - 1; i-- > 0;) {
    const Graph& enclosing = *scopes_[i];
    const ValueId id = enclosing.Find(name);
    if (id == ValueId::kNone) continue;
    return graph.AddCaptured(name, enclosing.type(id));
  }
  return Fail(fmt::format("'{}' to be computed before it is read, before this", name));
}

Expected<void> Parser::NodeStatement(Graph& graph) {
  std::vector<TypedName> outputs;
  if (Skip("(")) {
    RLC_RETURN_IF_ERROR(Want(")"));
  } else {
    RLC_ASSIGN_OR_RETURN(outputs, TypedNames("a statement or '}'"));
  }
  RLC_RETURN_IF_ERROR(Want("="));
  RLC_ASSIGN_OR_RETURN(OpName op, Op());
  Node node;
  node.op = std::move(op.op);
  node.domain = std::move(op.domain);
  node.overload = std::move(op.overload);
  if (Skip("<")) {
    RLC_ASSIGN_OR_RETURN(node.attributes, Attributes(graph));
  }
  RLC_RETURN_IF_ERROR(Want("("));
  while (!Skip(")")) {
    RLC_ASSIGN_OR_RETURN(const ValueId input, Input(graph));
    node.inputs.push_back(input);
    if (!Skip(",") && !Peek().Is(")")) return Fail("',' or ')'");
  }
  if (Skip("@")) {
    RLC_ASSIGN_OR_RETURN(node.name, Name("the name of a node"));
  }
  if (Peek().IsName("layer") && Peek(1).kind == Token::Kind::kInt) {
    Take();
    RLC_ASSIGN_OR_RETURN(const int64_t layer, Int("the number of a layer"));
    if (layer < 0 || layer > INT32_MAX) return Fail("a layer's number from 0 to 2147483647 before this");
    node.layer = static_cast<int>(layer);
  }
  for (TypedName& output : outputs) {
    if (output.name.empty()) {
      node.outputs.push_back(ValueId::kNone);
      continue;
    }
    RLC_RETURN_IF_ERROR(Claim(graph, output.name));
    const bool typed = output.type.kind != Type::Kind::kUnknown;
    node.outputs.push_back(graph.AddValue(std::move(output.name), std::move(output.type)));
    graph.SetRecorded(node.outputs.back(), typed);
  }
  graph.AddNode(std::move(node));
  return {};
}

Expected<OpName> Parser::Op() {
  OpName name;
  const bool quoted = Peek().kind == Token::Kind::kQuoted;
  RLC_ASSIGN_OR_RETURN(name.op, Name("an operator"));
  const bool joined = !quoted && name.op.ends_with("::");
  if (joined || Peek().IsName("::")) {
    name.domain = joined ? name.op.substr(0, name.op.size() - 2) : name.op;
    if (!joined) Take();
    RLC_ASSIGN_OR_RETURN(name.op, Name("an operator"));
  } else if (const size_t colons = name.op.rfind("::"); !quoted && colons != std::string::npos) {
    name.domain = name.op.substr(0, colons);
    name.op = name.op.substr(colons + 2);
  }
  if (Peek().IsName("overload")) {
    Take();
    RLC_ASSIGN_OR_RETURN(name.overload, Name("an overload"));
  }
  return name;
}

}  // namespace text_internal

Expected<Model> ParseModelText(std::string_view text, const ParseOptions& options) {
  return text_internal::Parser(text, options).ParseAll();
}

Expected<Graph> ParseGraphText(std::string_view text, const ParseOptions& options) {
  RLC_ASSIGN_OR_RETURN(Model model, ParseModelText(text, options));
  return std::move(model.graph);
}

}  // namespace rlc
