#include "rlc/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const { return JoinPath(folder_->path(), name); }
  std::vector<std::string> Names() const { return *ListFolder(folder_->path()); }

  Expected<TempDir> folder_ = TempDir::Create("file_test");
};

TEST_F(FileTest, WritesAndReadsBack) {
  const std::string bytes = std::string("a\0b", 3) + std::string(200000, 'x');
  ASSERT_TRUE(WriteFileAtomically(Path("f"), bytes));
  EXPECT_EQ(ReadFile(Path("f")), bytes);
  EXPECT_THAT(Names(), ElementsAre("f"));
}

TEST_F(FileTest, ReadErrorsAreSentencesWithThePath) {
  const auto missing = ReadFile(Path("none"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kInvalidInput);
  EXPECT_EQ(missing.error().message, Path("none") + ": no such file; check the path");
  EXPECT_THAT(ReadFile(folder_->path()).error().message, HasSubstr("is a folder, wanted a file"));
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "12345"));
  EXPECT_THAT(ReadFile(Path("f/g")).error().message, HasSubstr("a part of this path is a file"));
  EXPECT_THAT(ReadFile(Path("f"), 4).error().message, HasSubstr("larger than 4 bytes"));
  EXPECT_TRUE(ReadFile(Path("f"), 5));
  EXPECT_FALSE(ReadFile(std::string("a\0b", 3)));
}

TEST_F(FileTest, EndlessDeviceStopsAtTheLimit) {
  EXPECT_THAT(ReadFile("/dev/zero", 100000).error().message, HasSubstr("larger than 100000 bytes"));
  EXPECT_EQ(ReadFile("/dev/null"), "");
}

TEST_F(FileTest, FilesWithoutASizeAreReadToTheEnd) {
  const auto status = ReadFile("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_THAT(*status, HasSubstr("Name:"));
}

TEST_F(FileTest, MapsFilesAlsoEmptyOnes) {
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "abc"));
  const auto file = MappedFile::Open(Path("f"));
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->bytes().size(), 3U);
  EXPECT_EQ((*file)->bytes()[2], std::byte{'c'});
  ASSERT_TRUE(WriteFileAtomically(Path("e"), ""));
  EXPECT_TRUE((*MappedFile::Open(Path("e")))->bytes().empty());
  EXPECT_FALSE(MappedFile::Open(Path("none")));
  EXPECT_FALSE(MappedFile::Open(folder_->path()));
  EXPECT_FALSE(MappedFile::Open("/dev/null"));
}

