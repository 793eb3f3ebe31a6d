#include "rlc/ort/session.h"

#include <onnxruntime_c_api.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "rlc/base/format.h"
#include "rlc/ort/api.h"

namespace rlc {
namespace {

using internal::LoadedRuntime;
using internal::ScopedDenormals;
using internal::TakeStatus;

// Owns one object of the C API.
template <typename T>
using Owned = std::unique_ptr<T, std::function<void(T*)>>;

template <typename T, typename Release>
Owned<T> Own(T* object, Release release) {
  return Owned<T>(object, [release](T* p) {
    if (p != nullptr) release(p);
  });
}

GraphOptimizationLevel ToOrt(OptLevel level) {
  switch (level) {
    case OptLevel::kNone:
      return ORT_DISABLE_ALL;
    case OptLevel::kBasic:
      return ORT_ENABLE_BASIC;
    case OptLevel::kExtended:
      return ORT_ENABLE_EXTENDED;
    case OptLevel::kAll:
      break;
  }
  return ORT_ENABLE_ALL;
}

std::string Describe(const Tensor& tensor) { return DTypeName(tensor.dtype()) + FormatShape(tensor.dims()); }

// Element types have the numbers of ONNX in the C API too.
Expected<Type> ReadType(const LoadedRuntime& runtime, const OrtTypeInfo* info, const std::string& what) {
  const OrtApi& api = *runtime.api;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  RLC_RETURN_IF_ERROR(TakeStatus(runtime, api.CastTypeInfoToTensorInfo(info, &tensor), what, "tell a type"));
  if (tensor == nullptr) return Type{};
  ONNXTensorElementDataType elem = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  RLC_RETURN_IF_ERROR(TakeStatus(runtime, api.GetTensorElementType(tensor, &elem), what, "tell a type"));
  RLC_RETURN_IF_ERROR(TakeStatus(runtime, api.GetDimensionsCount(tensor, &rank), what, "tell a shape"));
  const auto dtype = static_cast<DType>(elem);
  // A scalar and an unknown rank look the same here, so neither is claimed.
  if (rank == 0) return Type::Tensor(dtype);
  std::vector<int64_t> dims(rank);
  std::vector<const char*> symbols(rank);
  RLC_RETURN_IF_ERROR(TakeStatus(runtime, api.GetDimensions(tensor, dims.data(), rank), what, "tell a shape"));
  RLC_RETURN_IF_ERROR(
      TakeStatus(runtime, api.GetSymbolicDimensions(tensor, symbols.data(), rank), what, "tell a shape"));
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back(dims[i] >= 0 ? Dim::Of(dims[i]) : Dim::Named(symbols[i] != nullptr ? symbols[i] : ""));
  }
  return Type::Tensor(dtype, std::move(shape));
}

Expected<Owned<OrtSessionOptions>> MakeOptions(const LoadedRuntime& runtime, const SessionOptions& options,
                                               const std::string& what) {
  const OrtApi& api = *runtime.api;
  OrtSessionOptions* raw = nullptr;
  RLC_RETURN_IF_ERROR(TakeStatus(runtime, api.CreateSessionOptions(&raw), what, "make session options"));
  auto owned = Own(raw, api.ReleaseSessionOptions);
  const auto set = [&](OrtStatus* status) { return TakeStatus(runtime, status, what, "set a session option"); };
  RLC_RETURN_IF_ERROR(set(api.SetSessionGraphOptimizationLevel(raw, ToOrt(options.level))));
  RLC_RETURN_IF_ERROR(set(api.SetIntraOpNumThreads(raw, std::max(options.threads, 1))));
  RLC_RETURN_IF_ERROR(set(api.SetInterOpNumThreads(raw, 1)));
  RLC_RETURN_IF_ERROR(set(api.SetSessionExecutionMode(raw, ORT_SEQUENTIAL)));
  RLC_RETURN_IF_ERROR(set(api.SetSessionLogSeverityLevel(raw, ORT_LOGGING_LEVEL_FATAL)));
  RLC_RETURN_IF_ERROR(set(options.arena ? api.EnableCpuMemArena(raw) : api.DisableCpuMemArena(raw)));
  RLC_RETURN_IF_ERROR(set(api.AddSessionConfigEntry(raw, "session.intra_op.allow_spinning", "0")));
  RLC_RETURN_IF_ERROR(set(api.AddSessionConfigEntry(raw, "session.inter_op.allow_spinning", "0")));
  RLC_RETURN_IF_ERROR(
      set(api.AddSessionConfigEntry(raw, "session.set_denormal_as_zero", options.flush_denormals ? "1" : "0")));
  if (!options.optimized_model_path.empty()) {
    RLC_RETURN_IF_ERROR(set(api.SetOptimizedModelFilePath(raw, options.optimized_model_path.c_str())));
  }
  for (const std::string& library : options.custom_op_libraries) {
    RLC_RETURN_IF_ERROR(TakeStatus(runtime, api.RegisterCustomOpsLibrary_V2(raw, library.c_str()), what,
                                   "register the operators of " + library));
  }
  return owned;
}

// An OrtValue round a tensor; the tensor's memory is used in place.
struct InputValue {
  Tensor tensor;  // keeps the memory
  Owned<OrtValue> value;
};

Expected<InputValue> StringInput(const LoadedRuntime& runtime, const Tensor& tensor, const std::string& what) {
  const OrtApi& api = *runtime.api;
  OrtAllocator* allocator = nullptr;
  RLC_RETURN_IF_ERROR(TakeStatus(runtime, api.GetAllocatorWithDefaultOptions(&allocator), what, "allocate"));
  OrtValue* raw = nullptr;
  RLC_RETURN_IF_ERROR(TakeStatus(runtime,
                                 api.CreateTensorAsOrtValue(allocator, tensor.dims().data(), tensor.dims().size(),
                                                            ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &raw),
                                 what, "take an input"));
  InputValue input{tensor, Own(raw, api.ReleaseValue)};
  std::vector<const char*> texts;
  for (const std::string& text : tensor.strings()) texts.push_back(text.c_str());
  RLC_RETURN_IF_ERROR(
      TakeStatus(runtime, api.FillStringTensor(raw, texts.data(), texts.size()), what, "take an input"));
  return input;
}

Expected<InputValue> MakeInput(const LoadedRuntime& runtime, const Tensor& tensor, const std::string& what) {
  if (tensor.dtype() == DType::kString) return StringInput(runtime, tensor, what);
  const OrtApi& api = *runtime.api;
  Tensor aligned = tensor;
  // Kernels may use aligned loads of the element type; a view into a file can start anywhere.
  const size_t alignment = static_cast<size_t>(std::max(1, std::min(BitsOf(tensor.dtype()) / 8, 16)));
  if (reinterpret_cast<uintptr_t>(tensor.bytes().data()) % alignment != 0) {
    const auto bytes = tensor.bytes();
    aligned = Tensor::FromBytes(tensor.dtype(), tensor.dims(),
                                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  OrtMemoryInfo* raw_memory = nullptr;
  RLC_RETURN_IF_ERROR(TakeStatus(runtime, api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &raw_memory),
                                 what, "take an input"));
  auto memory = Own(raw_memory, api.ReleaseMemoryInfo);
  static std::byte nothing[16];  // the runtime wants a pointer even for no elements
  const auto bytes = aligned.bytes();
  void* data = bytes.empty() ? nothing : const_cast<std::byte*>(bytes.data());
  OrtValue* raw = nullptr;
  RLC_RETURN_IF_ERROR(TakeStatus(
      runtime,
      api.CreateTensorWithDataAsOrtValue(memory.get(), data, bytes.size(), aligned.dims().data(), aligned.dims().size(),
                                         static_cast<ONNXTensorElementDataType>(aligned.dtype()), &raw),
      what, "take an input"));
  return InputValue{std::move(aligned), Own(raw, api.ReleaseValue)};
}

Expected<Tensor> ReadStrings(const LoadedRuntime& runtime, const OrtValue* value, std::vector<int64_t> dims,
                             const std::string& what) {
  const OrtApi& api = *runtime.api;
  const auto take = [&](OrtStatus* status) { return TakeStatus(runtime, status, what, "give an output"); };
  const int64_t count = ElementCount(dims).value_or(0);
  size_t total = 0;
  RLC_RETURN_IF_ERROR(take(api.GetStringTensorDataLength(value, &total)));
  std::string text(total, '\0');
  std::vector<size_t> offsets(static_cast<size_t>(count));
  RLC_RETURN_IF_ERROR(take(api.GetStringTensorContent(value, text.data(), total, offsets.data(), offsets.size())));
  std::vector<std::string> strings;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const size_t end = i + 1 < offsets.size() ? offsets[i + 1] : total;
    strings.push_back(text.substr(offsets[i], end - offsets[i]));
  }
  return Tensor::FromStrings(std::move(dims), std::move(strings));
}

// The tensor in `value`, whose memory it keeps.
Expected<Tensor> ReadOutput(const LoadedRuntime& runtime, std::shared_ptr<OrtValue> value, const std::string& name,
                            const std::string& what) {
  const OrtApi& api = *runtime.api;
  const auto take = [&](OrtStatus* status) { return TakeStatus(runtime, status, what, "give output '" + name + "'"); };
  int is_tensor = 0;
  RLC_RETURN_IF_ERROR(take(api.IsTensor(value.get(), &is_tensor)));
  if (is_tensor == 0) {
    return MakeError(ErrorKind::kUnavailable, "{}: output '{}' is not a tensor; rlc reads tensors only", what, name);
  }
  OrtTensorTypeAndShapeInfo* raw_info = nullptr;
  RLC_RETURN_IF_ERROR(take(api.GetTensorTypeAndShape(value.get(), &raw_info)));
  auto info = Own(raw_info, api.ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType elem = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  RLC_RETURN_IF_ERROR(take(api.GetTensorElementType(raw_info, &elem)));
  RLC_RETURN_IF_ERROR(take(api.GetDimensionsCount(raw_info, &rank)));
  std::vector<int64_t> dims(rank);
  RLC_RETURN_IF_ERROR(take(api.GetDimensions(raw_info, dims.data(), rank)));
  if (elem == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return ReadStrings(runtime, value.get(), std::move(dims), what);
  const auto dtype = static_cast<DType>(elem);
  const auto size = ByteSize(dtype, dims);
  if (!size) {
    return MakeError(ErrorKind::kUnavailable, "{}: output '{}' is {}{}, which rlc does not read", what, name,
                     DTypeName(dtype), FormatShape(dims));
  }
  void* data = nullptr;
  RLC_RETURN_IF_ERROR(take(api.GetTensorMutableData(value.get(), &data)));
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(data), static_cast<size_t>(*size));
  return Tensor::FromView(dtype, std::move(dims), bytes, std::move(value));
}

}  // namespace

std::string_view OptLevelName(OptLevel level) {
  constexpr std::string_view kNames[] = {"none", "basic", "extended", "all"};
  return kNames[static_cast<int>(level)];
}

Expected<OptLevel> ParseOptLevel(std::string_view name) {
  for (const OptLevel level : {OptLevel::kNone, OptLevel::kBasic, OptLevel::kExtended, OptLevel::kAll}) {
    if (name == OptLevelName(level)) return level;
  }
  return MakeError(ErrorKind::kUsage, "'{}' is no optimization level; use none, basic, extended or all", name);
}

struct Session::Impl {
  const LoadedRuntime* runtime = nullptr;
  Owned<OrtSession> session;
  std::string what;
  bool flush_denormals = true;
  std::vector<InterfaceValue> inputs, outputs;

