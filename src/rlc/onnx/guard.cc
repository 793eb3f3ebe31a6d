#include "rlc/onnx/guard.h"

#include <string_view>

namespace rlc {

std::string CleanMessage(const char* text) {
  std::string_view message(text);
  message = message.substr(0, message.find("\n\n"));
  std::string clean;
  for (const char c : message) {
    const bool space = c == '\n' || c == '\t' || c == ' ' || c == '\r';
    if (!space) {
      clean += c;
    } else if (!clean.empty() && clean.back() != ' ') {
      clean += ' ';
    }
  }
  for (const std::string_view prefix : {"[TypeInferenceError] ", "[ShapeInferenceError] "}) {
    for (size_t at = clean.find(prefix); at != std::string::npos; at = clean.find(prefix))
      clean.erase(at, prefix.size());
  }
  while (!clean.empty() && (clean.back() == ' ' || clean.back() == '.')) clean.pop_back();
  if (clean.size() > 400) clean.resize(400);
  return clean;
}

}  // namespace rlc
