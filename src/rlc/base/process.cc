#include "rlc/base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

#include "rlc/base/clock.h"
#include "rlc/base/file.h"
#include "rlc/base/format.h"

namespace rlc {
namespace {

constexpr int kExceptionExitCode = static_cast<int>(ErrorKind::kInternal);
constexpr double kPollSeconds = 0.05;      // how late a time-out or stop may be noticed, and the spacing of RSS samples
constexpr double kExitPollSeconds = 1e-3;  // once all pipes are closed, the end of the child is next
constexpr double kDrainSeconds = 1.0;      // for output still in the pipes when the child is gone

// A file descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read;
  Fd write;
};

Expected<Pipe> MakePipe() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return MakeError(ErrorKind::kUnavailable, "cannot make a pipe to a child process: {}", std::strerror(errno));
  }
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  // Above 0..2, which the child overwrites with dup2; they are free only if our own were closed.
  for (Fd* end : {&pipe.read, &pipe.write}) {
    if (end->get() > STDERR_FILENO) continue;
    Fd moved(fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!moved.open()) return MakeError(ErrorKind::kUnavailable, "cannot make a pipe: {}", std::strerror(errno));
    *end = std::move(moved);
  }
  return pipe;
}

// All pipes between parent and child. `report` carries errno of a failed exec, or the payload of RunInChild.
struct Pipes {
  Pipe in;
  Pipe out;
  Pipe err;
  Pipe report;
};

Expected<Pipes> MakePipes() {
  Pipes pipes;
  for (Pipe* pipe : {&pipes.in, &pipes.out, &pipes.err, &pipes.report}) {
    RLC_ASSIGN_OR_RETURN(*pipe, MakePipe());
  }
  return pipes;
}

// In the child, straight after fork: async-signal-safe calls only. False (with errno) if something fails.
bool SetUpChild(const Pipes& pipes, const ProcessLimits& limits, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExceptionExitCode);  // it died before the line above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (limits.address_space_bytes > 0) {
    const struct rlimit space = {limits.address_space_bytes, limits.address_space_bytes};
    if (setrlimit(RLIMIT_AS, &space) != 0) return false;
  }
  return dup2(pipes.in.read.get(), STDIN_FILENO) >= 0 && dup2(pipes.out.write.get(), STDOUT_FILENO) >= 0 &&
         dup2(pipes.err.write.get(), STDERR_FILENO) >= 0;
}

void WriteAllRaw(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t put = write(fd, data, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return;
    data += put;
    size -= static_cast<std::size_t>(put);
  }
}

// Value of a "VmHWM:   123 kB" line, in bytes; 0 if there is none.
uint64_t StatusBytes(const std::string& status_path, std::string_view field) {
  const Fd file(open(status_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return 0;
  std::array<char, 4096> buffer;
  const ssize_t size = read(file.get(), buffer.data(), buffer.size());
  if (size <= 0) return 0;
  std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  const std::size_t at = text.find(field);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + field.size());
  uint64_t kilobytes = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      kilobytes = kilobytes * 10 + static_cast<uint64_t>(c - '0');
    } else if (c != ' ' && c != '\t') {
      break;
    }
  }
  return kilobytes * 1024;
}

// Keeps SIGPIPE away from this thread: a child that does not read its stdin must not kill us.
class SigpipeBlocker {
 public:
  SigpipeBlocker() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &previous_);
  }
  ~SigpipeBlocker() {
    const struct timespec now = {};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
  }
  SigpipeBlocker(const SigpipeBlocker&) = delete;
  SigpipeBlocker& operator=(const SigpipeBlocker&) = delete;

 private:
  sigset_t pipe_;
  sigset_t previous_;
  bool was_pending_;
};

