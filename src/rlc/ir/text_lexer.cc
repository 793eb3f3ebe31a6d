#include "rlc/ir/text_lexer.h"

#include <algorithm>

namespace rlc {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/' || c == '$';
}
bool IsNameChar(char c) { return IsNameStart(c) || IsDigit(c) || c == '.' || c == ':' || c == '-'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kSymbols = "()[]{}<>,=%@?*";

}  // namespace

void Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

Expected<Token> Lexer::Next() {
  SkipBlanks();
  Token token;
  token.offset = at_;
  if (at_ == text_.size()) return token;
  const char c = text_[at_];
  if (c == '"') return Quoted();
  const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (IsDigit(c) || ((c == '-' || c == '+') && (IsDigit(next) || next == '.'))) return Number();
  if (IsNameStart(c) || c == ':' || (c == '-' && next == 'i')) {
    size_t end = at_ + 1;
    while (end < text_.size() && IsNameChar(text_[end])) ++end;
    token.kind = Token::Kind::kName;
    token.text = text_.substr(at_, end - at_);
  } else if (c == '=' && next == '>') {
    token.kind = Token::Kind::kSymbol;
    token.text = "=>";
  } else if (kSymbols.find(c) != std::string_view::npos) {
    token.kind = Token::Kind::kSymbol;
    token.text = c;
  } else {
    return MakeError(ErrorKind::kInvalidInput, "{}: a character that means nothing here (code {})", Place(at_),
                     static_cast<int>(static_cast<unsigned char>(c)));
  }
  at_ += token.text.size();
  return token;
}

Token Lexer::Number() {
  Token token;
  token.kind = Token::Kind::kInt;
  token.offset = at_;
  size_t end = at_ + 1;
  for (; end < text_.size(); ++end) {
    const char c = text_[end];
    const bool exponent_sign = (c == '-' || c == '+') && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    if (c == '.' || c == 'e' || c == 'E' || exponent_sign) {
      token.kind = Token::Kind::kFloat;
    } else if (!IsDigit(c)) {
      break;
    }
  }
  if (text_.substr(at_, 2) == "-." || text_.substr(at_, 2) == "+.") token.kind = Token::Kind::kFloat;
  token.text = text_.substr(at_, end - at_);
  at_ = end;
  return token;
}

Expected<Token> Lexer::Quoted() {
  Token token;
  token.kind = Token::Kind::kQuoted;
  token.offset = at_;
  for (size_t i = at_ + 1; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '"') {
      at_ = i + 1;
      return token;
    }
    if (c != '\\') {
      token.text += c;
      continue;
    }
    const char escaped = ++i < text_.size() ? text_[i] : '\0';
    if (escaped == 'n') {
      token.text += '\n';
    } else if (escaped == '"' || escaped == '\\') {
      token.text += escaped;
    } else if (escaped == 'x' && i + 2 < text_.size() && HexDigit(text_[i + 1]) >= 0 && HexDigit(text_[i + 2]) >= 0) {
      token.text += static_cast<char>(HexDigit(text_[i + 1]) * 16 + HexDigit(text_[i + 2]));
      i += 2;
    } else {
      return MakeError(ErrorKind::kInvalidInput, "{}: an escape other than \\n, \\\", \\\\ and \\xNN", Place(i));
    }
  }
  return MakeError(ErrorKind::kInvalidInput, "{}: a string without an end", Place(token.offset));
}

std::string Lexer::Place(size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n');
  const size_t column = start == std::string_view::npos ? offset + 1 : offset - start;
  return fmt::format("line {}, column {}", line, column);
}

bool IsPlainName(std::string_view text) {
  // "_" means absent.
  return !text.empty() && text != "_" && IsNameStart(text[0]) && std::all_of(text.begin(), text.end(), IsNameChar);
}

std::string SpellName(std::string_view text) { return IsPlainName(text) ? std::string(text) : Quote(text); }

std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      quoted += "\\n";
    } else if (code < 32 || code == 127) {
      quoted += fmt::format("\\x{:02x}", code);
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string ToHex(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    hex += kHexDigits[code >> 4];
    hex += kHexDigits[code & 15];
  }
  return hex;
}

Expected<std::string> FromHex(std::string_view hex) {
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]);
    const int low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) break;
    bytes += static_cast<char>(high * 16 + low);
  }
  if (2 * bytes.size() != hex.size()) {
    return MakeError(ErrorKind::kInvalidInput, "bytes must be pairs of hex digits");
  }
  return bytes;
}

}  // namespace rlc
