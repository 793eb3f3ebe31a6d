// librlc_ops.so: compiled regions as custom operators of ONNX Runtime. A session that registers it runs a model's
// regions with rlc's kernels; one that does not inlines the functions of the same names.
#include <onnxruntime_c_api.h>

#include <array>
#include <exception>
#include <memory>
#include <string>

#include "region_kernel.h"

namespace {

using rlc::RegionKernel;

// KernelContext_ParallelFor is the newest function that is used.
constexpr uint32_t kApiVersion = 17;
constexpr size_t kOperators = 256;

struct RegionOp : OrtCustomOp {
  std::string name;
};

// Asked for by RegisterCustomOps, for all sessions of the process.
const OrtApi* g_api = nullptr;

// `call` gives an Expected; what it throws (out of memory, oneDNN) becomes an error of the session, too.
template <typename Call>
OrtStatus* Guarded(const Call& call) {
  try {
    const auto done = call();
    return done ? nullptr : g_api->CreateStatus(ORT_INVALID_ARGUMENT, ("rlc: " + done.error().message).c_str());
  } catch (const std::exception& error) {
    return g_api->CreateStatus(ORT_RUNTIME_EXCEPTION, (std::string("rlc: ") + error.what()).c_str());
  }
}

OrtStatusPtr CreateKernel(const OrtCustomOp*, const OrtApi*, const OrtKernelInfo* info, void** kernel) {
  return Guarded([&]() -> rlc::Expected<void> {
    RLC_ASSIGN_OR_RETURN(auto created, RegionKernel::Create(*g_api, info));
    *kernel = created.release();
    return {};
  });
}

OrtStatusPtr Compute(void* kernel, OrtKernelContext* context) {
  return Guarded([&] { return static_cast<RegionKernel*>(kernel)->Compute(context); });
}

void FillIn(RegionOp& op) {
  op.version = kApiVersion;
  op.GetName = [](const OrtCustomOp* self) { return static_cast<const RegionOp*>(self)->name.c_str(); };
  op.GetExecutionProviderType = [](const OrtCustomOp*) -> const char* { return nullptr; };  // the CPU's
  op.GetInputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED; };
  op.GetInputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
  op.GetOutputType = [](const OrtCustomOp*, size_t) { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; };
  op.GetOutputTypeCount = [](const OrtCustomOp*) -> size_t { return 1; };
  op.GetInputCharacteristic = [](const OrtCustomOp*, size_t) { return INPUT_OUTPUT_VARIADIC; };
  op.GetOutputCharacteristic = op.GetInputCharacteristic;
  op.GetInputMemoryType = [](const OrtCustomOp*, size_t) { return OrtMemTypeDefault; };
  op.GetVariadicInputMinArity = [](const OrtCustomOp*) { return 1; };
  op.GetVariadicInputHomogeneity = [](const OrtCustomOp*) { return 0; };  // weights, shapes and activations
  op.GetVariadicOutputMinArity = [](const OrtCustomOp*) { return 1; };
  op.GetVariadicOutputHomogeneity = [](const OrtCustomOp*) { return 1; };
  op.KernelDestroy = [](void* kernel) { delete static_cast<RegionKernel*>(kernel); };
  op.CreateKernelV2 = CreateKernel;
  op.KernelComputeV2 = Compute;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* ORT_API_CALL RegisterCustomOps(OrtSessionOptions* options,
                                                                                            const OrtApiBase* base) {
  const OrtApi* api = base->GetApi(kApiVersion);
  if (api == nullptr) {
    const std::string sentence =
        std::string("rlc: this is ONNX Runtime ") + base->GetVersionString() + "; librlc_ops.so needs 1.17 or newer";
    return base->GetApi(1)->CreateStatus(ORT_NOT_IMPLEMENTED, sentence.c_str());
  }
  g_api = api;
  // They outlive every session: never destroyed.
  static auto* operators = [] {
    auto* all = new std::array<RegionOp, kOperators>();
    for (size_t k = 0; k < kOperators; ++k) {
      (*all)[k].name = "Region" + std::to_string(k);
      FillIn((*all)[k]);
    }
    return all;
  }();
  static OrtCustomOpDomain* domain = nullptr;
  if (domain == nullptr) {
    OrtCustomOpDomain* created = nullptr;
    if (OrtStatus* status = api->CreateCustomOpDomain("rlc", &created)) return status;
    for (RegionOp& op : *operators) {
      if (OrtStatus* status = api->CustomOpDomain_Add(created, &op)) return status;
    }
    domain = created;
  }
  return api->AddCustomOpDomain(options, domain);
}
