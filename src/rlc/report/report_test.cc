#include "rlc/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rlc/report/chart.h"
#include "rlc/report/figures.h"

namespace rlc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Json Estimated(double value, double low, double high) {
  return {{"value", value}, {"low", low}, {"high", high}, {"samples", 40}, {"unit", "x"}};
}

// A small report with everything that is needed, made up for the tests.
Json SampleReport() {
  return {{"schema", 1},
          {"model", {{"path", "model.onnx"}, {"hash", "00"}, {"nodes", 3}}},
          {"output", "out.onnx"},
          {"verdict",
           {{"improved", true},
            {"chosen", "quantize layer0 u8s7"},
            {"exact_only", false},
            {"speedup", Estimated(1.34, 1.31, 1.37)},
            {"latency_before", Estimated(0.92, 0.91, 0.93)},
            {"latency_after", Estimated(0.69, 0.68, 0.70)},
            {"max_drop", 0.01},
            {"metric", "top1"},
            {"random_data", false},
            {"bytes_before", 1000},
            {"bytes_after", 400},
            {"drop", Estimated(0.0005, -0.002, 0.003)},
            {"energy", nullptr},
            {"reason", ""},
            {"interrupted", false}}},
          {"finalists", Json::array({{{"name", "the original"},
                                      {"latency", Estimated(0.92, 0.91, 0.93)},
                                      {"ratio", Estimated(1, 1, 1)},
                                      {"change", "no difference"},
                                      {"bytes", 1000},
                                      {"search_drop", nullptr},
                                      {"final_drop", nullptr},
                                      {"winner", false}}})},
          {"trials", Json::array({{{"name", "nothing"},
                                   {"actions", 0},
                                   {"evaluation", 1},
                                   {"seconds", 1.5},
                                   {"ratio", Estimated(0.9, 0.89, 0.91)},
                                   {"drop", Estimated(0, 0, 0)}},
                                  {{"name", "prune layer1 0.50"},
                                   {"actions", 1},
                                   {"evaluation", 2},
                                   {"seconds", 3.0},
                                   {"failure", "ran longer than 5.00 s and was killed"}}})},
          {"method", "greedy"},
          {"layers", Json::array({{{"number", 0},
                                   {"name", "conv0"},
                                   {"signature", "conv 3x3"},
                                   {"form", "int8"},
                                   {"pruned", false},
                                   {"ran_as", "QLinearConv"},
                                   {"float_ms", 0.2},
                                   {"int8_ms", nullptr}}})},
          {"plan",
           {{"actions", {"simplify@*"}},
            {"credits", Json::array({{{"name", "rule x"}, {"without", Estimated(1.1, 1.0, 1.2)}}})}}},
          {"learning", nullptr},
          {"refusals", Json::array()},
          {"data",
           {{"description", "lines.npz, 100 samples with labels"},
            {"metric", "top1"},
            {"baseline_score", 0.9},
            {"calibration_rows", 10},
            {"search_rows", 30},
            {"final_rows", 60}}},
          {"timing",
           {{"rounds", 40},
            {"threads", 1},
            {"pinned_core", 1},
            {"stable", true},
            {"denormals_flushed", true},
            {"control", Estimated(1, 0.99, 1.01)}}},
          {"machine", {{"cpu", "a processor"}}},
          {"runtime", "1.32.0"},
          {"command", "rlc optimize model.onnx"},
          {"seed", 0},
          {"phases", Json::array({{{"name", "search"}, {"seconds", 12.0}}})},
          {"not_measured", {"energy: no counters"}},
          {"warnings", Json::array()}};
}

TEST(RenderHtml, OpensWithTheVerdict) {
  const auto html = RenderHtml(SampleReport());
  ASSERT_TRUE(html) << html.error().message;
  EXPECT_THAT(*html, HasSubstr("1.34x faster than the original"));
  EXPECT_LT(html->find("1.34x faster"), html->find("Finalists"));
  EXPECT_THAT(*html, HasSubstr("0.05 points (-0.20 to 0.30)"));
}

