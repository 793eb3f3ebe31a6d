// A region's program, compiled for the shapes of one call: kernels chosen, constants packed, memory planned.
#ifndef RLC_REGION_COMPILE_H_
#define RLC_REGION_COMPILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/clock.h"
#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/kernels/parallel.h"

namespace rlc {

// One input of a region's call.
struct RegionInput {
  std::vector<int64_t> dims;
  std::optional<Tensor> constant;  // weights; its bytes are needed during compilation only
};

struct RegionStep {
  std::string node;            // name of the value it computes; for reorders, of the one it copies
  std::string op;              // "Conv + Add + Relu", "reorder"
  std::string implementation;  // "oneDNN jit:avx512_core", "Winograd F(4x4,3x3)"
  int layer = -1;              // number of the layer in it, or of the one that a reorder is for
  size_t constant_bytes = 0;
};

class CompiledRegion {
 public:
  // `program`: from ReadProgram; one of `inputs` for each of its inputs. `threads` may share the work of a run. Error,
  // kInvalidInput: an input's shape contradicts the program's, or a node is none that rlc compiles; kUnavailable: this
  // CPU has no kernel for a node.
  static Expected<CompiledRegion> Compile(const Graph& program, std::span<const RegionInput> inputs, int threads);

  // Of the outputs, in the program's order.
  const std::vector<std::vector<int64_t>>& output_dims() const;
  const std::vector<RegionStep>& steps() const;  // in the order in which they run
  size_t arena_bytes() const;                    // working memory of one run
  size_t constant_bytes() const;                 // packed weights

  // inputs: one for each input of the program, those of constants are not looked at. Dense, row-major. Runs may overlap
  // in several threads (each takes working memory of its own, kept for later runs).
  void Run(std::span<const float* const> inputs, std::span<float* const> outputs, const Parallel& parallel) const;

  // Seconds that each step takes in one run, by `clock`.
  std::vector<double> TimeSteps(std::span<const float* const> inputs, std::span<float* const> outputs,
                                const Clock& clock) const;

 private:
  struct Impl;
  template <typename RunStep>
  void RunSteps(std::span<const float* const> inputs, std::span<float* const> outputs, const RunStep& run_step) const;
  explicit CompiledRegion(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace rlc

#endif  // RLC_REGION_COMPILE_H_
