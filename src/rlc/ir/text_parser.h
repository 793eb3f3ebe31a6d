// Recursive descent over the text form. Internal to ir: text.h has the interface, text_parse.cc the structure,
// text_parse_values.cc attributes, types and tensors.
#ifndef RLC_IR_TEXT_PARSER_H_
#define RLC_IR_TEXT_PARSER_H_

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "rlc/ir/text.h"
#include "rlc/ir/text_lexer.h"

namespace rlc::text_internal {

struct OpName {
  std::string domain, op, overload;
};

struct TypedName {
  Type type;
  std::string name;  // empty: absent
};

class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options) : lexer_(text), options_(options) {}

  Expected<Model> ParseAll();

 private:
  // Tokens. A text that the lexer refuses ends there, and Fail() tells the lexer's reason.
  const Token& Peek(size_t ahead = 0);
  Token Take();
  bool Skip(std::string_view symbol);
  bool SkipName(std::string_view name);
  Unexpected Fail(std::string_view wanted);
  Expected<void> Want(std::string_view symbol);
  Expected<std::string> Name(std::string_view wanted);
  Expected<std::string> HexBytes();
  Expected<int64_t> Int(std::string_view wanted);

  Expected<void> Header(Model& model);
  Expected<Graph> GraphBlock(const std::map<std::string, int>& opsets);
  Expected<void> Inputs(Graph& graph);
  Expected<void> Outputs(Graph& graph, const std::vector<TypedName>& outputs);
  Expected<std::vector<TypedName>> TypedNames(std::string_view wanted);
  Expected<void> Constant(Graph& graph, ValueId& id);
  Expected<void> NodeStatement(Graph& graph);
  Expected<OpName> Op();
  Expected<std::vector<Attribute>> Attributes(const Graph& graph);
  Expected<AttributeValue> Value(const Graph& graph, const std::string& name);
  Expected<AttributeValue> ListValue(const Graph& graph, const std::string& name);
  Expected<AttributeValue> NumberList();
  Expected<float> Float();
  Expected<ValueId> Input(Graph& graph);
  Expected<ValueId> Reference(Graph& graph, const std::string& name);

  bool AtType() { return Peek().kind == Token::Kind::kName && (Peek(1).Is("[") || AtOpaque()); }
  bool AtOpaque() { return Peek().IsName("opaque") && Peek(1).kind == Token::Kind::kQuoted; }
  Expected<Type> ParseType();
  Expected<Tensor> TensorValue(const std::string& name);
  Expected<Tensor> Elements(DType dtype, std::vector<int64_t> dims);
  Expected<void> Charge(DType dtype, const std::vector<int64_t>& dims);
  Expected<void> Claim(const Graph& graph, const std::string& name);

  Lexer lexer_;
  ParseOptions options_;
  std::deque<Token> ahead_;
  std::string lexer_error_;
  std::vector<Graph*> scopes_;
  std::shared_ptr<std::unordered_set<std::string>> names_ = std::make_shared<std::unordered_set<std::string>>();
  int bodies_ = 0;
  int64_t generated_bytes_ = 0;
};

}  // namespace rlc::text_internal

#endif  // RLC_IR_TEXT_PARSER_H_
