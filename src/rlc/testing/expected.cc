#include "rlc/testing/expected.h"

namespace rlc {

void PrintTo(ErrorKind kind, std::ostream* out) {
  switch (kind) {
    case ErrorKind::kUsage:
      *out << "kUsage";
      return;
    case ErrorKind::kInvalidInput:
      *out << "kInvalidInput";
      return;
    case ErrorKind::kCheckFailed:
      *out << "kCheckFailed";
      return;
    case ErrorKind::kGoalMissed:
      *out << "kGoalMissed";
      return;
    case ErrorKind::kInternal:
      *out << "kInternal";
      return;
    case ErrorKind::kUnavailable:
      *out << "kUnavailable";
      return;
    case ErrorKind::kInterrupted:
      *out << "kInterrupted";
      return;
  }
}

void PrintTo(const Error& error, std::ostream* out) {
  PrintTo(error.kind, out);
  *out << ": " << error.message;
}

}  // namespace rlc