// Watches one child from its start to its end.
class Supervisor {
 public:
  Supervisor(pid_t pid, Pipes pipes, const ProcessLimits& limits, std::string_view stdin_bytes,
             const std::function<void(std::string_view)>& on_stderr)
      : pid_(pid),
        limits_(limits),
        pipes_(std::move(pipes)),
        stdin_bytes_(stdin_bytes),
        on_stderr_(on_stderr),
        status_path_(fmt::format("/proc/{}/status", pid)),
        start_(clock_()) {
    pipes_.in.read.Close();
    pipes_.out.write.Close();
    pipes_.err.write.Close();
    pipes_.report.write.Close();
    for (const Fd* fd : {&pipes_.in.write, &pipes_.out.read, &pipes_.err.read, &pipes_.report.read}) {
      if (fd->open()) fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    }
    if (stdin_bytes_.empty()) pipes_.in.write.Close();
  }

  ProcessResult Run() {
    const SigpipeBlocker blocker;
    std::optional<double> exited_at;
    while (true) {
      const bool piped = WaitForOutput();
      if (!exited_at && HasExited()) {
        result_.wall_seconds = clock_() - start_;
        exited_at = clock_();
        // Grandchildren first: they may hold our pipes open. The zombie keeps the group's number from being reused.
        kill(-pid_, SIGKILL);
      }
      if (exited_at && (!piped || clock_() > *exited_at + kDrainSeconds)) break;
      if (!exited_at) EnforceLimits();
    }
    Reap();
    return std::move(result_);
  }

 private:
  // Moves bytes through the pipes, waiting a moment for them. False when no output pipe is open any more.
  bool WaitForOutput() {
    std::array<pollfd, 4> polled;
    nfds_t count = 0;
    const auto add = [&](const Fd& fd, short events) {
      if (fd.open()) polled[count++] = {fd.get(), events, 0};
    };
    add(pipes_.out.read, POLLIN);
    add(pipes_.err.read, POLLIN);
    add(pipes_.report.read, POLLIN);
    const bool piped = count > 0;
    add(pipes_.in.write, POLLOUT);
    double wait = piped ? kPollSeconds : kExitPollSeconds;
    if (limits_.seconds > 0 && !killed_) wait = std::clamp(start_ + limits_.seconds - clock_(), 0.0, wait);
    poll(polled.data(), count, static_cast<int>(wait * 1000) + 1);
    Receive(pipes_.out.read, result_.out, limits_.stdout_bytes, result_.out_truncated, nullptr);
    Receive(pipes_.err.read, result_.err, limits_.stderr_bytes, result_.err_truncated, &on_stderr_);
    bool payload_truncated = false;
    Receive(pipes_.report.read, result_.payload, limits_.stdout_bytes, payload_truncated, nullptr);
    result_.out_truncated |= payload_truncated;
    Send();
    return piped;
  }

