#include "rlc/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Log, ReachesTheSinkWithItsSeverity) {
  std::vector<std::string> lines;
  const ScopedLogSink scope([&](Severity severity, std::string_view message) {
    lines.push_back(fmt::format("{}: {}", SeverityName(severity), message));
  });
  Log(Severity::kWarning, "{} layers left float", 3);
  Log(Severity::kDebug, "detail");
  EXPECT_THAT(lines, ElementsAre("warning: 3 layers left float", "debug: detail"));
}

TEST(Log, BelowTheMinimumIsNotEvenFormatted) {
  std::vector<std::string> lines;
  const ScopedLogSink scope([&](Severity, std::string_view message) { lines.emplace_back(message); },
                            Severity::kWarning);
  EXPECT_FALSE(LogEnabled(Severity::kInfo));
  Log(Severity::kInfo, "no");
  EXPECT_THAT(lines, IsEmpty());
}

TEST(Log, ScopeRestoresTheSinkBefore) {
  std::vector<std::string> outer;
  const ScopedLogSink outer_scope([&](Severity, std::string_view message) { outer.emplace_back(message); },
                                  Severity::kInfo);
  {
    const ScopedLogSink inner_scope([](Severity, std::string_view) {});
    Log(Severity::kError, "inner");
  }
  Log(Severity::kDebug, "too low again");
  Log(Severity::kInfo, "outer");
  EXPECT_THAT(outer, ElementsAre("outer"));
}

TEST(Log, WithoutSinkNothingIsEnabled) {
  const ScopedLogSink scope(nullptr);
  EXPECT_FALSE(LogEnabled(Severity::kError));
  Log(Severity::kError, "into the void");
}

TEST(Progress, GoesNowhereWithoutSink) {
  Report(nullptr, {.phase = "search"});
  std::string seen;
  Report([&](const Progress& progress) { seen = progress.phase; }, {.phase = "search"});
  EXPECT_EQ(seen, "search");
}

}  // namespace
}  // namespace rlc
