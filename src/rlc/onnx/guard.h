// Calls into the onnx library, whose failures are exceptions. Internal to the onnx layer.
#ifndef RLC_ONNX_GUARD_H_
#define RLC_ONNX_GUARD_H_

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "rlc/base/error.h"

namespace rlc {

// An exception's text as part of a sentence: first paragraph, without line breaks and "[ShapeInferenceError]".
std::string CleanMessage(const char* text);

// Runs call(); an exception becomes an error of `kind` that begins with `where`.
template <typename Call>
Expected<void> Guarded(ErrorKind kind, const std::string& where, Call&& call) {
  try {
    std::forward<Call>(call)();
    return {};
  } catch (const std::bad_alloc&) {
    return MakeError(kind, "{}: needs more memory than there is", where);
  } catch (const std::exception& error) {
    return MakeError(kind, "{}: {}", where, CleanMessage(error.what()));
  } catch (...) {
    return MakeError(kind, "{}: the onnx library failed", where);
  }
}

}  // namespace rlc

#endif  // RLC_ONNX_GUARD_H_