TEST_F(FileTest, DroppedPagesComeBackFromTheFile) {
  std::string bytes(100'000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(WriteFileAtomically(Path("f"), bytes));
  const auto file = MappedFile::Open(Path("f"));
  ASSERT_TRUE(file);
  const auto same = [&] { return std::memcmp((*file)->bytes().data(), bytes.data(), bytes.size()) == 0; };
  EXPECT_TRUE(same());
  (*file)->DropPages((*file)->bytes().subspan(5000, 60'000));
  (*file)->DropPages((*file)->bytes().subspan(0, 1));
  (*file)->DropPages({});
  (*file)->DropPages((*file)->bytes());
  EXPECT_TRUE(same());
}

TEST_F(FileTest, WithoutCommitTheOldFileStays) {
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "old"));
  {
    auto file = AtomicFile::Create(Path("f"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->Write("new"));
    EXPECT_EQ(file->bytes_written(), 3U);
    EXPECT_EQ(ReadFile(Path("f")), "old");
  }
  EXPECT_EQ(ReadFile(Path("f")), "old");
  EXPECT_THAT(Names(), ElementsAre("f"));
}

TEST_F(FileTest, MovedAtomicFileCommitsOnce) {
  auto file = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(file);
  AtomicFile moved = std::move(*file);
  ASSERT_TRUE(moved.Write("x"));
  ASSERT_TRUE(moved.Commit());
  EXPECT_EQ(ReadFile(Path("f")), "x");
}

TEST_F(FileTest, ReplacingKeepsModeAndFollowsLinks) {
  ASSERT_TRUE(WriteFileAtomically(Path("real"), "old"));
  ASSERT_EQ(chmod(Path("real").c_str(), 0640), 0);
  ASSERT_EQ(symlink("real", Path("link").c_str()), 0);
  ASSERT_TRUE(WriteFileAtomically(Path("link"), "new"));
  EXPECT_EQ(ReadFile(Path("real")), "new");
  struct stat status = {};
  ASSERT_EQ(lstat(Path("link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(stat(Path("real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(FileTest, LinksInACircleAreAnError) {
  ASSERT_EQ(symlink("b", Path("a").c_str()), 0);
  ASSERT_EQ(symlink("a", Path("b").c_str()), 0);
  EXPECT_FALSE(WriteFileAtomically(Path("a"), "x"));
}

TEST_F(FileTest, NewFilesObeyTheUmask) {
  const mode_t before = umask(027);
  ASSERT_TRUE(WriteFileAtomically(Path("f"), "x"));
  umask(before);
  struct stat status = {};
  ASSERT_EQ(stat(Path("f").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(FileTest, SpecialFilesAreWrittenNotReplaced) {
  ASSERT_TRUE(WriteFileAtomically("/dev/null", "x"));
  struct stat status = {};
  ASSERT_EQ(stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_F(FileTest, WriteErrorsAreSentences) {
  const auto no_folder = WriteFileAtomically(Path("none/f"), "x");
  ASSERT_FALSE(no_folder);
  EXPECT_EQ(no_folder.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(no_folder.error().message, HasSubstr("its folder does not exist"));
  EXPECT_THAT(WriteFileAtomically(folder_->path(), "x").error().message, HasSubstr("is a folder"));
  EXPECT_EQ(WriteFileAtomically("", "x").error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(WriteFileAtomically(std::string("a\0b", 3), "x"));
}

TEST_F(FileTest, FullDiskIsReported) {
  if (!FileExists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_THAT(WriteFileAtomically("/dev/full", "x").error().message, HasSubstr("no space left on the disk"));
}

TEST_F(FileTest, FolderWithoutPermissionIsReported) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  ASSERT_EQ(chmod(folder_->path().c_str(), 0500), 0);
  EXPECT_THAT(WriteFileAtomically(Path("f"), "x").error().message, HasSubstr("no permission"));
  ASSERT_EQ(chmod(folder_->path().c_str(), 0700), 0);
}

TEST_F(FileTest, TempDirGoesAwayWithItsContents) {
  std::string path;
  {
    auto inner = TempDir::Create();
    ASSERT_TRUE(inner);
    TempDir moved = std::move(*inner);
    path = moved.path();
    ASSERT_TRUE(MakeFolders(JoinPath(path, "a/b")));
    ASSERT_TRUE(WriteFileAtomically(JoinPath(path, "a/b/c"), "x"));
  }
  EXPECT_FALSE(FileExists(path));
}

TEST_F(FileTest, CacheFolderFollowsTheEnvironment) {
  const char* old = std::getenv("XDG_CACHE_HOME");
  const std::string saved = old != nullptr ? old : "";
  setenv("XDG_CACHE_HOME", Path("cache").c_str(), 1);
  const auto folder = UserCacheFolder();
  if (old != nullptr) {
    setenv("XDG_CACHE_HOME", saved.c_str(), 1);
  } else {
    unsetenv("XDG_CACHE_HOME");
  }
  ASSERT_TRUE(folder);
  EXPECT_EQ(*folder, Path("cache/rlc"));
  EXPECT_TRUE(IsFolder(*folder));
}

TEST_F(FileTest, ListsSortedNamesUpToALimit) {
  for (const char* name : {"b", "a", ".c"}) ASSERT_TRUE(WriteFileAtomically(Path(name), ""));
  EXPECT_THAT(Names(), ElementsAre(".c", "a", "b"));
  EXPECT_THAT(ListFolder(folder_->path(), 2).error().message, HasSubstr("more than 2 entries"));
  EXPECT_THAT(ListFolder(Path("a")).error().message, HasSubstr("is a file, wanted a folder"));
  EXPECT_THAT(ListFolder(Path("none")).error().message, HasSubstr("no such file"));
}

TEST(FileNames, Parts) {
  EXPECT_EQ(BaseName("a/b.ONNX"), "b.ONNX");
  EXPECT_EQ(Extension("a.b/c.ONNX"), ".onnx");
  EXPECT_EQ(Extension("a.b/c"), "");
  EXPECT_EQ(Extension(".hidden"), "");
  EXPECT_EQ(FolderOf("a/b"), "a");
  EXPECT_EQ(FolderOf("b"), ".");
  EXPECT_EQ(FolderOf("/b"), "/");
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
}

}  // namespace
}  // namespace rlc
