// Sessions of ONNX Runtime: load a model, ask for its interface, run it.
#ifndef RLC_ORT_SESSION_H_
#define RLC_ORT_SESSION_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/tensor.h"
#include "rlc/ir/type.h"

namespace rlc {

// ONNX Runtime's graph optimization level.
enum class OptLevel { kNone, kBasic, kExtended, kAll };
std::string_view OptLevelName(OptLevel level);  // "none", "basic", "extended", "all"
Expected<OptLevel> ParseOptLevel(std::string_view name);

struct SessionOptions {
  OptLevel level = OptLevel::kAll;
  int threads = 1;  // inside an operator; operators run one after another. Workers sleep when idle (no spinning).
  // Denormal floats count as zero, in all threads while the session runs. For timing; off where numbers are the point.
  bool flush_denormals = true;
  bool arena = true;  // keep freed memory for the next run
  // The optimized graph is written here while the session is created; empty: not. See rlc/ort/runtime_graph.h.
  std::string optimized_model_path;
  std::vector<std::string> custom_op_libraries;  // paths, e.g. of librlc_ops.so
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct InterfaceValue {
  std::string name;
  Type type;  // kUnknown kind for sequences, maps and optionals
};

// Copies share the session. Runs of one session may overlap in several threads.
class Session {
 public:
  // `what` names the model in errors. Error, kInvalidInput: the runtime refuses it (its own reason is in the sentence);
  // kUnavailable: no runtime, or it lacks an operator for this type.
  static Expected<Session> FromBytes(std::string_view model, const std::string& what,
                                     const SessionOptions& options = {});
  static Expected<Session> FromFile(const std::string& path, const SessionOptions& options = {});

  const std::vector<InterfaceValue>& inputs() const;  // in the model's order, without overridable initializers
  const std::vector<InterfaceValue>& outputs() const;
  const std::string& what() const;

  // Runs the model once. Inputs are used where they are (no copy); outputs are the runtime's own buffers. `outputs`
  // empty: all of them, in the model's order. Error, kInvalidInput: an input is missing, unknown, or of the wrong type
  // or shape (names it, with found and wanted); kInternal: the runtime fails.
  Expected<std::vector<Tensor>> Run(std::span<const NamedTensor> inputs,
                                    std::span<const std::string> outputs = {}) const;

 private:
  friend class BoundRun;
  struct Impl;
  explicit Session(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// A session with its inputs and outputs fixed, to be run many times with nothing but the run inside: what is timed.
class BoundRun {
 public:
  // Runs once, to learn the sizes of the outputs; they are the same for every later run.
  static Expected<BoundRun> Create(const Session& session, std::vector<NamedTensor> inputs);

  // Computes all outputs anew, into the same memory when their shapes are the same again.
  Expected<void> Run();

 private:
  struct Impl;
  explicit BoundRun(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace rlc

#endif  // RLC_ORT_SESSION_H_
