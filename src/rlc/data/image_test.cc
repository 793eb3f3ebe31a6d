#include "rlc/data/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/data/npy.h"
#include "rlc/testing/paths.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;

std::string TestFile(const std::string& name) { return SourcePath("src/rlc/data/testdata/" + name); }

std::vector<uint8_t> Pixels(const std::string& name) {
  const Array array = ReadNpy(TestFile(name))->Load();
  return {array.data<uint8_t>().begin(), array.data<uint8_t>().end()};
}

int LargestDifference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  EXPECT_EQ(a.size(), b.size());
  int largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

Image Flat(int height, int width, std::array<uint8_t, 3> colour) {
  Image image = {height, width, {}};
  for (int i = 0; i < height * width; ++i) image.pixels.insert(image.pixels.end(), colour.begin(), colour.end());
  return image;
}

TEST(Image, DecodesPngAsPillow) {
  EXPECT_THAT(ReadImage(TestFile("rgb.png"))->pixels, Eq(Pixels("rgb_pixels.npy")));
  EXPECT_THAT(ReadImage(TestFile("rgba.png"))->pixels, Eq(Pixels("rgb_pixels.npy")));
  EXPECT_THAT(ReadImage(TestFile("palette.png"))->pixels, Eq(Pixels("palette_pixels.npy")));
  const Image grey = *ReadImage(TestFile("grey.png"));
  EXPECT_EQ(grey.height, 31);
  EXPECT_EQ(grey.width, 45);
  const std::vector<uint8_t> wanted = Pixels("grey_pixels.npy");
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(grey.pixels[3 * i + i % 3], wanted[i]);
}

TEST(Image, SixteenBitsBecomeEight) {
  const Image image = *ReadImage(TestFile("grey16.png"));
  const std::vector<uint8_t> wanted = Pixels("rgb_pixels.npy");
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) ASSERT_NEAR(image.pixels[i], wanted[i], 1);
}

TEST(Image, DecodesJpegAsPillow) {
  EXPECT_LE(LargestDifference(ReadImage(TestFile("rgb.jpg"))->pixels, Pixels("jpg_pixels.npy")), 2);
  EXPECT_LE(LargestDifference(ReadImage(TestFile("progressive.jpg"))->pixels, Pixels("jpg_pixels.npy")), 2);
  EXPECT_THAT(ReadImage(TestFile("cmyk.jpg")).error().message, HasSubstr("damaged image: "));
}

TEST(Image, ResizesAsPillow) {
  const Image image = *ReadImage(TestFile("rgb.png"));
  EXPECT_LE(LargestDifference(ResizeImage(image, 13, 17).pixels, Pixels("smaller_pixels.npy")), 1);
  EXPECT_LE(LargestDifference(ResizeImage(image, 40, 90).pixels, Pixels("larger_pixels.npy")), 1);
  EXPECT_EQ(ResizeImage(Flat(5, 7, {9, 8, 7}), 1, 1).pixels, (std::vector<uint8_t>{9, 8, 7}));
}

TEST(Image, TruncationsAreErrors) {
  for (const char* name : {"rgb.png", "rgb.jpg", "progressive.jpg", "palette.png"}) {
    const std::string whole = *ReadFile(TestFile(name));
    ASSERT_TRUE(DecodeImage(std::as_bytes(std::span(whole.data(), whole.size())), name));
    for (std::size_t size = 0; size + 2 < whole.size(); size += 7) {
      EXPECT_FALSE(DecodeImage(std::as_bytes(std::span(whole.data(), size)), name)) << name << " " << size;
    }
  }
  EXPECT_THAT(DecodeImage({}, "x").error().message, HasSubstr("x: is neither a PNG nor a JPEG"));
}

TEST(Image, DamagedBytesNeverCrash) {
  for (const char* name : {"rgb.png", "rgb.jpg", "progressive.jpg", "grey16.png"}) {
    const std::string whole = *ReadFile(TestFile(name));
    int refused = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0xa5);
      refused += DecodeImage(std::as_bytes(std::span(damaged.data(), damaged.size())), name) ? 0 : 1;
    }
    EXPECT_GT(refused, 10) << name;
  }
}

