#include "rlc/ir/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "rlc/ir/attribute.h"
#include "rlc/ir/float16.h"
#include "rlc/testing/expected.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Tensor, CopiesShareTheirBytes) {
  const Tensor a = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  const Tensor b = a.Reshaped({4});
  EXPECT_EQ(a.bytes().data(), b.bytes().data());
  EXPECT_THAT(b.data<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(a.SameAs(b));
  EXPECT_TRUE(a.SameAs(Tensor::Of<float>({2, 2}, {1, 2, 3, 4})));
  EXPECT_FALSE(a.SameAs(Tensor::Of<float>({2, 2}, {1, 2, 3, 5})));
}

TEST(Tensor, ViewsKeepTheirOwnerAndAreCopiedWhenNotAligned) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const auto bytes = std::as_bytes(std::span<const float>(*owner));
  const Tensor view = Tensor::FromView(DType::kFloat, {3}, bytes, owner);
  EXPECT_EQ(view.bytes().data(), bytes.data());
  EXPECT_EQ(owner.use_count(), 2);
  const Tensor moved = Tensor::FromView(DType::kFloat, {2}, bytes.subspan(1, 8), owner);
  EXPECT_NE(moved.bytes().data(), bytes.data() + 1);
  EXPECT_EQ(owner.use_count(), 2);
}

TEST(Tensor, SizesAreBounded) {
  EXPECT_EQ(ByteSize(DType::kFloat, {2, 3}), 24);
  EXPECT_EQ(ByteSize(DType::kInt4, {3}), 2);
  EXPECT_EQ(ByteSize(DType::kString, {3}), std::nullopt);
  EXPECT_EQ(ByteSize(DType::kDouble, {INT64_MAX / 4}), std::nullopt);
  EXPECT_EQ(ElementCount({INT64_MAX, INT64_MAX, 0}), 0);
  EXPECT_EQ(ElementCount({INT64_MAX, 2}), std::nullopt);
  EXPECT_EQ(ElementCount({-1}), std::nullopt);
  EXPECT_EQ(ElementCount({}), 1);
}

TEST(Tensor, ConvertsToDoublesAndIntegers) {
  EXPECT_THAT(Tensor::Of<int8_t>({2}, {-1, 7}).ToDoubles(), IsOkAndHolds(ElementsAre(-1, 7)));
  EXPECT_THAT(Tensor::FromBytes(DType::kBool, {2}, std::string("\0\7", 2)).ToInt64s(), IsOkAndHolds(ElementsAre(0, 1)));
  EXPECT_THAT(Tensor::FromBytes(DType::kInt4, {3}, "\x8f\x07").ToInt64s(), IsOkAndHolds(ElementsAre(-1, -8, 7)));
  EXPECT_THAT(Tensor::FromBytes(DType::kUint4, {3}, "\x8f\x07").ToDoubles(), IsOkAndHolds(ElementsAre(15, 8, 7)));
  EXPECT_THAT(Tensor::FromBytes(DType::kFloat16, {1}, std::string("\0\x3c", 2)).ToDoubles(),
              IsOkAndHolds(ElementsAre(1)));
  EXPECT_THAT(Tensor::Of<float>({1}, {1}).ToInt64s(), IsError(HasSubstr("float")));
  EXPECT_THAT(Tensor::Of<uint64_t>({1}, {UINT64_MAX}).ToInt64s(), IsError(HasSubstr("2^63")));
  EXPECT_THAT(Tensor::FromStrings({1}, {"a"}).ToDoubles(), IsError(HasSubstr("string")));
  EXPECT_THAT(Tensor::FromBytes(DType::kFloat8E5M2, {1}, "a").ToDoubles(), IsError(HasSubstr("float8e5m2")));
  EXPECT_THAT(Tensor::Of<float>({0}, {}).ToDoubles(), IsOkAndHolds(IsEmpty()));
}

