#include "rlc/measure/child_process.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/base/process.h"
#include "rlc/measure/child_jobs.h"
#include "rlc/measure/fingerprint.h"
#include "rlc/ort/runtime.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RLC_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define RLC_SANITIZED 1
#endif
#endif

namespace rlc {
namespace {

constexpr uint64_t kMaxReplyBytes = uint64_t{256} << 20;

struct Settings {
  std::mutex mutex;
  std::vector<std::string> program;
  std::map<std::string, MeasureJob> jobs = internal::BuiltInJobs();
};

Settings& TheSettings() {
  static Settings* settings = new Settings;
  return *settings;
}

// Held while a child measures. Two processes of one user cannot hold it at once; the kernel frees it when a process
// dies.
class MachineLock {
 public:
  // Without a cache folder there is no lock, and nothing to complain about.
  static Expected<MachineLock> Acquire(StopToken stop) {
    MachineLock lock;
    const auto folder = UserCacheFolder();
    if (!folder) return lock;
    lock.file_ = open(JoinPath(*folder, "measure.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (lock.file_ >= 0 && flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
      if (stop.StopRequested()) return MakeError(ErrorKind::kInterrupted, "interrupted while another measurement runs");
      usleep(20'000);
    }
    return lock;
  }
  MachineLock(MachineLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  MachineLock& operator=(MachineLock&&) = delete;
  ~MachineLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  MachineLock() = default;
  int file_ = -1;
};

Expected<std::vector<std::string>> Program() {
  Settings& settings = TheSettings();
  const std::lock_guard lock(settings.mutex);
  if (!settings.program.empty()) return settings.program;
  RLC_ASSIGN_OR_RETURN(std::string self, SelfExecutable());
  return std::vector<std::string>{std::move(self)};
}

MeasureJob FindJob(const std::string& name) {
  Settings& settings = TheSettings();
  const std::lock_guard lock(settings.mutex);
  const auto job = settings.jobs.find(name);
  return job == settings.jobs.end() ? MeasureJob() : job->second;
}

uint64_t MemoryLimit(const ChildLimits& limits) {
#ifdef RLC_SANITIZED
  (void)limits;
  return 0;
#else
  return limits.memory_bytes != 0 ? limits.memory_bytes : DescribeMachine().memory_bytes;
#endif
}

// The child's side: request in, reply out.
Expected<Json> Serve(const Json& request) {
  RLC_ASSIGN_OR_RETURN(const std::string name, GetString(request, "job"));
  RLC_ASSIGN_OR_RETURN(const std::string runtime, GetStringOr(request, "runtime", ""));
  RLC_ASSIGN_OR_RETURN(const Json* body, GetObject(request, "request"));
  const MeasureJob job = FindJob(name);
  if (!job) return MakeError(ErrorKind::kInternal, "there is no measuring job '{}'", name);
  if (!runtime.empty()) RLC_RETURN_IF_ERROR(ChooseRuntime(runtime));
  return job(*body);
}

Expected<Json> ReadReply(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxReplyBytes));
  RLC_ASSIGN_OR_RETURN(Json reply, ParseJson(text, "the measuring process's reply"));
  if (!reply.contains("error")) {
    RLC_ASSIGN_OR_RETURN(const Json* result, GetField(reply, "result"));
    return *result;
  }
  RLC_ASSIGN_OR_RETURN(const Json* error, GetObject(reply, "error"));
  RLC_ASSIGN_OR_RETURN(const int64_t kind, GetInt(*error, "kind"));
  RLC_ASSIGN_OR_RETURN(std::string message, GetString(*error, "message"));
  return Unexpected(Error{static_cast<ErrorKind>(kind), std::move(message)});
}

}  // namespace

bool IsMeasureChild(int argc, char** argv) { return argc > 1 && argv[1] == kMeasureChildCommand; }

int MeasureChildMain(int argc, char** argv) {
  InstallOutOfMemoryExit();
  if (argc != 4) return static_cast<int>(ErrorKind::kUsage);
  auto request = ReadJsonFile(argv[2]);
  const Expected<Json> result = request ? Serve(*request) : Expected<Json>(Unexpected(request.error()));
  Json reply = Json::object();
  if (result) {
    reply["result"] = *result;
  } else {
    reply["error"] = {{"kind", static_cast<int>(result.error().kind)}, {"message", result.error().message}};
  }
  const auto written = WriteFileAtomically(argv[3], DumpJson(reply, -1));
  return written ? 0 : static_cast<int>(written.error().kind);
}

void RegisterMeasureJob(const std::string& name, MeasureJob job) {
  Settings& settings = TheSettings();
  const std::lock_guard lock(settings.mutex);
  settings.jobs[name] = std::move(job);
}

void SetMeasureProgram(std::vector<std::string> argv) {
  Settings& settings = TheSettings();
  const std::lock_guard lock(settings.mutex);
  settings.program = std::move(argv);
}

Expected<ChildReply> RunMeasureChild(const std::string& job, const Json& request, const std::string& what,
                                     const ChildLimits& limits) {
  RLC_ASSIGN_OR_RETURN(const RuntimeInfo runtime, LoadRuntime());
  RLC_ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create("rlc-measure"));
  const std::string request_path = JoinPath(folder.path(), "request.json");
  const std::string reply_path = JoinPath(folder.path(), "reply.json");
  const Json whole = {{"job", job}, {"runtime", runtime.path}, {"request", request}};
  RLC_RETURN_IF_ERROR(WriteFileAtomically(request_path, DumpJson(whole, -1)));

  ProcessSpec spec;
  RLC_ASSIGN_OR_RETURN(spec.argv, Program());
  spec.argv.insert(spec.argv.end(), {std::string(kMeasureChildCommand), request_path, reply_path});
  spec.limits.seconds = limits.seconds;
  spec.limits.address_space_bytes = MemoryLimit(limits);
  spec.limits.stdout_bytes = 64 << 10;
  spec.limits.stderr_bytes = 64 << 10;
  spec.limits.stop = limits.stop;
  RLC_ASSIGN_OR_RETURN(const MachineLock lock, MachineLock::Acquire(limits.stop));
  RLC_ASSIGN_OR_RETURN(const ProcessResult ended, RunProcess(spec));
  if (ended.end == ProcessEnd::kStopped)
    return MakeError(ErrorKind::kInterrupted, "{}: measuring was interrupted", what);
  if (!ended.Succeeded()) {
    return MakeError(ErrorKind::kUnavailable, "{}: the measuring process {}", what, ended.Describe());
  }
  auto result = ReadReply(reply_path);
  if (!result) return WithContext(result.error(), what);
  return ChildReply{*std::move(result), ended.wall_seconds, ended.peak_rss_bytes};
}

}  // namespace rlc
