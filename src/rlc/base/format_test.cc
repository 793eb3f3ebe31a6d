#include "rlc/base/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Format, SecondsPickTheirUnit) {
  EXPECT_EQ(FormatSeconds(0), "0 s");
  EXPECT_EQ(FormatSeconds(850e-9), "850 ns");
  EXPECT_EQ(FormatSeconds(1.5e-6), "1.50 us");
  EXPECT_EQ(FormatSeconds(0.0123), "12.3 ms");
  EXPECT_EQ(FormatSeconds(0.99996), "1.00 s");
  EXPECT_EQ(FormatSeconds(99.9), "99.9 s");
  EXPECT_EQ(FormatSeconds(200), "3 min 20 s");
  EXPECT_EQ(FormatSeconds(3600 * 2.5), "2 h 30 min");
  EXPECT_EQ(FormatSeconds(-0.5), "-500 ms");
  EXPECT_EQ(FormatSeconds(std::nan("")), "n/a");
}

TEST(Format, OtherFigures) {
  EXPECT_EQ(FormatBytes(512), "512 B");
  EXPECT_EQ(FormatBytes(3.4e6), "3.40 MB");
  EXPECT_EQ(FormatBytes(999.9e3), "1.00 MB");
  EXPECT_EQ(FormatCount(950), "950");
  EXPECT_EQ(FormatCount(12345), "12.3 k");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatRatio(1.25), "1.25x");
  EXPECT_EQ(FormatRatio(9.999), "10.0x");
  EXPECT_EQ(FormatRatio(kInfinity), "inf");
  EXPECT_EQ(FormatPercent(0.0123), "1.23 %");
  EXPECT_EQ(FormatPoints(-0.002), "-0.20 points");
  EXPECT_EQ(FormatShape({1, 3, -1, 224}), "[1,3,?,224]");
  EXPECT_EQ(FormatShape({}), "[]");
}

TEST(Format, UtcTimeStamps) {
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatUtc(1935489600.9), "2031-05-02T12:00:00Z");
  EXPECT_EQ(FormatUtc(kInfinity), "n/a");
  EXPECT_EQ(FormatUtc(1e18), "n/a");
}

TEST(Parse, Durations) {
  EXPECT_EQ(ParseDuration("90", "--budget"), 90.0);
  EXPECT_EQ(ParseDuration("2m", "--budget"), 120.0);
  EXPECT_EQ(ParseDuration("1.5h", "--budget"), 5400.0);
  EXPECT_EQ(ParseDuration("250 ms", "--budget"), 0.25);
  for (const char* text : {"", "m", "-1s", "2 weeks", "1e999", "nan", "2m3"}) {
    EXPECT_FALSE(ParseDuration(text, "--budget")) << text;
  }
  const auto error = ParseDuration("soon", "--budget").error();
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("--budget: 'soon' is not a duration"));
}

TEST(Parse, SizesFractionsAndNumbers) {
  EXPECT_EQ(ParseBytes("2GiB", "-"), uint64_t{2} << 30);
  EXPECT_EQ(ParseBytes("64k", "-"), 64000U);
  EXPECT_FALSE(ParseBytes("1e30", "-"));
  EXPECT_FALSE(ParseBytes("-1", "-"));
  EXPECT_EQ(ParseFraction("1%", "-"), 0.01);
  EXPECT_EQ(ParseFraction("0.5", "-"), 0.5);
  EXPECT_FALSE(ParseFraction("101%", "-"));
  EXPECT_EQ(ParseNumber("-2.5", "-"), -2.5);
  EXPECT_FALSE(ParseNumber("2.5x", "-"));
  EXPECT_FALSE(ParseNumber("inf", "-"));
  EXPECT_EQ(ParseInt("-7", "-"), -7);
  EXPECT_FALSE(ParseInt("7.0", "-"));
  EXPECT_THAT(ParseInt("99999999999999999999", "--seed").error().message, HasSubstr("outside the range"));
}

TEST(Parse, SplitKeepsEmptyParts) {
  EXPECT_THAT(SplitText("a,b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(SplitText("a,", ','), ElementsAre("a", ""));
  EXPECT_THAT(SplitText("", ','), IsEmpty());
}

}  // namespace
}  // namespace rlc
