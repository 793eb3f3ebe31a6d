// One call of a compiled region inside an ONNX Runtime session.
#ifndef RLC_OPS_REGION_KERNEL_H_
#define RLC_OPS_REGION_KERNEL_H_

#include <onnxruntime_c_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/region/compile.h"

namespace rlc {

class RegionKernel {
 public:
  // Reads the program and the constant inputs; compiles at once if the runtime knows all shapes. Error: the program
  // cannot be read, or a node cannot be compiled.
  static Expected<std::unique_ptr<RegionKernel>> Create(const OrtApi& api, const OrtKernelInfo* info);

  // Compiles for the inputs' shapes if that has not happened. May run in several threads at once.
  Expected<void> Compute(OrtKernelContext* context);

 private:
  using Compiled = std::shared_ptr<const CompiledRegion>;

  RegionKernel(const OrtApi& api, Graph program) : api_(api), program_(std::move(program)) {}
  Expected<void> ReadConstants(const OrtKernelInfo* info);
  Expected<void> CompileAhead(const OrtKernelInfo* info);
  Expected<Compiled> CompiledFor(const std::vector<std::vector<int64_t>>& dims);
  Expected<void> Take(OrtStatus* status) const;  // takes it over

  const OrtApi& api_;
  const Graph program_;
  std::vector<RegionInput> inputs_;  // constants filled in; others without dims
  std::mutex mutex_;
  std::vector<std::pair<std::vector<std::vector<int64_t>>, Compiled>> compiled_;  // by shapes, most recent last
};

}  // namespace rlc

#endif  // RLC_OPS_REGION_KERNEL_H_
