#include "rlc/measure/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rlc/ir/text.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

InterfaceValue Input(const std::string& name, DType dtype, Shape shape) {
  return {name, Type::Tensor(dtype, std::move(shape))};
}

TEST(RandomInputs, AreSeededAndInRange) {
  const std::vector<InterfaceValue> inputs = {Input("x", DType::kFloat, {Dim::Named("N"), Dim::Of(100)}),
                                              Input("ids", DType::kInt64, {Dim::Of(50)}),
                                              Input("mask", DType::kBool, {Dim::Of(50)})};
  const auto first = RandomInputs(inputs, {}, 3);
  ASSERT_TRUE(first) << first.error().message;
  const auto again = RandomInputs(inputs, {}, 3);
  const auto other = RandomInputs(inputs, {}, 4);
  EXPECT_TRUE((*first)[0].tensor.SameAs((*again)[0].tensor));
  EXPECT_FALSE((*first)[0].tensor.SameAs((*other)[0].tensor));
  EXPECT_THAT((*first)[0].tensor.dims(), ElementsAre(1, 100));
  for (const float value : (*first)[0].tensor.data<float>()) EXPECT_TRUE(value >= 0 && value < 1);
  int64_t sum = 0;
  for (const int64_t value : (*first)[1].tensor.data<int64_t>()) {
    EXPECT_TRUE(value == 0 || value == 1);
    sum += value;
  }
  EXPECT_TRUE(sum > 5 && sum < 45);
}

TEST(RandomInputs, TakeSignsAndBoundsWhenAsked) {
  const std::vector<InterfaceValue> inputs = {Input("x", DType::kFloat, {Dim::Of(100)}),
                                              Input("ids", DType::kInt64, {Dim::Of(500)})};
  const auto made = RandomInputs(inputs, {}, 3, {.signed_floats = true, .bounds = {{"ids", 7}}});
  ASSERT_TRUE(made) << made.error().message;
  const auto floats = (*made)[0].tensor.data<float>();
  EXPECT_TRUE(std::any_of(floats.begin(), floats.end(), [](float value) { return value < 0; }));
  const auto ids = (*made)[1].tensor.data<int64_t>();
  EXPECT_EQ(*std::min_element(ids.begin(), ids.end()), 0);
  EXPECT_EQ(*std::max_element(ids.begin(), ids.end()), 6);
}

TEST(IntegerBounds, ComeFromTablesAndPixels) {
  const auto graph =
      ParseGraphText(R"(graph g (int64[N] ids, uint8[4] pixels, int64[2] sizes, float[2] x) => (y, z, s) {
    wide = Unsqueeze(ids, %axes int64[1] = {0})
    y = Gather(%table float[10,3], wide)
    z = Cast<to=1>(pixels)
    s = Neg(sizes)
  })");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_THAT(IntegerBounds(*graph), ElementsAre(Pair("ids", 10), Pair("pixels", 256)));
}

TEST(RandomInputs, AsksForShapesThatItDoesNotKnow) {
  const std::vector<InterfaceValue> inputs = {
      Input("x", DType::kFloat, {Dim::Named("N"), Dim::Of(3), Dim::Named("H"), Dim::Of(8)})};
  const auto unknown = RandomInputs(inputs, {}, 0);
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(unknown.error().message, HasSubstr("--shape x:N,3,H,8"));
  const auto known = RandomInputs(inputs, {{"x", {2, 3, 4, 8}}}, 0);
  ASSERT_TRUE(known);
  EXPECT_THAT((*known)[0].tensor.dims(), ElementsAre(2, 3, 4, 8));
}

TEST(RandomInputs, RefusesShapesThatDoNotFit) {
  const std::vector<InterfaceValue> inputs = {Input("x", DType::kFloat, {Dim::Named("N"), Dim::Of(3)})};
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1, 4}, {1, 3, 1}, {-1, 3}}) {
    const auto result = RandomInputs(inputs, {{"x", dims}}, 0);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  }
  EXPECT_THAT(RandomInputs(inputs, {{"z", {1}}}, 0).error().message, HasSubstr("no such input"));
  EXPECT_THAT(RandomInputs(inputs, {{"x", {1'000'000'000'000, 3}}}, 0).error().message, HasSubstr("smaller shape"));
  EXPECT_FALSE(RandomInputs({{{"seq", Type{}}}}, {}, 0));
}

}  // namespace
}  // namespace rlc
