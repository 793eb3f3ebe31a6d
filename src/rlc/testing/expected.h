// Matchers for Expected<T>:
//
//   EXPECT_THAT(ReadFile(path), IsOk());
//   EXPECT_THAT(ParseInt("7", "--n"), IsOkAndHolds(7));
//   EXPECT_THAT(ParseInt("x", "--n"), IsError(HasSubstr("--n")));
//   EXPECT_THAT(Load("gone.onnx"), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("gone.onnx")));
#ifndef RLC_TESTING_EXPECTED_H_
#define RLC_TESTING_EXPECTED_H_

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <type_traits>

#include "rlc/base/error.h"

namespace rlc {

void PrintTo(const Error& error, std::ostream* out);
void PrintTo(ErrorKind kind, std::ostream* out);

namespace internal {

// Says why there is no value. True if there is one.
template <typename E>
bool ExplainValue(const E& expected, ::testing::MatchResultListener* listener) {
  if (expected.has_value()) return true;
  *listener << "which is the error \"" << expected.error().message << "\"";
  return false;
}

}  // namespace internal

MATCHER(IsOk, negation ? "is an error" : "is no error") { return internal::ExplainValue(arg, result_listener); }

MATCHER_P(IsOkAndHolds, inner,
          "holds a value that " +
              ::testing::DescribeMatcher<typename std::decay_t<arg_type>::value_type>(inner, negation)) {
  return internal::ExplainValue(arg, result_listener) && ::testing::ExplainMatchResult(inner, *arg, result_listener);
}

MATCHER_P(IsError, message, "is an error whose message " + ::testing::DescribeMatcher<std::string>(message, negation)) {
  if (arg.has_value()) {
    *result_listener << "which is no error";
    return false;
  }
  *result_listener << "which is the error \"" << arg.error().message << "\" ";
  return ::testing::ExplainMatchResult(message, arg.error().message, result_listener);
}

MATCHER_P2(IsErrorOf, kind, message,
           "is an error of kind " + ::testing::PrintToString(kind) + " whose message " +
               ::testing::DescribeMatcher<std::string>(message, negation)) {
  if (arg.has_value()) {
    *result_listener << "which is no error";
    return false;
  }
  *result_listener << "which is the error \"" << arg.error().message << "\" of kind "
                   << ::testing::PrintToString(arg.error().kind) << " ";
  return arg.error().kind == kind && ::testing::ExplainMatchResult(message, arg.error().message, result_listener);
}

}  // namespace rlc

#endif  // RLC_TESTING_EXPECTED_H_
