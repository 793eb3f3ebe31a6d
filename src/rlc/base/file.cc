#include "rlc/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

namespace rlc {
namespace {

constexpr int kNoFile = -1;

// Closes at the end of the scope; close() errors matter only for writing, where AtomicFile asks by itself.
class ScopedFd {
 public:
  explicit ScopedFd(int fd) : fd_(fd) {}
  ~ScopedFd() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Unexpected ReadError(const std::string& path, int code) {
  switch (code) {
    case ENOENT:
      return MakeError(ErrorKind::kInvalidInput, "{}: no such file; check the path", path);
    case ENOTDIR:
      return MakeError(ErrorKind::kInvalidInput, "{}: a part of this path is a file, not a folder", path);
    case EACCES:
      return MakeError(ErrorKind::kInvalidInput, "{}: no permission to read it", path);
    case EISDIR:
      return MakeError(ErrorKind::kInvalidInput, "{}: is a folder, wanted a file", path);
    default:
      return MakeError(ErrorKind::kInvalidInput, "{}: cannot be read: {}", path, std::strerror(code));
  }
}

Unexpected WriteError(const std::string& path, int code) {
  switch (code) {
    case ENOENT:
      return MakeError(ErrorKind::kUnavailable, "{}: cannot be written: its folder does not exist", path);
    case EACCES:
    case EROFS:
      return MakeError(ErrorKind::kUnavailable, "{}: cannot be written: no permission to write there", path);
    case ENOSPC:
    case EDQUOT:
      return MakeError(ErrorKind::kUnavailable, "{}: cannot be written: no space left on the disk", path);
    case EISDIR:
      return MakeError(ErrorKind::kUnavailable, "{}: cannot be written: it is a folder, name a file in it", path);
    case EPIPE:
      return MakeError(ErrorKind::kUnavailable, "{}: cannot be written: the reader has closed it", path);
    default:
      return MakeError(ErrorKind::kUnavailable, "{}: cannot be written: {}", path, std::strerror(code));
  }
}

// Opens for reading and makes sure that it is no folder. `name` is what errors call it.
Expected<int> OpenForReading(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    return MakeError(ErrorKind::kInvalidInput, "a path holds a zero byte; check the path");
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ReadError(path, errno);
  struct stat status = {};
  if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    close(fd);
    return ReadError(path, EISDIR);
  }
  return fd;
}

Unexpected TooLarge(const std::string& name, uint64_t max_bytes) {
  return MakeError(ErrorKind::kInvalidInput, "{}: is larger than {} bytes, the most that is read here", name,
                   max_bytes);
}

// Bytes until the end of file or the limit. The size in `expected` saves growing; it may be wrong (pipes, /proc).
Expected<std::string> ReadAllOrThrow(int fd, const std::string& name, uint64_t expected, uint64_t max_bytes) {
  std::string bytes;
  uint64_t used = 0;
  while (true) {
    if (used > max_bytes) return TooLarge(name, max_bytes);
    if (used == bytes.size()) {
      // One byte more than expected, so that the end of file is seen without growing again.
      const uint64_t wanted = used == 0 ? expected + 1 : std::max<uint64_t>(2 * used, 65536);
      bytes.resize(static_cast<std::size_t>(std::min(wanted, max_bytes + 1)));
    }
    const ssize_t got = read(fd, bytes.data() + used, bytes.size() - static_cast<std::size_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ReadError(name, errno);
    if (got == 0) break;
    used += static_cast<uint64_t>(got);
  }
  bytes.resize(static_cast<std::size_t>(used));
  return bytes;
}

Expected<std::string> ReadAll(int fd, const std::string& name, uint64_t expected, uint64_t max_bytes) {
  try {
    return ReadAllOrThrow(fd, name, expected, std::min(max_bytes, uint64_t{1} << 62));
  } catch (const std::bad_alloc&) {
    return MakeError(ErrorKind::kUnavailable, "{}: does not fit into memory", name);
  }
}

Expected<void> WriteAll(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return WriteError(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

// Where a chain of symbolic links ends, also when that file does not exist yet: replacing the link itself would leave
// the file behind it unchanged.
Expected<std::string> ResolveLinks(std::string path) {
  constexpr int kMaxLinks = 40;  // as Linux
  const std::string first = path;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::array<char, PATH_MAX> target;
    const ssize_t size = readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return path;
    std::string next(target.data(), static_cast<std::size_t>(size));
    path = next.starts_with('/') ? next : JoinPath(FolderOf(path), next);
  }
  return WriteError(first, ELOOP);
}

void SyncFolder(const std::string& folder) {
  const ScopedFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Best effort: some file systems cannot sync a folder, and the file itself is already safe.
  if (fd.get() >= 0) fsync(fd.get());
}

}  // namespace

Expected<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  if (path == "-") return ReadAll(STDIN_FILENO, "standard input", 65536, max_bytes);
  RLC_ASSIGN_OR_RETURN(const int raw_fd, OpenForReading(path));
  const ScopedFd fd(raw_fd);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return ReadError(path, errno);
  const auto size = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
  if (S_ISREG(status.st_mode) && size > max_bytes) return TooLarge(path, max_bytes);
  return ReadAll(fd.get(), path, size, max_bytes);
}

Expected<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const int raw_fd, OpenForReading(path));
  const ScopedFd fd(raw_fd);
  struct stat status = {};
  if (fstat(fd.get(), &status) != 0) return ReadError(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: is a pipe or device, wanted a regular file", path);
  }
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->path_ = path;
  file->size_ = static_cast<std::size_t>(status.st_size);
  if (file->size_ > 0) {  // an empty range cannot be mapped
    void* data = mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data == MAP_FAILED) return ReadError(path, errno);
    file->data_ = static_cast<const std::byte*>(data);
  }
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::DropPages(std::span<const std::byte> part) const {
  if (part.empty()) return;
  RLC_CHECK(part.data() >= data_ && part.data() + part.size() <= data_ + size_);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // Whole pages; the one in which the part begins goes, too, because parts are given back in order.
  const size_t begin = static_cast<size_t>(part.data() - data_) / page * page;
  const size_t end = static_cast<size_t>(part.data() + part.size() - data_) / page * page;
  // Failing, it costs memory and nothing else.
  if (end > begin) (void)madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

struct AtomicFile::Impl {
  std::string path;       // as the user wrote it, for errors
  std::string target;     // links resolved
  std::string temporary;  // empty: written in place, or "-"
  std::string buffer;     // "-" only
  int fd = kNoFile;
  uint64_t written = 0;
  bool committed = false;

  ~Impl() {
    if (fd >= 0) close(fd);
    if (!temporary.empty() && !committed) unlink(temporary.c_str());
  }
};

AtomicFile::AtomicFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AtomicFile::~AtomicFile() = default;
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;

Expected<AtomicFile> AtomicFile::Create(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  if (path == "-") return AtomicFile(std::move(impl));
  if (path.empty()) return MakeError(ErrorKind::kUsage, "the name of the output file is empty");
  if (path.find('\0') != std::string::npos) {
    return MakeError(ErrorKind::kUsage, "the name of the output file holds a zero byte");
  }
  RLC_ASSIGN_OR_RETURN(impl->target, ResolveLinks(path));
  struct stat status = {};
  const bool exists = stat(impl->target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return WriteError(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    impl->fd = open(impl->target.c_str(), O_WRONLY | O_CLOEXEC);
    if (impl->fd < 0) return WriteError(path, errno);
    return AtomicFile(std::move(impl));
  }
  if (exists && access(impl->target.c_str(), W_OK) != 0) return WriteError(path, errno);
  static std::atomic<unsigned> counter{0};
  const std::string folder = FolderOf(impl->target);
  for (int attempt = 0; attempt < 100 && impl->fd < 0; ++attempt) {
    // Not mkstemp: opening it with 0666 lets the user's umask decide, as for any other file.
    std::string name = JoinPath(
        folder, fmt::format(".{}.{}-{}.tmp", BaseName(impl->target).substr(0, 200), getpid(), counter.fetch_add(1)));
    impl->fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (impl->fd >= 0) {
      impl->temporary = std::move(name);
    } else if (errno != EEXIST) {
      return WriteError(path, errno);
    }
  }
  if (impl->fd < 0) return WriteError(path, EEXIST);
  if (exists) fchmod(impl->fd, status.st_mode & 07777);  // replaced, yet readable by the same people
  return AtomicFile(std::move(impl));
}

Expected<void> AtomicFile::Write(std::string_view bytes) {
  RLC_CHECK(impl_ != nullptr && !impl_->committed);
  impl_->written += bytes.size();
  if (impl_->path == "-") {
    impl_->buffer += bytes;
    return {};
  }
  return WriteAll(impl_->fd, impl_->path, bytes);
}

Expected<void> AtomicFile::Write(std::span<const std::byte> bytes) {
  return Write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Expected<void> AtomicFile::Commit() {
  RLC_CHECK(impl_ != nullptr && !impl_->committed);
  Impl& file = *impl_;
  if (file.path == "-") {
    RLC_RETURN_IF_ERROR(WriteAll(STDOUT_FILENO, "standard output", file.buffer));
    file.committed = true;
    return {};
  }
  // Pipes and devices cannot be synced (EINVAL, EROFS); everything else that fails here is a lost write.
  if (fsync(file.fd) != 0 && !file.temporary.empty()) return WriteError(file.path, errno);
  const int closed = close(std::exchange(file.fd, kNoFile));
  if (closed != 0) return WriteError(file.path, errno);
  if (!file.temporary.empty()) {
    if (rename(file.temporary.c_str(), file.target.c_str()) != 0) return WriteError(file.path, errno);
    SyncFolder(FolderOf(file.target));
  }
  file.committed = true;
  return {};
}

uint64_t AtomicFile::bytes_written() const { return impl_->written; }

Expected<void> WriteFileAtomically(const std::string& path, std::string_view bytes) {
  RLC_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RLC_RETURN_IF_ERROR(file.Write(bytes));
  return file.Commit();
}

Expected<TempDir> TempDir::Create(std::string_view prefix) {
  const char* root = std::getenv("TMPDIR");
  const std::string folder = root != nullptr && *root != '\0' ? root : "/tmp";
  std::string pattern = JoinPath(folder, fmt::format("{}-XXXXXX", prefix));
  if (mkdtemp(pattern.data()) == nullptr) return WriteError(folder, errno);
  return TempDir(std::move(pattern));
}

TempDir::~TempDir() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

Expected<std::string> UserCacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string folder;
  if (cache != nullptr && *cache == '/') {  // the specification ignores relative ones
    folder = JoinPath(cache, "rlc");
  } else if (home != nullptr && *home == '/') {
    folder = JoinPath(home, ".cache/rlc");
  } else {
    return MakeError(ErrorKind::kUnavailable, "no folder for cached files: neither XDG_CACHE_HOME nor HOME is set");
  }
  RLC_RETURN_IF_ERROR(MakeFolders(folder));
  return folder;
}

bool FileExists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Expected<std::vector<std::string>> ListFolder(const std::string& path, std::size_t max_entries) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
  if (folder == nullptr) {
    if (errno == ENOTDIR) return MakeError(ErrorKind::kInvalidInput, "{}: is a file, wanted a folder", path);
    return ReadError(path, errno);
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == max_entries) {
      return MakeError(ErrorKind::kInvalidInput, "{}: holds more than {} entries", path, max_entries);
    }
    names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return ReadError(path, errno);
  std::sort(names.begin(), names.end());
  return names;
}

Expected<void> MakeFolders(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) return MakeError(ErrorKind::kUnavailable, "{}: folder cannot be made: {}", path, code.message());
  return {};
}

std::string BaseName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string Extension(std::string_view path) {
  std::string name = BaseName(path);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return "";
  name.erase(0, dot);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

std::string FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

std::string JoinPath(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

}  // namespace rlc
