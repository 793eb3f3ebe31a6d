// Tokens of the text form, and the spelling of names and strings that both directions share. Internal to ir.
#ifndef RLC_IR_TEXT_LEXER_H_
#define RLC_IR_TEXT_LEXER_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "rlc/base/error.h"

namespace rlc {

struct Token {
  enum class Kind {
    kName,    // as written
    kQuoted,  // without quotes, escapes undone
    kInt,     // as written
    kFloat,   // as written; "inf" and "nan" are names
    kSymbol,  // one of ( ) [ ] { } < > , = % @ ? * or =>
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  size_t offset = 0;

  bool Is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
  bool IsName(std::string_view name) const { return kind == Kind::kName && text == name; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; an Error for a character that starts none, or a string without end.
  Expected<Token> Next();
  // "line 3, column 14"
  std::string Place(size_t offset) const;

 private:
  void SkipBlanks();
  Expected<Token> Quoted();
  Token Number();

  std::string_view text_;
  size_t at_ = 0;
};

// True when `text` is one kName token that means itself.
bool IsPlainName(std::string_view text);
// `text` itself if it is plain, else quoted.
std::string SpellName(std::string_view text);
std::string Quote(std::string_view text);
std::string ToHex(std::string_view bytes);
Expected<std::string> FromHex(std::string_view hex);

}  // namespace rlc

#endif  // RLC_IR_TEXT_LEXER_H_