TEST(RenderHtml, AsksForNothingFromOutside) {
  const auto html = RenderHtml(SampleReport());
  ASSERT_TRUE(html);
  for (const char* reference : {"http:", "https:", "src=", "<script", "@import", "url("})
    EXPECT_THAT(*html, Not(HasSubstr(reference)));
}

TEST(RenderHtml, EscapesNames) {
  Json report = SampleReport();
  report["model"]["path"] = "<script>alert('x')</script>";
  report["layers"][0]["name"] = "\"><img src=x>";
  report["trials"][0]["name"] = "</title><b>";
  const auto html = RenderHtml(report);
  ASSERT_TRUE(html);
  for (const char* raw : {"<script", "<img", "</title><b>"}) EXPECT_THAT(*html, Not(HasSubstr(raw)));
  EXPECT_THAT(*html, HasSubstr("&lt;script&gt;"));
}

TEST(RenderHtml, SaysWhatIsMissing) {
  const auto html = RenderHtml(SampleReport());
  ASSERT_TRUE(html);
  EXPECT_THAT(*html, HasSubstr("not measured"));
  EXPECT_THAT(*html, HasSubstr("energy: no counters"));
  EXPECT_THAT(*html, HasSubstr("No policy was trained"));
  EXPECT_THAT(*html, HasSubstr("ran longer than 5.00 s"));
}

TEST(RenderHtml, RefusesAnotherSchema) {
  Json report = SampleReport();
  report["schema"] = 2;
  EXPECT_FALSE(RenderHtml(report));
}

// Whatever field is taken away or replaced, the answer is an error that names it or a page without it; never a crash.
TEST(RenderHtml, SurvivesEveryDamagedField) {
  const Json sample = SampleReport();
  for (const auto& [key, value] : sample.items()) {
    Json missing = sample;
    missing.erase(key);
    if (const auto html = RenderHtml(missing); !html) {
      EXPECT_THAT(html.error().message, HasSubstr(key));
    }
    for (const Json& other : {Json(), Json("text"), Json(1.5), Json::array({1}), Json::object()}) {
      Json damaged = sample;
      damaged[key] = other;
      static_cast<void>(RenderHtml(damaged));
    }
  }
}

TEST(RenderVerdict, SaysHonestlyThatNothingWasFound) {
  Json report = SampleReport();
  report["verdict"]["improved"] = false;
  report["verdict"]["reason"] = "nothing that was tried is faster";
  const auto text = RenderVerdict(report);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("No gain found"));
  EXPECT_THAT(*text, HasSubstr("nothing that was tried is faster"));
}

TEST(NiceTicks, CoversTheRangeWithRoundSteps) {
  EXPECT_THAT(NiceTicks(0, 1), ElementsAre(testing::DoubleNear(0, 1e-9), testing::DoubleNear(0.2, 1e-9),
                                           testing::DoubleNear(0.4, 1e-9), testing::DoubleNear(0.6, 1e-9),
                                           testing::DoubleNear(0.8, 1e-9), testing::DoubleNear(1, 1e-9)));
  const auto ticks = NiceTicks(0.93, 1.07);
  EXPECT_LE(ticks.front(), 0.93);
  EXPECT_GE(ticks.back(), 1.07);
}

TEST(NiceTicks, WorksForOneValue) { EXPECT_GE(NiceTicks(3, 3).size(), 2U); }

TEST(RenderChart, LeavesOutWhatIsNotFinite) {
  const Chart chart{
      "title", "x", "y", {{"s", "trial", {{0, 1, ""}, {std::nan(""), 2, ""}, {1, INFINITY, ""}}, false}}, {}};
  const std::string svg = RenderChart(chart);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(RenderChart, SaysWhenThereIsNothing) {
  EXPECT_THAT(RenderChart({"Trials", "x", "y", {}, {}}), HasSubstr("nothing to show"));
}

}  // namespace
}  // namespace rlc
