#include "rlc/base/json.h"

#include <algorithm>
#include <limits>

#include "rlc/base/file.h"

namespace rlc {
namespace {

// Nesting depth of the text, strings skipped; the parser itself has no limit. Not more than limit + 1.
int DepthOf(std::string_view text, int limit) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size() && deepest <= limit; ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

// "[json.exception.parse_error.101] parse error at line 1 ..." without the part in brackets.
std::string_view WithoutExceptionName(std::string_view message) {
  const std::size_t end = message.find("] ");
  if (message.starts_with("[json.exception") && end != std::string_view::npos) message.remove_prefix(end + 2);
  return message;
}

Unexpected WrongType(std::string_view key, const Json& found, std::string_view wanted) {
  std::string_view name = found.type_name();
  if (found.is_number_float()) name = "number with a fraction";
  return MakeError(ErrorKind::kInvalidInput, "field '{}' is {} {}, wanted {}", key, name == "object" ? "an" : "a", name,
                   wanted);
}

bool IsInt64(const Json& value) {
  if (value.is_number_unsigned()) {
    return value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  }
  return value.is_number_integer();
}

// False for what is no object at all: then the accessor reports that.
bool IsMissing(const Json& object, std::string_view key) { return object.is_object() && !object.contains(key); }

template <typename T, typename IsType>
Expected<std::vector<T>> GetList(const Json& object, std::string_view key, std::string_view wanted, IsType is_type) {
  RLC_ASSIGN_OR_RETURN(const Json* array, GetArray(object, key));
  std::vector<T> list;
  list.reserve(array->size());
  for (const Json& item : *array) {
    if (!is_type(item)) return WrongType(fmt::format("{}[{}]", key, list.size()), item, wanted);
    list.push_back(item.get<T>());
  }
  return list;
}

}  // namespace

Expected<Json> ParseJson(std::string_view text, std::string_view what, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return MakeError(ErrorKind::kInvalidInput, "{}: JSON of {} bytes, at most {} are accepted", what, text.size(),
                     limits.max_bytes);
  }
  if (DepthOf(text, limits.max_depth) > limits.max_depth) {
    return MakeError(ErrorKind::kInvalidInput, "{}: JSON nested deeper than {} levels", what, limits.max_depth);
  }
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::exception& exception) {
    return MakeError(ErrorKind::kInvalidInput, "{}: not valid JSON: {}", what, WithoutExceptionName(exception.what()));
  }
}

Expected<Json> ReadJsonFile(const std::string& path, const JsonLimits& limits) {
  RLC_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, limits.max_bytes));
  return ParseJson(text, path == "-" ? "standard input" : path, limits);
}

std::string DumpJson(const Json& value, int indent) {
  std::string text = value.dump(indent, ' ', false, Json::error_handler_t::replace);
  if (indent >= 0) text += '\n';
  return text;
}

Expected<const Json*> GetField(const Json& object, std::string_view key) {
  if (!object.is_object()) {
    return MakeError(ErrorKind::kInvalidInput, "found a JSON {}, wanted an object with field '{}'", object.type_name(),
                     key);
  }
  const auto field = object.find(key);
  if (field == object.end()) return MakeError(ErrorKind::kInvalidInput, "field '{}' is missing", key);
  return &*field;
}

Expected<const Json*> GetObject(const Json& object, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(object, key));
  if (!field->is_object()) return WrongType(key, *field, "an object");
  return field;
}

Expected<const Json*> GetArray(const Json& object, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(object, key));
  if (!field->is_array()) return WrongType(key, *field, "an array");
  return field;
}

Expected<std::string> GetString(const Json& object, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(object, key));
  if (!field->is_string()) return WrongType(key, *field, "a string");
  return field->get<std::string>();
}

Expected<int64_t> GetInt(const Json& object, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(object, key));
  if (!IsInt64(*field)) return WrongType(key, *field, "a whole number of at most 64 bits");
  return field->get<int64_t>();
}

Expected<double> GetDouble(const Json& object, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(object, key));
  if (!field->is_number()) return WrongType(key, *field, "a number");
  return field->get<double>();
}

Expected<bool> GetBool(const Json& object, std::string_view key) {
  RLC_ASSIGN_OR_RETURN(const Json* field, GetField(object, key));
  if (!field->is_boolean()) return WrongType(key, *field, "true or false");
  return field->get<bool>();
}

Expected<std::vector<std::string>> GetStrings(const Json& object, std::string_view key) {
  return GetList<std::string>(object, key, "a string", [](const Json& item) { return item.is_string(); });
}

Expected<std::vector<int64_t>> GetInts(const Json& object, std::string_view key) {
  return GetList<int64_t>(object, key, "a whole number of at most 64 bits", IsInt64);
}

Expected<std::vector<double>> GetDoubles(const Json& object, std::string_view key) {
  return GetList<double>(object, key, "a number", [](const Json& item) { return item.is_number(); });
}

Expected<std::string> GetStringOr(const Json& object, std::string_view key, std::string_view fallback) {
  if (IsMissing(object, key)) return std::string(fallback);
  return GetString(object, key);
}

Expected<int64_t> GetIntOr(const Json& object, std::string_view key, int64_t fallback) {
  if (IsMissing(object, key)) return fallback;
  return GetInt(object, key);
}

Expected<double> GetDoubleOr(const Json& object, std::string_view key, double fallback) {
  if (IsMissing(object, key)) return fallback;
  return GetDouble(object, key);
}

Expected<bool> GetBoolOr(const Json& object, std::string_view key, bool fallback) {
  if (IsMissing(object, key)) return fallback;
  return GetBool(object, key);
}

Expected<void> RefuseUnknownFields(const Json& object, const std::vector<std::string_view>& known) {
  if (!object.is_object()) {
    return MakeError(ErrorKind::kInvalidInput, "found a JSON {}, wanted an object", object.type_name());
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return MakeError(ErrorKind::kInvalidInput, "field '{}' is not known here; known are: {}", key,
                       fmt::join(known, ", "));
    }
  }
  return {};
}

}  // namespace rlc
