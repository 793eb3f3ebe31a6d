#include "rlc/data/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/data/npy.h"
#include "rlc/testing/paths.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string TestFile(const std::string& name) { return SourcePath("src/rlc/data/testdata/" + name); }

Expected<Safetensors> Parse(const std::string& bytes) {
  return ParseSafetensors(std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr, "x.safetensors");
}

std::string FileWith(const std::string& header, const std::string& data) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

TEST(Safetensors, ReadsWhatPythonWrites) {
  const auto file = ReadSafetensors(TestFile("python.safetensors"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->arrays.at("w").Load(), ReadNpy(TestFile("c_order.npy"))->Load());
  EXPECT_EQ(file->arrays.at("b").Load(), Array::Of<int8_t>({2}, {1, 2}));
  EXPECT_THAT(file->metadata, ElementsAre(Pair("made", "by python")));
}

TEST(Safetensors, WritesWhatItReadsInAnyOrderTheSameBytes) {
  const auto folder = TempDir::Create();
  const std::string path = JoinPath(folder->path(), "a.safetensors");
  std::vector<NamedArray> arrays = {{"b", Array::Of<int8_t>({3}, {1, 2, 3})},
                                    {"a", Array::Of<double>({1}, {0.5})},
                                    {"empty", Array::Of<float>({0, 2}, {})},
                                    {"half", *Array::Of<float>({1}, {2}).Cast(ElementType::kBFloat16)}};
  ASSERT_TRUE(WriteSafetensors(path, arrays, {{"format", "rlc"}}));
  const std::string bytes = *ReadFile(path);
  const auto file = ReadSafetensors(path);
  ASSERT_TRUE(file) << file.error().message;
  for (const NamedArray& named : arrays) {
    EXPECT_EQ(file->arrays.at(named.name).Load(), named.array);
    // Aligned in the file, so that loading does not copy.
    EXPECT_EQ(file->arrays.at(named.name).Load().bytes().data(), file->arrays.at(named.name).bytes().data());
  }
  EXPECT_EQ(file->metadata.at("format"), "rlc");
  std::swap(arrays[0], arrays[3]);
  ASSERT_TRUE(WriteSafetensors(path, arrays, {{"format", "rlc"}}));
  EXPECT_EQ(*ReadFile(path), bytes);
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const std::string whole = *ReadFile(TestFile("python.safetensors"));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(Parse(whole.substr(0, size))) << size;
  EXPECT_FALSE(Parse(whole + "x"));
}

TEST(Safetensors, HostileHeadersAreErrors) {
  const std::string data(4, '\0');
  EXPECT_TRUE(Parse(FileWith(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", data)));
  EXPECT_TRUE(Parse(FileWith("{}", "")));
  for (
      const char* header : {
          "",
          "[]",
          "null",
          R"({"a":1})",
          R"({"a":{"dtype":"F32","shape":[1]}})",
          R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[4611686018427387904,8],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})",
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})",
          R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]}})",
          R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"__metadata__":{"a":1}})",
          R"({"a":[[[[[[[[]]]]]]]]})",
      }) {
    EXPECT_FALSE(Parse(FileWith(header, data))) << header;
  }
  EXPECT_FALSE(Parse(std::string(8, '\xff') + "{}"));
  EXPECT_FALSE(Parse(FileWith(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\2")));
}

TEST(Safetensors, ErrorsNameTheArray) {
  EXPECT_THAT(Parse(FileWith(R"({"w":{"dtype":"F8_E5M2","shape":[4],"data_offsets":[0,4]}})", "1234")).error().message,
              HasSubstr("x.safetensors: array 'w': its type F8_E5M2 is not supported"));
}

}  // namespace
}  // namespace rlc
