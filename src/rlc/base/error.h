// Errors that a user's file, flag or data can cause, and checks for our own bugs.
//
//   Expected<T>   either a T or an Error; the only way a library function of rlc fails
//   Error         one sentence: where, what was found, what was wanted, what to do next
//   RLC_CHECK     aborts with both values printed; for states that only a bug in rlc can reach
#ifndef RLC_BASE_ERROR_H_
#define RLC_BASE_ERROR_H_

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace rlc {

// What kind of failure it is. The values are the exit codes of the command line (docs/how-to/exit-codes.md).
enum class ErrorKind {
  kUsage = 1,         // a flag or an argument that cannot be used
  kInvalidInput = 2,  // a file or data that cannot be read or is invalid
  kCheckFailed = 3,   // a comparison that the user asked for did not hold
  kGoalMissed = 4,    // a goal that the user named was missed
  kInternal = 5,      // a bug in rlc or in a library it uses
  kUnavailable = 6,   // a needed part is missing, or the output cannot be written
  kInterrupted = 130,
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;  // one sentence, no trailing newline
};

template <typename T>
using Expected = tl::expected<T, Error>;

using Unexpected = tl::unexpected<Error>;

// MakeError(ErrorKind::kInvalidInput, "{}: weight has {} dimensions", name, rank), ready to be returned from a
// function that yields Expected<T>.
template <typename... Args>
[[nodiscard]] Unexpected MakeError(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return Unexpected(Error{kind, fmt::format(format, std::forward<Args>(args)...)});
}

// The same error with "context: " put in front of its message.
[[nodiscard]] Unexpected WithContext(Error error, std::string_view context);

namespace internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const std::string& detail);
}  // namespace internal

}  // namespace rlc

#define RLC_CHECK(condition)                           \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::rlc::internal::CheckFailed(__FILE__, __LINE__, #condition, ""))

// RLC_CHECK_EQ(a, b): prints both values, which must be formattable by fmt.
#define RLC_CHECK_EQ(a, b)                                                                    \
  do {                                                                                        \
    const auto& rlc_check_a = (a);                                                            \
    const auto& rlc_check_b = (b);                                                            \
    if (!(rlc_check_a == rlc_check_b)) {                                                      \
      ::rlc::internal::CheckFailed(__FILE__, __LINE__, #a " == " #b,                          \
                                   ::fmt::format("{} against {}", rlc_check_a, rlc_check_b)); \
    }                                                                                         \
  } while (false)

#define RLC_CONCAT_INNER(a, b) a##b
#define RLC_CONCAT(a, b) RLC_CONCAT_INNER(a, b)

// RLC_ASSIGN_OR_RETURN(auto graph, ReadModel(path)); returns the error of the right side, if there is one.
#define RLC_ASSIGN_OR_RETURN(declaration, expression) \
  RLC_ASSIGN_OR_RETURN_IMPL(RLC_CONCAT(rlc_expected_, __LINE__), declaration, expression)
#define RLC_ASSIGN_OR_RETURN_IMPL(result, declaration, expression)  \
  auto result = (expression);                                       \
  if (!result) return ::rlc::Unexpected(std::move(result).error()); \
  declaration = *std::move(result)

// RLC_RETURN_IF_ERROR(Write(...)); for Expected<void> and for values that are not needed.
#define RLC_RETURN_IF_ERROR(expression)                        \
  do {                                                         \
    if (auto rlc_status = (expression); !rlc_status) {         \
      return ::rlc::Unexpected(std::move(rlc_status).error()); \
    }                                                          \
  } while (false)

#endif  // RLC_BASE_ERROR_H_
