// JSON in and out: bounded parsing without exceptions, typed access with errors that name the field.
//
// Keys are kept sorted, so equal values give equal bytes, whatever the order in which they were built.
#ifndef RLC_BASE_JSON_H_
#define RLC_BASE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"

namespace rlc {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t max_bytes = std::size_t{256} << 20;
  int max_depth = 64;  // of nested arrays and objects
};

// `what` names the text in errors ("plan.json"). Errors: too long, too deep, not JSON (with line and column), a number
// outside the range of a double.
Expected<Json> ParseJson(std::string_view text, std::string_view what, const JsonLimits& limits = {});

// Reads and parses a file; `path` may be "-" for standard input.
Expected<Json> ReadJsonFile(const std::string& path, const JsonLimits& limits = {});

// indent < 0: one line; otherwise that many spaces per level and a final newline. NaN and infinities, which JSON does
// not have, become null; bytes that are not UTF-8 become U+FFFD. Never fails.
std::string DumpJson(const Json& value, int indent = 2);

// Typed access. `object` must be an object with field `key` of the type; else the error says which field, what was
// found and what was wanted, and the caller adds its place with WithContext(error, "plan.json: actions[3]").
// The pointers that are returned live as long as `object`.
Expected<const Json*> GetField(const Json& object, std::string_view key);  // any type
Expected<const Json*> GetObject(const Json& object, std::string_view key);
Expected<const Json*> GetArray(const Json& object, std::string_view key);
Expected<std::string> GetString(const Json& object, std::string_view key);
Expected<int64_t> GetInt(const Json& object, std::string_view key);    // a whole number in the range of int64
Expected<double> GetDouble(const Json& object, std::string_view key);  // any number; null is an error
Expected<bool> GetBool(const Json& object, std::string_view key);
Expected<std::vector<std::string>> GetStrings(const Json& object, std::string_view key);
Expected<std::vector<int64_t>> GetInts(const Json& object, std::string_view key);
Expected<std::vector<double>> GetDoubles(const Json& object, std::string_view key);

// The same for fields that may be missing: `fallback` if so; a field of the wrong type is still an error.
Expected<std::string> GetStringOr(const Json& object, std::string_view key, std::string_view fallback);
Expected<int64_t> GetIntOr(const Json& object, std::string_view key, int64_t fallback);
Expected<double> GetDoubleOr(const Json& object, std::string_view key, double fallback);
Expected<bool> GetBoolOr(const Json& object, std::string_view key, bool fallback);

// Fails if `object` has a field that is not in `known`: a misspelt setting is an error, not silence.
Expected<void> RefuseUnknownFields(const Json& object, const std::vector<std::string_view>& known);

}  // namespace rlc

#endif  // RLC_BASE_JSON_H_