  static Expected<Session> Create(
      const std::string& what, const SessionOptions& options,
      const std::function<OrtStatus*(const LoadedRuntime&, const OrtSessionOptions*, OrtSession**)>& create);
  Expected<void> ReadInterface();
  Expected<void> CheckInputs(std::span<const NamedTensor> given) const;
  Expected<std::vector<std::string>> OutputNames(std::span<const std::string> wanted) const;
};

Expected<Session> Session::Impl::Create(
    const std::string& what, const SessionOptions& options,
    const std::function<OrtStatus*(const LoadedRuntime&, const OrtSessionOptions*, OrtSession**)>& create) {
  RLC_ASSIGN_OR_RETURN(const LoadedRuntime* runtime, internal::Runtime());
  RLC_ASSIGN_OR_RETURN(auto ort_options, MakeOptions(*runtime, options, what));
  auto impl = std::make_shared<Impl>();
  impl->runtime = runtime;
  impl->what = what;
  impl->flush_denormals = options.flush_denormals;
  OrtSession* raw = nullptr;
  {
    // The first session of a process changes the calling thread's mode; this puts it back. Constant folding inside the
    // runtime never flushes, so the optimized graph does not depend on the mode.
    const ScopedDenormals keep(false);
    RLC_RETURN_IF_ERROR(TakeStatus(*runtime, create(*runtime, ort_options.get(), &raw), what, "load this model"));
  }
  impl->session = Own(raw, runtime->api->ReleaseSession);
  RLC_RETURN_IF_ERROR(impl->ReadInterface());
  return Session(std::move(impl));
}

Expected<void> Session::Impl::ReadInterface() {
  const OrtApi& api = *runtime->api;
  const auto take = [&](OrtStatus* status) { return TakeStatus(*runtime, status, what, "tell the interface"); };
  OrtAllocator* allocator = nullptr;
  RLC_RETURN_IF_ERROR(take(api.GetAllocatorWithDefaultOptions(&allocator)));
  const auto read = [&](auto count_of, auto name_of, auto type_of,
                        std::vector<InterfaceValue>& values) -> Expected<void> {
    size_t count = 0;
    RLC_RETURN_IF_ERROR(take(count_of(session.get(), &count)));
    for (size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      RLC_RETURN_IF_ERROR(take(name_of(session.get(), i, allocator, &name)));
      InterfaceValue value{name, {}};
      allocator->Free(allocator, name);
      OrtTypeInfo* info = nullptr;
      RLC_RETURN_IF_ERROR(take(type_of(session.get(), i, &info)));
      auto owned = Own(info, api.ReleaseTypeInfo);
      RLC_ASSIGN_OR_RETURN(value.type, ReadType(*runtime, info, what));
      values.push_back(std::move(value));
    }
    return {};
  };
  RLC_RETURN_IF_ERROR(read(api.SessionGetInputCount, api.SessionGetInputName, api.SessionGetInputTypeInfo, inputs));
  return read(api.SessionGetOutputCount, api.SessionGetOutputName, api.SessionGetOutputTypeInfo, outputs);
}

Expected<void> Session::Impl::CheckInputs(std::span<const NamedTensor> given) const {
  const auto names = [&] {
    std::string list;
    for (const InterfaceValue& input : inputs) list += (list.empty() ? "" : ", ") + input.name;
    return list.empty() ? std::string("none") : list;
  };
  for (size_t i = 0; i < given.size(); ++i) {
    const NamedTensor& tensor = given[i];
    const auto same_name = [&](const auto& other) { return other.name == tensor.name; };
    const auto input = std::find_if(inputs.begin(), inputs.end(), same_name);
    if (input == inputs.end()) {
      return MakeError(ErrorKind::kInvalidInput, "{}: the model has no input '{}'; its inputs: {}", what, tensor.name,
                       names());
    }
    if (std::any_of(given.begin(), given.begin() + static_cast<ptrdiff_t>(i), same_name)) {
      return MakeError(ErrorKind::kInvalidInput, "{}: input '{}' is given twice", what, tensor.name);
    }
    const Type& type = input->type;
    bool fits = type.is_tensor() && type.elem == tensor.tensor.dtype();
    if (fits && type.shape) {
      fits = type.shape->size() == tensor.tensor.dims().size();
      for (size_t axis = 0; fits && axis < type.shape->size(); ++axis) {
        const Dim& dim = (*type.shape)[axis];
        fits = !dim.known() || dim.value == tensor.tensor.dims()[axis];
      }
    }
    if (!fits) {
      return MakeError(ErrorKind::kInvalidInput, "{}: input '{}' is {}, found {}", what, tensor.name, ToString(type),
                       Describe(tensor.tensor));
    }
  }
  for (const InterfaceValue& input : inputs) {
    if (std::none_of(given.begin(), given.end(), [&](const NamedTensor& g) { return g.name == input.name; })) {
      return MakeError(ErrorKind::kInvalidInput, "{}: input '{}' ({}) is missing", what, input.name,
                       ToString(input.type));
    }
  }
  return {};
}

Expected<std::vector<std::string>> Session::Impl::OutputNames(std::span<const std::string> wanted) const {
  std::vector<std::string> names(wanted.begin(), wanted.end());
  if (names.empty()) {
    for (const InterfaceValue& output : outputs) names.push_back(output.name);
    return names;
  }
  for (const std::string& name : names) {
    if (std::none_of(outputs.begin(), outputs.end(), [&](const InterfaceValue& o) { return o.name == name; })) {
      return MakeError(ErrorKind::kInvalidInput, "{}: the model has no output '{}'", what, name);
    }
  }
  return names;
}

Expected<Session> Session::FromBytes(std::string_view model, const std::string& what, const SessionOptions& options) {
  return Impl::Create(
      what, options, [&](const LoadedRuntime& runtime, const OrtSessionOptions* ort_options, OrtSession** session) {
        return runtime.api->CreateSessionFromArray(runtime.env, model.data(), model.size(), ort_options, session);
      });
}

Expected<Session> Session::FromFile(const std::string& path, const SessionOptions& options) {
  return Impl::Create(path, options,
                      [&](const LoadedRuntime& runtime, const OrtSessionOptions* ort_options, OrtSession** session) {
                        return runtime.api->CreateSession(runtime.env, path.c_str(), ort_options, session);
                      });
}

const std::vector<InterfaceValue>& Session::inputs() const { return impl_->inputs; }
const std::vector<InterfaceValue>& Session::outputs() const { return impl_->outputs; }
const std::string& Session::what() const { return impl_->what; }

Expected<std::vector<Tensor>> Session::Run(std::span<const NamedTensor> inputs,
                                           std::span<const std::string> outputs) const {
  const LoadedRuntime& runtime = *impl_->runtime;
  RLC_RETURN_IF_ERROR(impl_->CheckInputs(inputs));
  RLC_ASSIGN_OR_RETURN(const std::vector<std::string> output_names, impl_->OutputNames(outputs));
  std::vector<InputValue> held;
  std::vector<const char*> in_names, out_names;
  std::vector<const OrtValue*> in_values;
  for (const NamedTensor& input : inputs) {
    RLC_ASSIGN_OR_RETURN(InputValue value, MakeInput(runtime, input.tensor, impl_->what));
    held.push_back(std::move(value));
    in_names.push_back(input.name.c_str());
    in_values.push_back(held.back().value.get());
  }
  for (const std::string& name : output_names) out_names.push_back(name.c_str());
  std::vector<OrtValue*> raw(out_names.size(), nullptr);
  OrtStatus* status = nullptr;
  {
    const ScopedDenormals mode(impl_->flush_denormals);
    status = runtime.api->Run(impl_->session.get(), nullptr, in_names.data(), in_values.data(), in_values.size(),
                              out_names.data(), out_names.size(), raw.data());
  }
  std::vector<std::shared_ptr<OrtValue>> values;
  for (OrtValue* value : raw) values.emplace_back(Own(value, runtime.api->ReleaseValue));
  RLC_RETURN_IF_ERROR(TakeStatus(runtime, status, impl_->what, "run this model"));
  std::vector<Tensor> results;
  for (size_t i = 0; i < values.size(); ++i) {
    RLC_ASSIGN_OR_RETURN(Tensor result, ReadOutput(runtime, std::move(values[i]), output_names[i], impl_->what));
    // An output that is an input handed through lives in the caller's memory: share the caller's tensor instead.
    const auto same_memory = [&](const InputValue& input) {
      return !result.bytes().empty() && input.tensor.bytes().data() == result.bytes().data();
    };
    if (const auto input = std::find_if(held.begin(), held.end(), same_memory); input != held.end()) {
      result = input->tensor.Reshaped(result.dims());
    }
    results.push_back(std::move(result));
  }
  return results;
}

struct BoundRun::Impl {
  Session session;
  std::vector<InputValue> inputs;
  std::vector<Owned<OrtValue>> outputs;
  Owned<OrtIoBinding> binding;
};

Expected<BoundRun> BoundRun::Create(const Session& session, std::vector<NamedTensor> inputs) {
  const Session::Impl& owner = *session.impl_;
  const LoadedRuntime& runtime = *owner.runtime;
  const OrtApi& api = *runtime.api;
  const auto take = [&](OrtStatus* status) { return TakeStatus(runtime, status, owner.what, "bind this model"); };
  RLC_RETURN_IF_ERROR(owner.CheckInputs(inputs));
  OrtIoBinding* raw = nullptr;
  RLC_RETURN_IF_ERROR(take(api.CreateIoBinding(owner.session.get(), &raw)));
  auto impl = std::make_shared<Impl>(Impl{session, {}, {}, Own(raw, api.ReleaseIoBinding)});
  for (const NamedTensor& input : inputs) {
    RLC_ASSIGN_OR_RETURN(InputValue value, MakeInput(runtime, input.tensor, owner.what));
    RLC_RETURN_IF_ERROR(take(api.BindInput(raw, input.name.c_str(), value.value.get())));
    impl->inputs.push_back(std::move(value));
  }
  OrtMemoryInfo* raw_memory = nullptr;
  RLC_RETURN_IF_ERROR(take(api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &raw_memory)));
  auto memory = Own(raw_memory, api.ReleaseMemoryInfo);
  for (const InterfaceValue& output : owner.outputs) {
    RLC_RETURN_IF_ERROR(take(api.BindOutputToDevice(raw, output.name.c_str(), raw_memory)));
  }
  BoundRun bound(impl);
  RLC_RETURN_IF_ERROR(bound.Run());
  // The outputs of the first run have the right sizes: later runs write into them.
  OrtAllocator* allocator = nullptr;
  RLC_RETURN_IF_ERROR(take(api.GetAllocatorWithDefaultOptions(&allocator)));
  OrtValue** values = nullptr;
  size_t count = 0;
  RLC_RETURN_IF_ERROR(take(api.GetBoundOutputValues(raw, allocator, &values, &count)));
  for (size_t i = 0; i < count; ++i) impl->outputs.push_back(Own(values[i], api.ReleaseValue));
  allocator->Free(allocator, values);
  for (size_t i = 0; i < count; ++i) {
    int is_tensor = 0;
    RLC_RETURN_IF_ERROR(take(api.IsTensor(impl->outputs[i].get(), &is_tensor)));
    if (is_tensor == 0) continue;
    RLC_RETURN_IF_ERROR(take(api.BindOutput(raw, owner.outputs[i].name.c_str(), impl->outputs[i].get())));
  }
  return bound;
}

Expected<void> BoundRun::Run() {
  const Session::Impl& owner = *impl_->session.impl_;
  const LoadedRuntime& runtime = *owner.runtime;
  OrtStatus* status = nullptr;
  {
    const ScopedDenormals mode(owner.flush_denormals);
    status = runtime.api->RunWithBinding(owner.session.get(), nullptr, impl_->binding.get());
  }
  return TakeStatus(runtime, status, owner.what, "run this model");
}

}  // namespace rlc