TEST(Tensor, ComesFromDoublesRoundedToEven) {
  const auto bytes = Tensor::FromDoubles(DType::kInt8, {3}, std::vector<double>{2.5, 3.5, -128});
  ASSERT_THAT(bytes, IsOk());
  EXPECT_THAT(bytes->data<int8_t>(), ElementsAre(2, 4, -128));
  const double huge = 1e300;
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(Tensor::FromDoubles(DType::kInt8, {1}, std::vector<double>{127.5}), IsError(HasSubstr("does not fit")));
  EXPECT_THAT(Tensor::FromDoubles(DType::kInt64, {1}, std::vector<double>{0x1p63}), IsError(HasSubstr("does not fit")));
  EXPECT_THAT(Tensor::FromDoubles(DType::kInt64, {1}, std::vector<double>{std::nan("")}), IsError(HasSubstr("int64")));
  EXPECT_THAT(Tensor::FromDoubles(DType::kFloat, {1}, std::vector<double>{huge}), IsError(HasSubstr("too large")));
  EXPECT_THAT(Tensor::FromDoubles(DType::kFloat16, {1}, std::vector<double>{65520}), IsError(HasSubstr("too large")));
  EXPECT_THAT(Tensor::FromDoubles(DType::kFloat, {1}, std::vector<double>{infinity}), IsOk());
  EXPECT_THAT(Tensor::FromDoubles(DType::kBool, {1}, std::vector<double>{1}), IsError(HasSubstr("bool")));
}

TEST(Float16, AllBitPatternsGoThereAndBack) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    const float half = Float16ToFloat(pattern);
    const float brain = BFloat16ToFloat(pattern);
    if (!std::isnan(half)) {
      ASSERT_EQ(DoubleToFloat16(static_cast<double>(half)), pattern);
    }
    if (!std::isnan(brain)) {
      ASSERT_EQ(DoubleToBFloat16(static_cast<double>(brain)), pattern);
    }
  }
}

TEST(Float16, RoundsOnceToNearestEven) {
  EXPECT_EQ(DoubleToFloat16(1 + 0x1p-11), 0x3c00);            // half way: to even
  EXPECT_EQ(DoubleToFloat16(1 + 0x1p-11 + 0x1p-40), 0x3c01);  // by way of float it would be half way
  EXPECT_EQ(DoubleToFloat16(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(DoubleToFloat16(65519.99), 0x7bff);
  EXPECT_EQ(DoubleToFloat16(65520), 0x7c00);
  EXPECT_EQ(DoubleToFloat16(0x1p-25), 0);
  EXPECT_EQ(DoubleToFloat16(0x1.8p-25), 1);
  EXPECT_EQ(DoubleToFloat16(-0.0), 0x8000);
  EXPECT_EQ(DoubleToBFloat16(1 + 0x1p-8), 0x3f80);
  EXPECT_TRUE(std::isnan(Float16ToFloat(DoubleToFloat16(std::nan("")))));
  EXPECT_TRUE(std::isnan(BFloat16ToFloat(DoubleToBFloat16(std::nan("")))));
}

TEST(DType, NamesGoThereAndBack) {
  for (int number = 1; number <= 30; ++number) {
    const auto type = static_cast<DType>(number);
    EXPECT_EQ(DTypeFromName(DTypeName(type)), type);
  }
  EXPECT_EQ(DTypeName(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(DTypeName(static_cast<DType>(99)), "type99");
  EXPECT_EQ(DTypeFromName("flaot"), DType::kUndefined);
  EXPECT_EQ(DTypeFromName("type9x"), DType::kUndefined);
}

TEST(Type, SpellsDimensionsAndRanks) {
  EXPECT_EQ(ToString(Type::Tensor(DType::kFloat, Shape{Dim::Of(1), Dim::Named("N"), Dim()})), "float[1,N,?]");
  EXPECT_EQ(ToString(Type::Tensor(DType::kInt64)), "int64[*]");
  EXPECT_EQ(ToString(Type()), "?");
  EXPECT_TRUE(Dim::Named("N").SameAs(Dim::Named("N")));
  EXPECT_FALSE(Dim().SameAs(Dim()));
  EXPECT_EQ(Type::Tensor(DType::kInt64).rank(), -1);
}

TEST(AttributeValue, IsTheSameToTheBit) {
  EXPECT_TRUE(SameValue(std::nanf(""), std::nanf("")));
  EXPECT_FALSE(SameValue(0.0F, -0.0F));
  EXPECT_FALSE(SameValue(int64_t{1}, 1.0F));
  EXPECT_TRUE(SameValue(Tensor::Scalar(1.0F), Tensor::Scalar(1.0F)));
  EXPECT_FALSE(SameValue(std::vector<Tensor>{Tensor::Scalar(1.0F)}, std::vector<Tensor>{Tensor::Scalar(2.0F)}));
  EXPECT_FALSE(SameValue(std::vector<float>{1}, std::vector<float>{1, 2}));
  EXPECT_TRUE(SameValue(std::vector<std::string>{"a"}, std::vector<std::string>{"a"}));
  EXPECT_EQ(KindName(std::vector<int64_t>{1}), "ints");
}

}  // namespace
}  // namespace rlc