  static void Receive(Fd& fd, std::string& into, std::size_t limit, bool& truncated,
                      const std::function<void(std::string_view)>* listener) {
    std::array<char, 65536> buffer;
    // A few buffers at a time, so that a child that floods one pipe cannot keep us from its time limit.
    for (int i = 0; fd.open() && i < 16; ++i) {
      const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        fd.Close();
        return;
      }
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
      const std::string_view kept = bytes.substr(0, limit - std::min(limit, into.size()));
      into += kept;
      truncated |= kept.size() < bytes.size();
      if (listener != nullptr && *listener) (*listener)(bytes);
    }
  }

  void Send() {
    while (pipes_.in.write.open()) {
      const ssize_t put =
          stdin_bytes_.empty() ? 0 : write(pipes_.in.write.get(), stdin_bytes_.data(), stdin_bytes_.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0 && errno == EAGAIN) return;
      if (put > 0) stdin_bytes_.remove_prefix(static_cast<std::size_t>(put));
      if (put < 0 || stdin_bytes_.empty()) pipes_.in.write.Close();  // EPIPE: it does not want the rest
    }
  }

  bool HasExited() {
    siginfo_t info = {};
    const int code = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (code == 0 && info.si_pid == pid_) return true;
    const double now = clock_();
    if (now >= next_sample_) {
      sampled_rss_ = std::max(sampled_rss_, StatusBytes(status_path_, "VmHWM:"));
      next_sample_ = now + kPollSeconds;
    }
    return false;
  }

  void EnforceLimits() {
    const double now = clock_();
    if (killed_) return;
    if (limits_.seconds > 0 && now >= start_ + limits_.seconds) {
      Kill(ProcessEnd::kTimeLimit);
    } else if (stop_deadline_) {
      if (now >= *stop_deadline_) Kill(ProcessEnd::kStopped);
    } else if (limits_.stop.StopRequested()) {
      stop_deadline_ = now + limits_.stop_grace_seconds;
      if (limits_.stop_grace_seconds > 0) kill(-pid_, SIGTERM);
    }
  }

  void Kill(ProcessEnd reason) {
    killed_ = reason;
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);  // should it have left its group
  }

  void Reap() {
    int status = 0;
    struct rusage usage = {};
    while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    const auto reported = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    result_.peak_rss_bytes = reported > parent_rss_ || sampled_rss_ == 0 ? reported : sampled_rss_;
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    result_.end = Classify();
  }

  ProcessEnd Classify() const {
    if (result_.exit_code == 0 && result_.signal == 0) return ProcessEnd::kExited;  // it was faster than our signal
    if (killed_ && result_.signal == SIGKILL) return *killed_;
    if (stop_deadline_) return ProcessEnd::kStopped;
    const auto says = [&](std::string_view text) { return result_.err.find(text) != std::string::npos; };
    const bool complains = says("bad_alloc") || says("Cannot allocate memory") || says("MemoryError");
    if (result_.exit_code == kOutOfMemoryExitCode || result_.signal == SIGKILL ||
        (limits_.address_space_bytes > 0 && complains)) {
      return ProcessEnd::kOutOfMemory;
    }
    return result_.signal != 0 ? ProcessEnd::kSignal : ProcessEnd::kExited;
  }

  const pid_t pid_;
  const ProcessLimits& limits_;
  Pipes pipes_;
  std::string_view stdin_bytes_;
  const std::function<void(std::string_view)>& on_stderr_;
  const std::string status_path_;
  const Clock clock_ = SteadyClock();
  const double start_;
  const uint64_t parent_rss_ = CurrentRssBytes();
  double next_sample_ = 0;
  uint64_t sampled_rss_ = 0;
  std::optional<ProcessEnd> killed_;
  std::optional<double> stop_deadline_;
  ProcessResult result_;
};

bool IsProgram(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

Expected<std::string> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : SplitText(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    std::string candidate = JoinPath(folder.empty() ? "." : folder, name);
    if (IsProgram(candidate)) return candidate;
  }
  return MakeError(ErrorKind::kUnavailable, "{}: no such program in PATH", name);
}

std::vector<std::string> Environment(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced =
        std::any_of(changes.begin(), changes.end(), [&](const auto& change) { return change.first == name; });
    if (!replaced) variables.emplace_back(text);
  }
  for (const auto& [name, value] : changes) variables.push_back(name + "=" + value);
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The errno of a child that could not exec; 0 when exec closed the pipe.
int ReadExecError(const Fd& report) {
  int code = 0;
  ssize_t got = 0;
  while ((got = read(report.get(), &code, sizeof(code))) < 0 && errno == EINTR) {
  }
  return got == static_cast<ssize_t>(sizeof(code)) ? code : 0;
}

std::string LastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const std::size_t newline = text.rfind('\n');
  if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
  return std::string(text.substr(0, 300));
}

[[noreturn]] void RunFunction(const std::function<std::string()>& function, int report) {
  InstallOutOfMemoryExit();
  int code = kExceptionExitCode;
  try {
    const std::string payload = function();
    WriteAllRaw(report, payload.data(), payload.size());
    code = 0;
  } catch (const std::bad_alloc&) {
    code = kOutOfMemoryExitCode;
  } catch (const std::exception& exception) {
    WriteAllRaw(STDERR_FILENO, exception.what(), std::strlen(exception.what()));
  } catch (...) {
    constexpr std::string_view kUnknown = "unknown exception";
    WriteAllRaw(STDERR_FILENO, kUnknown.data(), kUnknown.size());
  }
  std::fflush(nullptr);
  // No destructors and no exit handlers: they belong to the parent.
  _exit(code);
}

