#include "rlc/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "rlc/base/file.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Json, ParsesAndDumpsWithSortedKeys) {
  const auto json = ParseJson(R"({"b": [1, 2.5], "a": "x"})", "plan.json");
  ASSERT_TRUE(json);
  EXPECT_EQ(DumpJson(*json, -1), R"({"a":"x","b":[1,2.5]})");
  EXPECT_EQ(DumpJson(Json::object(), 2), "{}\n");
}

TEST(Json, SyntaxErrorsNameFileAndPlace) {
  const auto json = ParseJson("{\"a\": 1,\n}", "plan.json");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().kind, ErrorKind::kInvalidInput);
  EXPECT_THAT(json.error().message, HasSubstr("plan.json: not valid JSON: parse error at line 2"));
}

TEST(Json, RefusesHostileTexts) {
  EXPECT_FALSE(ParseJson("", "x"));
  EXPECT_FALSE(ParseJson("1e999", "x"));
  EXPECT_FALSE(ParseJson("NaN", "x"));
  EXPECT_FALSE(ParseJson("\"\xff\"", "x"));
  EXPECT_FALSE(ParseJson("{} {}", "x"));
  const auto deep = ParseJson(std::string(1000000, '['), "x");
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("nested deeper than 64"));
  EXPECT_TRUE(ParseJson(std::string(64, '[') + std::string(64, ']'), "x"));
  EXPECT_FALSE(ParseJson(std::string(65, '[') + std::string(65, ']'), "x"));
  EXPECT_TRUE(ParseJson("\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '[') + "\"", "x"));
  EXPECT_FALSE(ParseJson("[1,2]", "x", {.max_bytes = 4}));
}

TEST(Json, NanAndInfinityBecomeNull) {
  EXPECT_EQ(DumpJson(Json{std::nan(""), std::numeric_limits<double>::infinity()}, -1), "[null,null]");
  EXPECT_EQ(DumpJson(Json("a\xff"), -1), "\"a\xef\xbf\xbd\"");
}

TEST(Json, NumbersSurviveTheRoundTrip) {
  for (const double value : {0.1, 1e-300, 123456789.123456789, -0.0}) {
    const auto json = ParseJson(DumpJson(Json(value)), "x");
    ASSERT_TRUE(json);
    EXPECT_EQ(json->get<double>(), value);
  }
}

TEST(JsonAccess, GivesValuesOfTheRightType) {
  const Json json = {{"s", "x"},    {"i", -3},         {"d", 2.5},           {"b", true},
                     {"l", {1, 2}}, {"t", {"u", "v"}}, {"o", Json::object()}};
  EXPECT_EQ(GetString(json, "s"), "x");
  EXPECT_EQ(GetInt(json, "i"), -3);
  EXPECT_EQ(GetDouble(json, "i"), -3.0);
  EXPECT_EQ(GetDouble(json, "d"), 2.5);
  EXPECT_EQ(GetBool(json, "b"), true);
  EXPECT_THAT(*GetInts(json, "l"), ElementsAre(1, 2));
  EXPECT_THAT(*GetDoubles(json, "l"), ElementsAre(1.0, 2.0));
  EXPECT_THAT(*GetStrings(json, "t"), ElementsAre("u", "v"));
  EXPECT_TRUE(GetObject(json, "o"));
  EXPECT_EQ((*GetArray(json, "l"))->size(), 2U);
}

TEST(JsonAccess, ErrorsNameFieldFoundAndWanted) {
  const Json json = {
      {"i", 3}, {"d", 2.5}, {"big", std::numeric_limits<uint64_t>::max()}, {"l", {1, "x"}}, {"n", nullptr}};
  EXPECT_EQ(GetString(json, "i").error().message, "field 'i' is a number, wanted a string");
  EXPECT_EQ(GetString(json, "none").error().message, "field 'none' is missing");
  EXPECT_EQ(GetInt(json, "d").error().message,
            "field 'd' is a number with a fraction, wanted a whole number of at most 64 bits");
  EXPECT_FALSE(GetInt(json, "big"));
  EXPECT_FALSE(GetDouble(json, "n"));
  EXPECT_FALSE(GetBool(json, "i"));
  EXPECT_FALSE(GetObject(json, "l"));
  EXPECT_FALSE(GetArray(json, "i"));
  EXPECT_EQ(GetInts(json, "l").error().message, "field 'l[1]' is a string, wanted a whole number of at most 64 bits");
  EXPECT_THAT(GetField(Json::array(), "a").error().message, HasSubstr("found a JSON array, wanted an object"));
}

TEST(JsonAccess, FallbackIsForMissingFieldsOnly) {
  const Json json = {{"s", "x"}};
  EXPECT_EQ(GetIntOr(json, "none", 4), 4);
  EXPECT_EQ(GetDoubleOr(json, "none", 0.5), 0.5);
  EXPECT_EQ(GetBoolOr(json, "none", true), true);
  EXPECT_EQ(GetStringOr(json, "none", "y"), "y");
  EXPECT_EQ(GetStringOr(json, "s", "y"), "x");
  EXPECT_FALSE(GetIntOr(json, "s", 4));
  EXPECT_FALSE(GetIntOr(Json(3), "s", 4));
}

TEST(JsonAccess, UnknownFieldsAreRefused) {
  const Json json = {{"a", 1}, {"typo", 2}};
  EXPECT_TRUE(RefuseUnknownFields(json, {"a", "typo"}));
  EXPECT_THAT(RefuseUnknownFields(json, {"a", "b"}).error().message,
              HasSubstr("'typo' is not known here; known are: a, b"));
}

TEST(Json, ReadsFiles) {
  const auto folder = TempDir::Create();
  ASSERT_TRUE(folder);
  const std::string path = JoinPath(folder->path(), "a.json");
  ASSERT_TRUE(WriteFileAtomically(path, "[1]"));
  EXPECT_EQ(ReadJsonFile(path), Json::array({1}));
  EXPECT_FALSE(ReadJsonFile(path, {.max_bytes = 2}));
  EXPECT_FALSE(ReadJsonFile(path + "x"));
}

}  // namespace
}  // namespace rlc