TEST(Preprocess, ParsesAllItsKeys) {
  const auto parsed = ParsePreprocess("resize=256,crop=224x192,scale=1,mean=1:2:3,std=2,layout=nhwc,order=bgr");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->resize_short, 256);
  EXPECT_EQ(parsed->crop_height, 224);
  EXPECT_EQ(parsed->crop_width, 192);
  EXPECT_EQ(parsed->scale, 1);
  EXPECT_THAT(parsed->mean, ElementsAre(1, 2, 3));
  EXPECT_THAT(parsed->deviation, ElementsAre(2, 2, 2));
  EXPECT_TRUE(parsed->channels_last);
  EXPECT_EQ(parsed->order, Preprocess::Order::kBgr);
  EXPECT_EQ(ParsePreprocess("resize=48x192")->resize_width, 192);
  EXPECT_EQ(ParsePreprocess("imagenet,crop=200")->crop_width, 200);
  EXPECT_EQ(ParsePreprocess("")->scale, 1.0 / 255);
}

TEST(Preprocess, RefusesNonsense) {
  for (const char* text : {"resize", "resize=", "resize=0", "resize=1x2x3", "resize=99999999", "crop=-1", "scale=big",
                           "mean=1:2", "std=0", "std=1:-1:1", "layout=chw", "order=rbg", "size=3", ",", "scale=nan"}) {
    const auto parsed = ParsePreprocess(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(parsed.error().message, HasSubstr("--preprocess"));
  }
}

TEST(Preprocess, NormalizesOrdersAndLaysOut) {
  Preprocess preprocess;
  preprocess.mean = {0.5, 0, 0};
  preprocess.deviation = {0.5, 1, 1};
  const Image image = Flat(1, 2, {255, 0, 51});
  const auto planar = PreprocessImage(image, preprocess, ElementType::kFloat32);
  ASSERT_TRUE(planar);
  EXPECT_THAT(planar->shape(), ElementsAre(3, 1, 2));
  EXPECT_THAT(planar->data<float>(), ElementsAre(1, 1, 0, 0, 0.2F, 0.2F));
  preprocess.channels_last = true;
  preprocess.order = Preprocess::Order::kBgr;
  const auto packed = PreprocessImage(image, preprocess, ElementType::kUint8);
  EXPECT_THAT(packed->shape(), ElementsAre(1, 2, 3));
  EXPECT_THAT(packed->data<uint8_t>(), ElementsAre(51, 0, 255, 51, 0, 255));
  preprocess.order = Preprocess::Order::kGrey;
  EXPECT_THAT(PreprocessImage(image, preprocess, ElementType::kUint8)->data<uint8_t>(), ElementsAre(82, 82));
}

TEST(Preprocess, ResizesTheShorterSideAndCropsTheMiddle) {
  Image image = Flat(100, 300, {0, 0, 0});
  const auto wide = PreprocessImage(image, *ParsePreprocess("resize=50"), ElementType::kUint8);
  EXPECT_THAT(wide->shape(), ElementsAre(3, 50, 150));
  image.pixels[(50 * 300 + 150) * 3] = 255;
  const auto middle = PreprocessImage(image, *ParsePreprocess("crop=2"), ElementType::kUint8);
  EXPECT_THAT(middle->data<uint8_t>().first(4), ElementsAre(0, 0, 0, 255));
  EXPECT_THAT(PreprocessImage(image, *ParsePreprocess("crop=101"), ElementType::kUint8).error().message,
              HasSubstr("smaller than the crop of 101x101"));
}

TEST(Preprocess, ThinStripsDoNotExplode) {
  const Image strip = Flat(1, 40000, {0, 0, 0});
  EXPECT_THAT(PreprocessImage(strip, *ParsePreprocess("resize=65536"), ElementType::kUint8).error().message,
              HasSubstr("after resizing; at most"));
}

}  // namespace
}  // namespace rlc
