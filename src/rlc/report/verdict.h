// The verdict in words, shared by page and terminal.
#ifndef RLC_REPORT_VERDICT_H_
#define RLC_REPORT_VERDICT_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/json.h"

namespace rlc {

struct VerdictWords {
  bool good = false;
  std::string headline;              // one sentence
  std::vector<std::string> details;  // one clause each
};

Expected<VerdictWords> WordVerdict(const Json& report);

}  // namespace rlc

#endif  // RLC_REPORT_VERDICT_H_
