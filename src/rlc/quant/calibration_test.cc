#include "rlc/quant/calibration.h"

#include <gtest/gtest.h>

#include <vector>

namespace rlc {
namespace {

Calibration Example() {
  ObserverSet observers;
  EXPECT_TRUE(observers.Add("relu", std::vector<float>{0, 2.55f}));
  EXPECT_TRUE(observers.Add("conv", std::vector<float>{-1, 3}));
  return *Calibrate(observers, Scheme{});
}

TEST(Calibration, HoldsParamsByValueName) {
  const Calibration calibration = Example();
  EXPECT_FLOAT_EQ(calibration.values.at("relu").scale, 0.01f);
  EXPECT_EQ(calibration.values.at("relu").zero_point, 0);
  EXPECT_EQ(calibration.values.at("conv").zero_point, 64);  // 63.75, rounded
}

TEST(Calibration, RefusesATensorWithoutSamples) {
  ObserverSet observers;
  ASSERT_TRUE(observers.Add("never", {}));
  const auto result = Calibrate(observers, Scheme{});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("never"), std::string::npos);
}

TEST(Calibration, RefusesAPercentileOutsideItsRange) {
  EXPECT_FALSE(Calibrate({}, Scheme{}, {RangeMethod::kPercentile, 0.5}));
  EXPECT_FALSE(Calibrate({}, Scheme{}, {RangeMethod::kPercentile, 1.5}));
}

TEST(Calibration, JsonRoundTripIsExact) {
  const Calibration calibration = Example();
  const auto json = ParseJson(DumpJson(ToJson(calibration)), "test");
  ASSERT_TRUE(json);
  const auto back = CalibrationFromJson(*json);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, calibration);
}

TEST(Calibration, HostileJsonIsRefusedWithTheField) {
  for (const char* text : {
           R"([])",
           R"({})",
           R"({"scheme": "u8s8"})",
           R"({"scheme": "u9", "values": {}})",
           R"({"scheme": "u8s8", "values": []})",
           R"({"scheme": "u8s8", "values": {"x": 1}})",
           R"({"scheme": "u8s8", "values": {"x": {"scale": 0, "zero_point": 0}}})",
           R"({"scheme": "u8s8", "values": {"x": {"scale": -1, "zero_point": 0}}})",
           R"({"scheme": "u8s8", "values": {"x": {"scale": 1e300, "zero_point": 0}}})",
           R"({"scheme": "u8s8", "values": {"x": {"scale": 1, "zero_point": 256}}})",
           R"({"scheme": "s8s8", "values": {"x": {"scale": 1, "zero_point": 128}}})",
           R"({"scheme": "u8s8", "values": {"x": {"scale": 1, "zero_point": 0.5}}})",
           R"({"scheme": "u8s8", "values": {"x": {"scale": 1, "zero_point": 0, "z": 1}}})",
           R"({"scheme": "u8s8", "values": {}, "other": 1})",
       }) {
    const auto json = ParseJson(text, "test");
    ASSERT_TRUE(json) << text;
    EXPECT_FALSE(CalibrationFromJson(*json)) << text;
  }
}

}  // namespace
}  // namespace rlc
