#include "rlc/data/npz.h"

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

std::string TestFile(const std::string& name) { return SourcePath("src/rlc/data/testdata/" + name); }

Expected<NpzFile> Parse(const std::string& bytes, const NpzLimits& limits = {}) {
  return NpzFile::FromBytes(std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr, "x.npz", limits);
}

// Whether everything in it can be read.
bool ReadsAll(const std::string& bytes) {
  const auto file = Parse(bytes);
  if (!file) return false;
  for (const std::string& name : file->names()) {
    if (!file->Get(name)) return false;
  }
  return true;
}

class NpzTest : public ::testing::Test {
 protected:
  std::string Written(const std::vector<NamedArray>& arrays) {
    const std::string path = JoinPath(folder_->path(), "a.npz");
    EXPECT_TRUE(WriteNpz(path, arrays));
    return *ReadFile(path);
  }
  Expected<TempDir> folder_ = TempDir::Create();
};

TEST_F(NpzTest, ReadsWhatNumpyWrites) {
  const Array table = ReadNpy(TestFile("c_order.npy"))->Load();
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto file = NpzFile::Open(TestFile(name));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_THAT(file->names(), ElementsAre("x", "labels", "flags", "half"));
    EXPECT_EQ(file->Get("x")->Load(), table);
    EXPECT_EQ(file->Get("labels")->Load(), Array::Of<int64_t>({2}, {1, 0}));
    EXPECT_EQ(file->Get("flags")->type(), ElementType::kBool);
    EXPECT_EQ(file->Get("half")->Load().ToDoubles(), table.ToDoubles());
    EXPECT_TRUE(file->Has("x"));
    EXPECT_FALSE(file->Has("x.npy"));
  }
}

TEST_F(NpzTest, StoredArraysStayInTheFile) {
  const std::string bytes = *ReadFile(TestFile("stored.npz"));
  const auto array = Parse(bytes)->Get("x");
  ASSERT_TRUE(array);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  EXPECT_GE(array->bytes().data(), begin);
  EXPECT_LE(array->bytes().data() + array->bytes().size(), begin + bytes.size());
}

TEST_F(NpzTest, MissingArrayIsNamedWithThoseThatThereAre) {
  EXPECT_THAT(NpzFile::Open(TestFile("stored.npz"))->Get("y").error().message,
              HasSubstr("has no array 'y'; it has: x, labels, flags, half"));
}

TEST_F(NpzTest, WritesWhatItReadsTheSameBytesEveryTime) {
  const std::vector<NamedArray> arrays = {{"x", Array::Of<float>({2, 2}, {1, 2, 3, 4})},
                                          {"a/b:0", Array::Of<int64_t>({0}, {})}};
  const std::string bytes = Written(arrays);
  const auto file = Parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_THAT(file->names(), ElementsAre("x", "a/b:0"));
  for (const NamedArray& named : arrays) EXPECT_EQ(file->Get(named.name)->Load(), named.array);
  EXPECT_EQ(Written(arrays), bytes);
  EXPECT_TRUE(ReadsAll(Written({})));
}

TEST_F(NpzTest, ManyEntriesNeedZip64) {
  std::vector<NamedArray> arrays;
  for (int i = 0; i < 65535; ++i) arrays.push_back({fmt::format("a{}", i), Array::Of<int8_t>({}, {1})});
  const std::string bytes = Written(arrays);
  const auto file = Parse(bytes, {.max_entries = 70000});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->names().size(), 65535U);
  EXPECT_TRUE(file->Get("a65534"));
}

TEST_F(NpzTest, TwoArraysOfOneNameAreRefused) {
  const Array array = Array::Of<int8_t>({}, {1});
  const std::string path = JoinPath(folder_->path(), "b.npz");
  EXPECT_THAT(WriteNpz(path, std::vector<NamedArray>{{"x", array}, {"x", array}}).error().message,
              HasSubstr("two arrays are named 'x'"));
  EXPECT_FALSE(FileExists(path));
  std::string bytes = Written({{"x1", array}, {"x2", array}});
  for (std::size_t at = 0; (at = bytes.find("x2.npy", at)) != std::string::npos; ++at) bytes[at + 1] = '1';
  EXPECT_THAT(Parse(bytes).error().message, HasSubstr("holds two arrays named 'x1'"));
}

TEST_F(NpzTest, EveryTruncationIsAnError) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string whole = *ReadFile(TestFile(name));
    ASSERT_TRUE(ReadsAll(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(ReadsAll(whole.substr(0, size))) << size;
  }
}

TEST_F(NpzTest, NoFlippedByteGoesUnnoticedInTheData) {
  const std::string whole = *ReadFile(TestFile("deflated.npz"));
  const auto original = Parse(whole)->Get("x")->Load();
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto file = Parse(damaged);
    const auto array = file ? file->Get("x") : MakeError(ErrorKind::kInvalidInput, "no file");
    refused += array ? 0 : 1;
    EXPECT_EQ(array ? array->Load() : original, original) << at;
  }
  EXPECT_GT(refused, 100);
}

TEST_F(NpzTest, LimitsHold) {
  const std::string bytes = *ReadFile(TestFile("deflated.npz"));
  EXPECT_THAT(Parse(bytes, {.max_entries = 3}).error().message, HasSubstr("at most 3 are accepted"));
  EXPECT_THAT(Parse(bytes, {.max_inflated_bytes = 100})->Get("x").error().message,
              HasSubstr("when inflated, at most 100"));
}

TEST_F(NpzTest, ClaimsOfHugeSizesCostNothing) {
  // The uncompressed size of the first entry, in its central header, set to 4 GB - 2.
  std::string bytes = *ReadFile(TestFile("deflated.npz"));
  const std::size_t central = bytes.find("PK\x01\x02");
  ASSERT_NE(central, std::string::npos);
  bytes.replace(central + 24, 4, std::string("\xfe\xff\xff\xff", 4));
  EXPECT_THAT(Parse(bytes)->Get("x").error().message, HasSubstr("cannot be inflated"));
}

TEST_F(NpzTest, OtherFilesAreErrors) {
  EXPECT_THAT(Parse("").error().message, HasSubstr("is no .npz file"));
  EXPECT_FALSE(Parse(std::string(100000, 'P')));
  EXPECT_FALSE(NpzFile::Open(TestFile("c_order.npy")));
}

}  // namespace
}  // namespace rlc
