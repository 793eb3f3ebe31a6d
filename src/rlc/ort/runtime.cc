#include "rlc/ort/runtime.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "rlc/base/file.h"
#include "rlc/base/process.h"
#include "rlc/ort/api.h"

namespace rlc {
namespace {

// The newest function of the C API that this layer uses appeared in 1.21, and what the runtime does to float layers
// between quantized ones (see runtime_graph.h) is known from there on.
constexpr uint32_t kLowestApi = 21;

struct State {
  std::mutex mutex;
  std::string chosen;  // by ChooseRuntime: a library
  std::optional<internal::LoadedRuntime> loaded;
};

State& TheState() {
  static State* state = new State;  // never destroyed: see LoadedRuntime
  return *state;
}

// "libonnxruntime.so.1.32.0" and its links, but not libonnxruntime_providers_shared.so.
bool IsRuntimeName(std::string_view name) {
  constexpr std::string_view kStem = "libonnxruntime.so";
  if (!name.starts_with(kStem)) return false;
  return name.size() == kStem.size() || name[kStem.size()] == '.';
}

// The library at `path` or in the usual places below it; empty when there is none.
std::string FindLibrary(const std::string& path) {
  if (FileExists(path) && !IsFolder(path)) return path;
  for (const char* below : {"", "lib", "capi", "onnxruntime/capi", "lib64"}) {
    const std::string folder = *below ? JoinPath(path, below) : path;
    if (!IsFolder(folder)) continue;
    auto names = ListFolder(folder);
    if (!names) continue;
    // Sorted, so the plain name (a link to the preferred one) comes before versioned ones.
    auto found = std::find_if(names->begin(), names->end(), IsRuntimeName);
    if (found != names->end()) return JoinPath(folder, *found);
  }
  return {};
}

// Folders and names to try without being told; a name without '/' goes through the system's loader.
std::vector<std::string> DefaultCandidates() {
  std::vector<std::string> candidates;
#ifdef RLC_ONNXRUNTIME_LIBRARY
  candidates.emplace_back(RLC_ONNXRUNTIME_LIBRARY);
#endif
  if (auto self = SelfExecutable()) {
    // Installed (bin/ beside lib/), and in a build folder of the source tree.
    const std::string folder = FolderOf(*self);
    candidates.push_back(JoinPath(folder, "../lib"));
    candidates.push_back(JoinPath(folder, "../../.deps/onnxruntime"));
  }
  candidates.emplace_back("libonnxruntime.so.1");
  candidates.emplace_back("libonnxruntime.so");
  return candidates;
}

int MinorVersion(std::string_view version) {
  const size_t dot = version.find('.');
  if (!version.starts_with("1.") || dot == std::string_view::npos) return -1;
  int minor = -1;
  std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return minor;
}

Expected<internal::LoadedRuntime> Load(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return MakeError(ErrorKind::kUnavailable, "{}: ONNX Runtime cannot be loaded: {}", library, dlerror());
  }
  using GetBase = const OrtApiBase* (*)();
  auto get_base = reinterpret_cast<GetBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) {
    dlclose(handle);
    return MakeError(ErrorKind::kUnavailable, "{}: not ONNX Runtime (it has no OrtGetApiBase)", library);
  }
  const OrtApiBase* base = get_base();
  internal::LoadedRuntime runtime;
  runtime.info = {base->GetVersionString(), library};
  // Asked first: GetApi of a runtime that is too old prints to stderr.
  const int minor = MinorVersion(runtime.info.version);
  runtime.api = minor >= 0 && minor < static_cast<int>(kLowestApi) ? nullptr : base->GetApi(kLowestApi);
  if (runtime.api == nullptr) {
    return MakeError(ErrorKind::kUnavailable,
                     "{}: ONNX Runtime {} is too old, rlc needs 1.{} or newer; name another with ONNXRUNTIME_ROOT",
                     library, runtime.info.version, kLowestApi);
  }
  RLC_RETURN_IF_ERROR(internal::TakeStatus(
      runtime, runtime.api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "rlc", &runtime.env), library, "start"));
  return runtime;
}

Expected<internal::LoadedRuntime> LoadAny(const std::string& chosen) {
  if (!chosen.empty()) return Load(chosen);
  if (const char* root = std::getenv("ONNXRUNTIME_ROOT"); root != nullptr && *root != '\0') {
    const std::string library = FindLibrary(root);
    if (library.empty()) {
      return MakeError(ErrorKind::kUnavailable,
                       "ONNXRUNTIME_ROOT={}: no libonnxruntime.so there, nor in lib/ or capi/ below it", root);
    }
    return Load(library);
  }
  std::string tried;
  for (const std::string& candidate : DefaultCandidates()) {
    const std::string library = candidate.find('/') == std::string::npos ? candidate : FindLibrary(candidate);
    if (library.empty()) continue;
    auto loaded = Load(library);
    if (loaded) return loaded;
    tried += (tried.empty() ? "" : "; ") + loaded.error().message;
  }
  return MakeError(
      ErrorKind::kUnavailable,
      "ONNX Runtime was not found; install it and set ONNXRUNTIME_ROOT to the folder of libonnxruntime.so{}{}",
      tried.empty() ? "" : " - tried: ", tried);
}