Unexpected CannotFork() {
  return MakeError(ErrorKind::kUnavailable, "cannot start a child process: {}", std::strerror(errno));
}

}  // namespace

std::string ProcessResult::Describe() const {
  std::string text;
  switch (end) {
    case ProcessEnd::kExited:
      text = exit_code == 0 ? "ended well" : fmt::format("exited with code {}", exit_code);
      break;
    case ProcessEnd::kSignal: {
      const char* name = sigdescr_np(signal);
      text = fmt::format("died of signal {} ({})", signal, name != nullptr ? name : "unknown");
      break;
    }
    case ProcessEnd::kTimeLimit:
      text = fmt::format("was killed after {}, the time limit", FormatSeconds(wall_seconds));
      break;
    case ProcessEnd::kOutOfMemory:
      text = "ran out of memory";
      break;
    case ProcessEnd::kStopped:
      text = fmt::format("was stopped after {}", FormatSeconds(wall_seconds));
      break;
  }
  const std::string line = LastLine(err);
  return Succeeded() || line.empty() ? text : fmt::format("{}: {}", text, line);
}

Expected<ProcessResult> RunProcess(const ProcessSpec& spec) {
  RLC_CHECK(!spec.argv.empty());
  RLC_ASSIGN_OR_RETURN(const std::string program, FindProgram(spec.argv[0]));
  RLC_ASSIGN_OR_RETURN(Pipes pipes, MakePipes());
  // Everything that allocates, before the fork.
  std::vector<std::string> arguments = spec.argv;
  std::vector<std::string> environment = Environment(spec.environment);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return CannotFork();
  if (pid == 0) {
    if (SetUpChild(pipes, spec.limits, parent) && (spec.folder.empty() || chdir(spec.folder.c_str()) == 0)) {
      execve(program.c_str(), argv.data(), envp.data());
    }
    const int code = errno;
    WriteAllRaw(pipes.report.write.get(), reinterpret_cast<const char*>(&code), sizeof(code));
    _exit(127);
  }
  setpgid(pid, pid);  // in both, so that the group exists whoever comes first
  pipes.report.write.Close();
  if (const int code = ReadExecError(pipes.report.read); code != 0) {
    waitpid(pid, nullptr, 0);
    return MakeError(ErrorKind::kUnavailable, "{}: cannot be run: {}", spec.argv[0], std::strerror(code));
  }
  pipes.report.read.Close();
  return Supervisor(pid, std::move(pipes), spec.limits, spec.stdin_bytes, spec.on_stderr).Run();
}

Expected<ProcessResult> RunInChild(const std::function<std::string()>& function, const ProcessLimits& limits) {
  RLC_ASSIGN_OR_RETURN(Pipes pipes, MakePipes());
  std::fflush(nullptr);  // or what is buffered now would be written twice
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return CannotFork();
  if (pid == 0) {
    if (!SetUpChild(pipes, limits, parent)) _exit(kExceptionExitCode);
    RunFunction(function, pipes.report.write.get());
  }
  setpgid(pid, pid);
  const std::function<void(std::string_view)> no_listener;
  return Supervisor(pid, std::move(pipes), limits, "", no_listener).Run();
}

void InstallOutOfMemoryExit() {
  std::set_new_handler([] { _exit(kOutOfMemoryExitCode); });
}

Expected<std::string> SelfExecutable() {
  std::array<char, PATH_MAX> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0) return MakeError(ErrorKind::kUnavailable, "cannot find our own program: {}", std::strerror(errno));
  return std::string(path.data(), static_cast<std::size_t>(size));
}

uint64_t PeakRssBytes() { return StatusBytes("/proc/self/status", "VmHWM:"); }
uint64_t CurrentRssBytes() { return StatusBytes("/proc/self/status", "VmRSS:"); }

}  // namespace rlc
