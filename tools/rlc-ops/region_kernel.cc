#include "region_kernel.h"

#include <algorithm>
#include <span>

#include "rlc/region/program.h"

namespace rlc {
namespace {

// Compiled forms kept for each call: a network is run with a few shapes, and each holds its packed weights.
constexpr size_t kMostCompiled = 4;

}  // namespace

Expected<void> RegionKernel::Take(OrtStatus* status) const {
  if (status == nullptr) return {};
  std::string message = api_.GetErrorMessage(status);
  api_.ReleaseStatus(status);
  return MakeError(ErrorKind::kInternal, "ONNX Runtime: {}", message);
}

Expected<std::unique_ptr<RegionKernel>> RegionKernel::Create(const OrtApi& api, const OrtKernelInfo* info) {
  size_t size = 0;
  // The first call tells the size (and fails, for want of room).
  if (OrtStatus* status = api.KernelInfoGetAttribute_string(info, "program", nullptr, &size)) api.ReleaseStatus(status);
  if (size == 0) return MakeError(ErrorKind::kInvalidInput, "the call has no attribute 'program'");
  std::string text(size, '\0');
  if (OrtStatus* status = api.KernelInfoGetAttribute_string(info, "program", text.data(), &size)) {
    api.ReleaseStatus(status);
    return MakeError(ErrorKind::kInvalidInput, "the call's attribute 'program' is no string");
  }
  text.resize(size - 1);  // the size counts the terminating zero
  RLC_ASSIGN_OR_RETURN(Graph program, ReadProgram(text));
  std::unique_ptr<RegionKernel> kernel(new RegionKernel(api, std::move(program)));
  RLC_RETURN_IF_ERROR(kernel->ReadConstants(info));
  RLC_RETURN_IF_ERROR(kernel->CompileAhead(info));
  return kernel;
}

Expected<void> RegionKernel::ReadConstants(const OrtKernelInfo* info) {
  size_t count = 0;
  RLC_RETURN_IF_ERROR(Take(api_.KernelInfo_GetInputCount(info, &count)));
  if (count != program_.inputs().size()) {
    return MakeError(ErrorKind::kInvalidInput, "the call has {} inputs, its program {}", count,
                     program_.inputs().size());
  }
  for (size_t i = 0; i < count; ++i) {
    RegionInput input;
    int is_constant = 0;
    const OrtValue* value = nullptr;
    RLC_RETURN_IF_ERROR(Take(api_.KernelInfoGetConstantInput_tensor(info, i, &is_constant, &value)));
    if (is_constant != 0) {
      OrtTensorTypeAndShapeInfo* shape = nullptr;
      RLC_RETURN_IF_ERROR(Take(api_.GetTensorTypeAndShape(value, &shape)));
      const std::unique_ptr<OrtTensorTypeAndShapeInfo, void (*)(OrtTensorTypeAndShapeInfo*)> owned(
          shape, api_.ReleaseTensorTypeAndShapeInfo);
      ONNXTensorElementDataType elem = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
      size_t rank = 0;
      RLC_RETURN_IF_ERROR(Take(api_.GetTensorElementType(shape, &elem)));
      RLC_RETURN_IF_ERROR(Take(api_.GetDimensionsCount(shape, &rank)));
      input.dims.resize(rank);
      RLC_RETURN_IF_ERROR(Take(api_.GetDimensions(shape, input.dims.data(), rank)));
      const auto bytes = ByteSize(static_cast<DType>(elem), input.dims);
      if (!bytes) return MakeError(ErrorKind::kInvalidInput, "input {} has a type that regions do not take", i);
      void* data = nullptr;
      // The session keeps its constants for as long as its kernels live.
      RLC_RETURN_IF_ERROR(Take(api_.GetTensorMutableData(const_cast<OrtValue*>(value), &data)));
      input.constant = Tensor::FromView(static_cast<DType>(elem), input.dims,
                                        {static_cast<const std::byte*>(data), static_cast<size_t>(*bytes)}, nullptr);
    }
    inputs_.push_back(std::move(input));
  }
  return {};
}

Expected<void> RegionKernel::CompileAhead(const OrtKernelInfo* info) {
  std::vector<std::vector<int64_t>> dims;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    dims.push_back(inputs_[i].dims);
    if (inputs_[i].constant) continue;
    OrtTypeInfo* type = nullptr;
    RLC_RETURN_IF_ERROR(Take(api_.KernelInfo_GetInputTypeInfo(info, i, &type)));
    const std::unique_ptr<OrtTypeInfo, void (*)(OrtTypeInfo*)> owned(type, api_.ReleaseTypeInfo);
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    size_t rank = 0;
    RLC_RETURN_IF_ERROR(Take(api_.CastTypeInfoToTensorInfo(type, &tensor)));
    if (tensor == nullptr) return {};
    RLC_RETURN_IF_ERROR(Take(api_.GetDimensionsCount(tensor, &rank)));
    dims.back().resize(rank);
    RLC_RETURN_IF_ERROR(Take(api_.GetDimensions(tensor, dims.back().data(), rank)));
    // Rank 0 is also what an unknown rank looks like.
    if (rank == 0 || *std::min_element(dims.back().begin(), dims.back().end()) < 1) return {};
  }
  RLC_RETURN_IF_ERROR(CompiledFor(dims));
  return {};
}

