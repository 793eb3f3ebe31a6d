// One step of a compiled region: an implementation of a layer for one shape, with its constants packed.
#ifndef RLC_KERNELS_KERNEL_H_
#define RLC_KERNELS_KERNEL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rlc/kernels/format.h"
#include "rlc/kernels/parallel.h"

namespace rlc {

// A kernel with its memory: what runs. Not for two threads at once.
class BoundKernel {
 public:
  virtual ~BoundKernel() = default;
  // Other memory for one argument (inputs in order, then the output) from the next run on.
  virtual void Rebind(size_t argument, void* memory) = 0;
  virtual void Run(const Parallel& parallel) = 0;  // allocates nothing
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // What it reads, in the order of its factory, and writes. Whoever runs it reorders what he has in another format.
  const std::vector<Format>& inputs() const { return inputs_; }
  const Format& output() const { return output_; }
  // The input that lies in the memory of the output and is overwritten, -1: none may.
  int in_place() const { return in_place_; }
  size_t scratch_bytes() const { return scratch_bytes_; }
  size_t constant_bytes() const { return constant_bytes_; }              // packed weights that it holds
  const std::string& implementation() const { return implementation_; }  // "oneDNN jit:avx512_core", "Winograd 4x4"

  // `arguments`: inputs, then the output, 64-byte aligned unless plain; `scratch` is 64-byte aligned and may be shared
  // with kernels that do not run at the same time. The kernel outlives what it binds.
  virtual std::unique_ptr<BoundKernel> Bind(std::span<void* const> arguments, void* scratch) const = 0;

 protected:
  std::vector<Format> inputs_;
  Format output_;
  int in_place_ = -1;
  size_t scratch_bytes_ = 0, constant_bytes_ = 0;
  std::string implementation_;
};

}  // namespace rlc

#endif  // RLC_KERNELS_KERNEL_H_
