// A region's program as a list of kernels over storages: everything of a compiled region but its memory.
#ifndef RLC_REGION_LOWER_H_
#define RLC_REGION_LOWER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/kernels/kernel.h"
#include "rlc/region/compile.h"

namespace rlc {

// Memory that one or more tensors use, one after another.
struct Storage {
  enum class Kind { kArena, kInput, kOutput, kConstant };
  Kind kind = Kind::kArena;
  size_t index = 0;  // of the input or output
  size_t bytes = 0;
  int first = 0, last = 0;         // steps that write or read it
  std::shared_ptr<void> constant;  // kConstant: its memory
};

struct LoweredStep {
  std::unique_ptr<Kernel> kernel;
  std::vector<size_t> storages;  // of its arguments: inputs, then the output
  RegionStep description;
};

struct LoweredRegion {
  std::vector<Storage> storages;
  std::vector<LoweredStep> steps;
  std::vector<std::vector<int64_t>> output_dims;
};

// See CompiledRegion::Compile for the errors.
Expected<LoweredRegion> Lower(const Graph& program, std::span<const RegionInput> inputs, int threads);

// `bytes` of zeroed memory, 64-byte aligned.
std::shared_ptr<void> AllocateAligned(size_t bytes);

}  // namespace rlc

#endif  // RLC_REGION_LOWER_H_
