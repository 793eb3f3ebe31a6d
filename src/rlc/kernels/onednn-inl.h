// Inside this layer only: oneDNN's engine, formats as its memory descriptors, and kernels made of its primitives.
#ifndef RLC_KERNELS_ONEDNN_INL_H_
#define RLC_KERNELS_ONEDNN_INL_H_

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rlc/kernels/epilogue.h"
#include "rlc/kernels/format.h"
#include "rlc/kernels/kernel.h"

namespace rlc {

struct Format::Impl {
  dnnl::memory::desc desc;
  std::vector<int64_t> dims;
};

namespace onednn {

// The CPU; one for the process, never destroyed (sessions may outlive main()).
const dnnl::engine& Engine();

Format ToFormat(const dnnl::memory::desc& desc);
inline const dnnl::memory::desc& DescOf(const Format& format) { return format.impl().desc; }
dnnl::memory::data_type TypeOf(Element element);

// Appends `activation` to what a primitive does at its end. False: oneDNN has none such.
bool AppendActivation(dnnl::post_ops& ops, const Activation& activation);

// Attributes of all our primitives: scratch memory comes from the caller.
dnnl::primitive_attr Attributes(const dnnl::post_ops& ops = {});

// A constant argument, held by the kernel: `values` [dims], row-major, in the format that the primitive asks for.
dnnl::memory Packed(std::span<const float> values, const dnnl::memory::dims& dims, const dnnl::memory::desc& wanted);

// A primitive as a kernel. `roles` are oneDNN's names of the inputs (DNNL_ARG_SRC, ...), in the kernel's order; an
// input without a role (0) lies in the output's memory.
class PrimitiveKernel : public Kernel {
 public:
  PrimitiveKernel(dnnl::primitive primitive, const dnnl::primitive_desc_base& desc, std::vector<int> roles,
                  std::vector<Format> inputs, Format output, std::vector<std::pair<int, dnnl::memory>> constants = {});
  std::unique_ptr<BoundKernel> Bind(std::span<void* const> arguments, void* scratch) const override;

 private:
  dnnl::primitive primitive_;
  dnnl::memory::desc scratch_desc_;
  std::vector<int> roles_;
  std::vector<std::pair<int, dnnl::memory>> constants_;
};

}  // namespace onednn
}  // namespace rlc

#endif  // RLC_KERNELS_ONEDNN_INL_H_