Expected<RegionKernel::Compiled> RegionKernel::CompiledFor(const std::vector<std::vector<int64_t>>& dims) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(compiled_.begin(), compiled_.end(), [&](const auto& row) { return row.first == dims; });
  if (found != compiled_.end()) {
    std::rotate(found, found + 1, compiled_.end());
    return compiled_.back().second;
  }
  std::vector<RegionInput> inputs = inputs_;
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].dims = dims[i];
  RLC_ASSIGN_OR_RETURN(CompiledRegion region, CompiledRegion::Compile(program_, inputs, /*threads=*/1));
  if (compiled_.size() >= kMostCompiled) compiled_.erase(compiled_.begin());
  compiled_.emplace_back(dims, std::make_shared<const CompiledRegion>(std::move(region)));
  return compiled_.back().second;
}

Expected<void> RegionKernel::Compute(OrtKernelContext* context) {
  std::vector<std::vector<int64_t>> dims(inputs_.size());
  std::vector<const float*> inputs(inputs_.size(), nullptr);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].constant) {
      dims[i] = inputs_[i].dims;
      continue;
    }
    const OrtValue* value = nullptr;
    RLC_RETURN_IF_ERROR(Take(api_.KernelContext_GetInput(context, i, &value)));
    OrtTensorTypeAndShapeInfo* shape = nullptr;
    RLC_RETURN_IF_ERROR(Take(api_.GetTensorTypeAndShape(value, &shape)));
    const std::unique_ptr<OrtTensorTypeAndShapeInfo, void (*)(OrtTensorTypeAndShapeInfo*)> owned(
        shape, api_.ReleaseTensorTypeAndShapeInfo);
    ONNXTensorElementDataType elem = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t rank = 0;
    RLC_RETURN_IF_ERROR(Take(api_.GetTensorElementType(shape, &elem)));
    if (elem != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
      return MakeError(ErrorKind::kInvalidInput, "input {} is no float tensor", i);
    }
    RLC_RETURN_IF_ERROR(Take(api_.GetDimensionsCount(shape, &rank)));
    dims[i].resize(rank);
    RLC_RETURN_IF_ERROR(Take(api_.GetDimensions(shape, dims[i].data(), rank)));
    void* data = nullptr;
    RLC_RETURN_IF_ERROR(Take(api_.GetTensorMutableData(const_cast<OrtValue*>(value), &data)));
    inputs[i] = static_cast<const float*>(data);
  }
  RLC_ASSIGN_OR_RETURN(const Compiled region, CompiledFor(dims));
  std::vector<float*> outputs;
  for (size_t i = 0; i < region->output_dims().size(); ++i) {
    const auto& output = region->output_dims()[i];
    OrtValue* value = nullptr;
    RLC_RETURN_IF_ERROR(Take(api_.KernelContext_GetOutput(context, i, output.data(), output.size(), &value)));
    void* data = nullptr;
    RLC_RETURN_IF_ERROR(Take(api_.GetTensorMutableData(value, &data)));
    outputs.push_back(static_cast<float*>(data));
  }
  region->Run(inputs, outputs, Parallel());
  return {};
}

}  // namespace rlc
