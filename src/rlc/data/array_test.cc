#include "rlc/data/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Array OfBits(ElementType type, const std::vector<uint16_t>& bits) {
  const Array raw = Array::Of({static_cast<int64_t>(bits.size())}, bits);
  return Array::FromView(type, raw.shape(), raw.bytes(), raw.owner());
}

std::vector<uint16_t> BitsOf(const Array& array) {
  std::vector<uint16_t> bits(static_cast<std::size_t>(array.size()));
  std::memcpy(bits.data(), array.bytes().data(), array.bytes().size());
  return bits;
}

TEST(ElementType, NamesAndSizesGoBothWays) {
  for (int i = 0; i <= static_cast<int>(ElementType::kBool); ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(ElementTypeFromName(ElementTypeName(type)), type);
    EXPECT_GE(ElementSize(type), 1U);
  }
  EXPECT_FALSE(ElementTypeFromName("complex64"));
  EXPECT_TRUE(IsFloatType(ElementType::kBFloat16));
  EXPECT_FALSE(IsIntegerType(ElementType::kBool));
}

TEST(ElementCount, RefusesWhatOverflows) {
  EXPECT_EQ(ElementCount(std::vector<int64_t>{2, 3}), 6);
  EXPECT_EQ(ElementCount(std::vector<int64_t>{}), 1);
  EXPECT_EQ(ElementCount(std::vector<int64_t>{0, 5}), 0);
  EXPECT_EQ(ElementCount(std::vector<int64_t>{-1, 5}), std::nullopt);
  EXPECT_EQ(ElementCount(std::vector<int64_t>{int64_t{1} << 31, int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(ElementCount(std::vector<int64_t>{0, int64_t{1} << 62, 8}), std::nullopt);
}

TEST(Array, SharesBytesBetweenCopiesAndRows) {
  const Array array = Array::Of<float>({3, 2}, {0, 1, 2, 3, 4, 5});
  const Array rows = array.Rows(1, 2);
  EXPECT_THAT(rows.data<float>(), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(rows.shape(), ElementsAre(2, 2));
  EXPECT_EQ(rows.bytes().data(), array.bytes().data() + 8);
  EXPECT_THAT(array.Reshaped({6}).shape(), ElementsAre(6));
  EXPECT_EQ(array, Array(array));
  EXPECT_FALSE(array == array.Reshaped({6}));
}

TEST(Array, UnalignedViewsAreCopied) {
  const std::string bytes = "x" + std::string(8, '\0');
  const auto view = std::as_bytes(std::span(bytes)).subspan(1);
  const Array array = Array::FromView(ElementType::kInt64, {1}, view, nullptr);
  EXPECT_THAT(array.data<int64_t>(), ElementsAre(0));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.bytes().data()) % 8, 0U);
}

TEST(Array, SixteenBitFloatsAreExactBothWays) {
  std::vector<uint16_t> bits;
  for (uint32_t i = 0; i < 65536; ++i) bits.push_back(static_cast<uint16_t>(i));
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBFloat16}) {
    const Array small = OfBits(type, bits);
    const Array back = *small.Cast(ElementType::kFloat64)->Cast(type);
    const std::vector<double> values = small.ToDoubles();
    const std::vector<uint16_t> result = BitsOf(back);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (std::isnan(values[i])) continue;
      ASSERT_EQ(result[i], bits[i]) << ElementTypeName(type);
    }
  }
}

TEST(Array, CastToSmallFloatsRoundsToNearestEven) {
  const Array wide =
      Array::Of<double>({8}, {1.0, 1.0 + 0x1p-11, 1.0 + 0x1.8p-10, 65519.0, 65520.0, 0x1p-25, 0x1.8p-25, -0.0});
  EXPECT_THAT(BitsOf(*wide.Cast(ElementType::kFloat16)),
              ElementsAre(0x3c00, 0x3c00, 0x3c02, 0x7bff, 0x7c00, 0x0000, 0x0001, 0x8000));
  const Array large = Array::Of<float>({3}, {1.0F + 0x1p-8F, std::numeric_limits<float>::max(), -INFINITY});
  EXPECT_THAT(BitsOf(*large.Cast(ElementType::kBFloat16)), ElementsAre(0x3f80, 0x7f80, 0xff80));
}

TEST(Array, CastRefusesWhatDoesNotFit) {
  const Array array = Array::Of<int64_t>({3}, {1, -1, 300});
  EXPECT_THAT(array.Cast(ElementType::kInt32)->data<int32_t>(), ElementsAre(1, -1, 300));
  EXPECT_THAT(array.Cast(ElementType::kUint8).error().message, HasSubstr("element 1 is -1, which uint8 does not hold"));
  EXPECT_THAT(array.Cast(ElementType::kFloat32).error().message, HasSubstr("int64 cannot be converted to float32"));
  EXPECT_FALSE(array.Cast(ElementType::kBool));
}

TEST(StoredArray, GathersRowsFromUnalignedBytes) {
  const Array array = Array::Of<float>({3, 2}, {0, 1, 2, 3, 4, 5});
  std::string bytes = "x";
  bytes.append(reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size());
  const StoredArray stored(ElementType::kFloat32, {3, 2}, std::as_bytes(std::span(bytes)).subspan(1), nullptr);
  EXPECT_EQ(stored.Load(), array);
  EXPECT_THAT(stored.Gather(std::vector<std::size_t>{2, 0, 2}).data<float>(), ElementsAre(4, 5, 0, 1, 4, 5));
}

TEST(Array, ConcatenatesAlongTheFirstAxis) {
  const Array a = Array::Of<int8_t>({1, 2}, {1, 2});
  const Array b = Array::Of<int8_t>({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(Concatenate(std::vector<Array>{a, b}), Array::Of<int8_t>({3, 2}, {1, 2, 3, 4, 5, 6}));
}

TEST(Array, BoolsHaveTwoValues) {
  EXPECT_TRUE(AreBools(std::as_bytes(std::span("\0\1", 2))));
  EXPECT_FALSE(AreBools(std::as_bytes(std::span("\0\2", 2))));
}

}  // namespace
}  // namespace rlc
