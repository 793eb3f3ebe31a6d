#include "rlc/data/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/testing/paths.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

std::string TestFile(const std::string& name) { return SourcePath("src/rlc/data/testdata/" + name); }

Array Table() {
  std::vector<float> values(24);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Array::Of({2, 3, 4}, values);
}

Expected<StoredArray> Parse(std::string_view bytes) {
  return ParseNpy(std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr, "x.npy");
}

// A version 1 file with this header text.
std::string FileWith(std::string_view header, std::string_view data) {
  std::string bytes("\x93NUMPY\x01\0", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes += data;
  return bytes;
}

TEST(Npy, ReadsWhatNumpyWrites) {
  for (const char* name : {"c_order.npy", "fortran_order.npy", "big_endian.npy"}) {
    const auto array = ReadNpy(TestFile(name));
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->Load(), Table()) << name;
  }
  EXPECT_EQ(ReadNpy(TestFile("scalar.npy"))->Load(), Array::Of<int64_t>({}, {-7}));
}

TEST(Npy, RefusesOtherTypesByName) {
  EXPECT_THAT(ReadNpy(TestFile("strings.npy")).error().message,
              HasSubstr("type '<U1', wanted a float, integer or bool"));
  EXPECT_THAT(ReadNpy(TestFile("complex.npy")).error().message, HasSubstr("type '<c8'"));
  EXPECT_THAT(ReadNpy(TestFile("structured.npy")).error().message, HasSubstr("structured array"));
  EXPECT_THAT(ReadNpy(TestFile("rgb.png")).error().message, HasSubstr("is no .npy array"));
  EXPECT_THAT(ReadNpy(TestFile("none.npy")).error().message, HasSubstr("no such file"));
}

TEST(Npy, WritesWhatItReads) {
  const auto folder = TempDir::Create();
  ASSERT_TRUE(folder);
  const std::string path = JoinPath(folder->path(), "a.npy");
  for (const Array& array : {Table(), Array::Of<uint8_t>({}, {3}), Array::Of<int64_t>({0, 3}, {})}) {
    ASSERT_TRUE(WriteNpy(path, array));
    EXPECT_EQ(ReadNpy(path)->Load(), array);
  }
}

TEST(Npy, WritesTheBytesOfNumpy) {
  const auto folder = TempDir::Create();
  const std::string path = JoinPath(folder->path(), "a.npy");
  ASSERT_TRUE(WriteNpy(path, Table()));
  EXPECT_EQ(*ReadFile(path), *ReadFile(TestFile("c_order.npy")));
}

TEST(Npy, BrainFloatsAreWrittenAsFloat32) {
  const auto folder = TempDir::Create();
  const std::string path = JoinPath(folder->path(), "a.npy");
  const Array array = Array::Of<float>({2}, {1.5F, -2});
  ASSERT_TRUE(WriteNpy(path, *array.Cast(ElementType::kBFloat16)));
  EXPECT_EQ(ReadNpy(path)->Load(), array);
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string whole = *ReadFile(TestFile("c_order.npy"));
  ASSERT_TRUE(Parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(Parse(whole.substr(0, size))) << size;
  EXPECT_FALSE(Parse(whole + "x"));
}

TEST(Npy, HostileHeadersAreErrors) {
  const std::string four(4, '\0');
  EXPECT_TRUE(Parse(FileWith("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", four)));
  EXPECT_TRUE(Parse(FileWith("{\"shape\":(1L,),\"fortran_order\":True,\"descr\":\"<f4\"}", four)));
  for (const char* header : {
           "",
           "{",
           "{}",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
           "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}",
           "{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} trailing",
       }) {
    EXPECT_FALSE(Parse(FileWith(header, four))) << header;
  }
}

TEST(Npy, BoolsMustBeZeroOrOne) {
  constexpr std::string_view kHeader = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}";
  EXPECT_TRUE(Parse(FileWith(kHeader, std::string_view("\0\1", 2))));
  EXPECT_FALSE(Parse(FileWith(kHeader, std::string_view("\0\2", 2))));
}

TEST(Npy, HeaderIsPaddedTo64) {
  EXPECT_EQ(NpyHeader(ElementType::kFloat32, {1, 3, 224, 224}).size() % 64, 0U);
  EXPECT_THAT(NpyHeader(ElementType::kInt8, {5}), HasSubstr("'shape': (5,), }"));
}

}  // namespace
}  // namespace rlc