// One line, at most 500 bytes, without the build machine's source folder in it.
std::string OneLine(std::string text) {
  for (const std::string_view noise :
       {std::string_view("/onnxruntime_src/"), std::string_view("[ONNXRuntimeError] : ")}) {
    for (size_t at = text.find(noise); at != std::string::npos; at = text.find(noise, at)) text.erase(at, noise.size());
  }
  std::string line;
  for (const char c : text) {
    const char plain = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    if (plain != ' ' || (!line.empty() && line.back() != ' ')) line += plain;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() > 500) line = line.substr(0, 497) + "...";
  return line;
}

}  // namespace

Expected<void> ChooseRuntime(const std::string& path) {
  const std::string library = FindLibrary(path);
  if (library.empty()) {
    return MakeError(ErrorKind::kUsage, "{}: no libonnxruntime.so there, nor in lib/ or capi/ below it", path);
  }
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  if (state.loaded && state.loaded->info.path != library) {
    return MakeError(ErrorKind::kUsage, "{}: this process already uses the ONNX Runtime {} of {}", library,
                     state.loaded->info.version, state.loaded->info.path);
  }
  state.chosen = library;
  return {};
}

Expected<RuntimeInfo> LoadRuntime() {
  RLC_ASSIGN_OR_RETURN(const internal::LoadedRuntime* runtime, internal::Runtime());
  return runtime->info;
}

std::vector<std::string> RuntimeCandidates() {
  {
    State& state = TheState();
    const std::lock_guard lock(state.mutex);
    if (!state.chosen.empty()) return {state.chosen};
  }
  if (const char* root = std::getenv("ONNXRUNTIME_ROOT"); root != nullptr && *root != '\0') return {root};
  return DefaultCandidates();
}

namespace internal {

Expected<const LoadedRuntime*> Runtime() {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  if (!state.loaded) {
    RLC_ASSIGN_OR_RETURN(state.loaded, LoadAny(state.chosen));
  }
  return &*state.loaded;
}

Expected<void> TakeStatus(const LoadedRuntime& runtime, OrtStatus* status, std::string_view what,
                          std::string_view doing) {
  if (status == nullptr) return {};
  const OrtErrorCode code = runtime.api->GetErrorCode(status);
  const std::string reason = OneLine(runtime.api->GetErrorMessage(status));
  runtime.api->ReleaseStatus(status);
  ErrorKind kind = ErrorKind::kInvalidInput;
  if (code == ORT_NOT_IMPLEMENTED || code == ORT_EP_FAIL || code == ORT_ENGINE_ERROR) kind = ErrorKind::kUnavailable;
  if (code == ORT_RUNTIME_EXCEPTION) kind = ErrorKind::kInternal;
  return MakeError(kind, "{}: ONNX Runtime {} cannot {}: {}", what, runtime.info.version, doing, reason);
}

#if defined(__SSE2__)
namespace {
constexpr unsigned kFlush = 0x8040;  // MXCSR: flush to zero (results) and denormals are zero (operands)
}
ScopedDenormals::ScopedDenormals(bool flush) : previous_(_mm_getcsr()) {
  const auto word = static_cast<unsigned>(previous_);
  _mm_setcsr(flush ? word | kFlush : word & ~kFlush);
}
ScopedDenormals::~ScopedDenormals() { _mm_setcsr(static_cast<unsigned>(previous_)); }
#elif defined(__aarch64__)
namespace {
constexpr unsigned long long kFlush = 1ull << 24;  // FPCR.FZ
}
ScopedDenormals::ScopedDenormals(bool flush) {
  asm volatile("mrs %0, fpcr" : "=r"(previous_));
  const unsigned long long word = flush ? previous_ | kFlush : previous_ & ~kFlush;
  asm volatile("msr fpcr, %0" ::"r"(word));
}
ScopedDenormals::~ScopedDenormals() { asm volatile("msr fpcr, %0" ::"r"(previous_)); }
#else
ScopedDenormals::ScopedDenormals(bool) : previous_(0) {}
ScopedDenormals::~ScopedDenormals() = default;
#endif

}  // namespace internal
}  // namespace rlc
