// Files: bounded reading, memory mapping, writing that never leaves a half-written file, temporary folders.
// Errors are whole sentences with the path; reading fails with kInvalidInput, writing with kUnavailable.
#ifndef RLC_BASE_FILE_H_
#define RLC_BASE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"

namespace rlc {

inline constexpr uint64_t kDefaultMaxFileBytes = uint64_t{4} << 30;

// The whole file; "-" is standard input. Errors: missing, a folder, no permission, larger than max_bytes (also for
// pipes and devices without an end).
Expected<std::string> ReadFile(const std::string& path, uint64_t max_bytes = kDefaultMaxFileBytes);

// A regular file mapped read-only. Shared by everything that points into it. If somebody truncates the file while it
// is mapped, access beyond its new end is a SIGBUS: map only what the user named as input.
class MappedFile {
 public:
  static Expected<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // These bytes (a part of bytes()) need not stay in memory; whoever reads them again gets them from the file.
  void DropPages(std::span<const std::byte> part) const;
  const std::string& path() const { return path_; }

 private:
  MappedFile() = default;
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A file that appears complete or not at all: written under a temporary name in the same folder, flushed to disk, then
// renamed. Without Commit() it is removed and an existing file stays as it was. A symbolic link is followed. Special
// files (/dev/null, pipes) are written in place. "-" collects in memory and writes to standard output on Commit().
class AtomicFile {
 public:
  static Expected<AtomicFile> Create(const std::string& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;

  Expected<void> Write(std::span<const std::byte> bytes);
  Expected<void> Write(std::string_view bytes);
  Expected<void> Commit();
  uint64_t bytes_written() const;

 private:
  struct Impl;
  explicit AtomicFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

Expected<void> WriteFileAtomically(const std::string& path, std::string_view bytes);

// A new private folder under $TMPDIR (or /tmp), removed with everything in it at the end.
class TempDir {
 public:
  static Expected<TempDir> Create(std::string_view prefix = "rlc");
  ~TempDir();
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  const std::string& path() const { return path_; }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// $XDG_CACHE_HOME/rlc or $HOME/.cache/rlc, made if needed.
Expected<std::string> UserCacheFolder();

bool FileExists(const std::string& path);
bool IsFolder(const std::string& path);
// Names (not paths) of the entries, sorted by bytes, without "." and ".."; at most max_entries.
Expected<std::vector<std::string>> ListFolder(const std::string& path, std::size_t max_entries = 10'000'000);
Expected<void> MakeFolders(const std::string& path);
// "a/b.onnx" -> "b.onnx"; ".onnx" (lower case); "a" ("." when there is none).
std::string BaseName(std::string_view path);
std::string Extension(std::string_view path);
std::string FolderOf(std::string_view path);
std::string JoinPath(std::string_view folder, std::string_view name);

}  // namespace rlc

#endif  // RLC_BASE_FILE_H_
