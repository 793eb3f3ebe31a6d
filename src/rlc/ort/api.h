// Inside this layer only: the C API of the loaded runtime, and its errors as ours.
#ifndef RLC_ORT_API_H_
#define RLC_ORT_API_H_

#include <string>
#include <string_view>

#include "rlc/base/error.h"
#include "rlc/ort/runtime.h"

struct OrtApi;
struct OrtEnv;
struct OrtStatus;

namespace rlc::internal {

// Lives until the process ends: the runtime's threads and allocators may outlive main().
struct LoadedRuntime {
  const OrtApi* api = nullptr;
  OrtEnv* env = nullptr;
  RuntimeInfo info;
};

// Loads the runtime if need be; the same object every time.
Expected<const LoadedRuntime*> Runtime();

// Takes over `status` (null: success). `doing` completes "ONNX Runtime 1.32.0 cannot ...". The runtime's reason becomes
// one line of bounded length.
Expected<void> TakeStatus(const LoadedRuntime& runtime, OrtStatus* status, std::string_view what,
                          std::string_view doing);

// Denormals of the calling thread become zero (or not) for the lifetime of this object. The runtime sets this once for
// the thread that makes the process's first session and never again, so whether a run flushes would depend on history.
class ScopedDenormals {
 public:
  explicit ScopedDenormals(bool flush);
  ~ScopedDenormals();
  ScopedDenormals(const ScopedDenormals&) = delete;
  ScopedDenormals& operator=(const ScopedDenormals&) = delete;

 private:
  unsigned long long previous_;
};

}  // namespace rlc::internal

#endif  // RLC_ORT_API_H_
