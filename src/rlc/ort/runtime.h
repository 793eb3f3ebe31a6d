// The ONNX Runtime library itself: found and loaded on first use, never linked.
//
// Loading takes 3-90 ms, which a command that runs no model should not pay, and the wheels export their one entry point
// under a version of its own (OrtGetApiBase@VERS_1.32.0), so a program linked against one release does not start with
// another. One process uses one runtime.
#ifndef RLC_ORT_RUNTIME_H_
#define RLC_ORT_RUNTIME_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"

namespace rlc {

struct RuntimeInfo {
  std::string version;  // "1.32.0"
  std::string path;     // of the library that was loaded
};

// The runtime to use from now on: the library itself, or a folder that has one (or has it under lib/ or capi/). Error,
// kUsage: nothing there, or another runtime is loaded already.
Expected<void> ChooseRuntime(const std::string& path);

// Loads the runtime if that has not happened: the chosen one; else $ONNXRUNTIME_ROOT; else the one that the build
// found; else what the system's loader finds. Error, kUnavailable: none found, or too old (the sentence names it, its
// version and the lowest that will do).
Expected<RuntimeInfo> LoadRuntime();

// Where LoadRuntime would look, in this order, for messages and `rlc doctor`.
std::vector<std::string> RuntimeCandidates();

}  // namespace rlc

#endif  // RLC_ORT_RUNTIME_H_
