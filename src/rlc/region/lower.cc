#include "rlc/region/lower.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "rlc/base/format.h"
#include "rlc/ir/region_ops.h"
#include "rlc/kernels/ops.h"
#include "rlc/region/fusion.h"
#include "rlc/region/program.h"

namespace rlc {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 30;  // of one tensor

// One way in which a value lies in memory.
struct Slot {
  Format format;
  size_t storage = 0;
};

class Lowering {
 public:
  Lowering(const Graph& graph, std::span<const RegionInput> inputs, int threads)
      : graph_(graph), inputs_(inputs), threads_(threads) {
    constant_ = [this](ValueId value) {
      const auto found = constants_.find(value);
      return found == constants_.end() ? nullptr : found->second;
    };
  }

  Expected<LoweredRegion> Run() {
    RLC_RETURN_IF_ERROR(TakeInputs());
    for (const ValueId value : graph_.values()) unread_[value] = static_cast<int>(graph_.value(value).uses.size());
    for (const NodeId id : graph_.nodes()) {
      if (done_.contains(id)) continue;
      const Node& node = graph_.node(id);
      if (const auto reason = WhyNotInRegion(graph_, node, constant_)) {
        return MakeError(ErrorKind::kInvalidInput, "region: {} '{}' cannot be compiled because {}", node.op,
                         graph_.value(node.outputs[0]).name, *reason);
      }
      auto lowered = LowerNode(id);
      if (!lowered) {
        return WithContext(lowered.error(),
                           fmt::format("region: {} '{}'", node.op, graph_.value(node.outputs[0]).name));
      }
    }
    RLC_RETURN_IF_ERROR(GiveOutputs());
    return std::move(region_);
  }

 private:
  // --- inputs and outputs ------------------------------------------------------------------------------------------

  Expected<void> TakeInputs() {
    if (inputs_.size() != graph_.inputs().size()) {
      return MakeError(ErrorKind::kInvalidInput, "region: the call has {} inputs, its program {}", inputs_.size(),
                       graph_.inputs().size());
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const ValueId value = graph_.inputs()[i];
      const RegionInput& input = inputs_[i];
      RLC_RETURN_IF_ERROR(CheckInput(value, input.dims));
      if (input.constant) {
        constants_[value] = &*input.constant;
        continue;
      }
      if (graph_.type(value).elem != DType::kFloat) {
        return MakeError(ErrorKind::kInvalidInput, "region: input '{}' is neither constant nor float",
                         graph_.value(value).name);
      }
      const size_t storage = NewStorage(Storage::Kind::kInput, 0);
      region_.storages[storage].index = i;
      AddSlot(value, {Format::Plain(input.dims), storage});
    }
    return {};
  }

  Expected<void> CheckInput(ValueId value, const std::vector<int64_t>& dims) const {
    const Type& type = graph_.type(value);
    bool fits = type.is_tensor() && ElementsOf(dims) > 0;
    if (fits && type.shape) {
      fits = type.shape->size() == dims.size();
      for (size_t i = 0; fits && i < dims.size(); ++i) {
        fits = !(*type.shape)[i].known() || (*type.shape)[i].value == dims[i];
      }
    }
    // A constant may be empty (the shape of a scalar); a tensor to compute with may not.
    if (fits || (type.is_tensor() && constantly_empty(dims))) return {};
    return MakeError(ErrorKind::kInvalidInput, "region: input '{}' is {}, found {}", graph_.value(value).name,
                     ToString(type), FormatShape(dims));
  }

  static bool constantly_empty(const std::vector<int64_t>& dims) { return ElementCount(dims) == 0; }

  // 0: too many, or none.
  static int64_t ElementsOf(const std::vector<int64_t>& dims) {
    const auto count = ElementCount(dims);
    return count && *count <= kMostElements ? *count : 0;
  }

  Expected<void> GiveOutputs() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId value = graph_.outputs()[i];
      const std::vector<int64_t> dims = DimsOf(value);
      RLC_ASSIGN_OR_RETURN(Slot slot, Ensure(value, Format::Plain(dims)));
      if (region_.storages[slot.storage].kind != Storage::Kind::kArena) {
        // It is an input, or another output as well: a copy.
        auto copy = MakeReorder(slot.format, slot.format);
        if (copy == nullptr) return NoKernel("the copy of an output");
        const size_t target = NewStorage(Storage::Kind::kArena, slot.format.bytes());
        Emit(std::move(copy), {slot.storage, target}, value, "copy");
        slot.storage = target;
      }
      region_.storages[slot.storage].kind = Storage::Kind::kOutput;
      region_.storages[slot.storage].index = i;
      region_.output_dims.push_back(dims);
    }
    return {};
  }

  // --- slots ---------------------------------------------------------------------------------------------------------

  size_t NewStorage(Storage::Kind kind, size_t bytes) {
    Storage storage;
    storage.kind = kind;
    storage.bytes = bytes;
    storage.first = storage.last = static_cast<int>(region_.steps.size());
    region_.storages.push_back(std::move(storage));
    return region_.storages.size() - 1;
  }

  void AddSlot(ValueId value, Slot slot) { slots_[value].push_back(std::move(slot)); }
  const Slot& Primary(ValueId value) const { return slots_.at(value).front(); }

  std::vector<int64_t> DimsOf(ValueId value) const {
    const Tensor* tensor = constant_(value);
    return tensor != nullptr ? tensor->dims() : Primary(value).format.dims();
  }

  // The value in that format, reordered if it is not there yet.
  Expected<Slot> Ensure(ValueId value, const Format& wanted) {
    if (const Tensor* tensor = constant_(value)) return PackConstant(*tensor, wanted);
    for (const Slot& slot : slots_.at(value)) {
      if (slot.format == wanted) return slot;
    }
    const Slot from = Primary(value);
    auto kernel = MakeReorder(from.format, wanted);
    if (kernel == nullptr) return NoKernel(fmt::format("a reorder from {} to {}", from.format.Text(), wanted.Text()));
    const Slot to{wanted, NewStorage(Storage::Kind::kArena, wanted.bytes())};
    Emit(std::move(kernel), {from.storage, to.storage}, value, "reorder");
    AddSlot(value, to);
    return to;
  }

  // wanted: as many elements as the constant, perhaps with leading dimensions of 1.
  Expected<Slot> PackConstant(const Tensor& tensor, const Format& wanted) {
    const Format plain = Format::Plain(wanted.dims());
    auto kernel = MakeReorder(plain, wanted);
    if (kernel == nullptr) return NoKernel(fmt::format("a reorder to {}", wanted.Text()));
    const size_t storage = NewStorage(Storage::Kind::kConstant, wanted.bytes());
    auto memory = AllocateAligned(wanted.bytes()), scratch = AllocateAligned(kernel->scratch_bytes());
    auto source = AllocateAligned(plain.bytes());
    std::memcpy(source.get(), tensor.bytes().data(), tensor.bytes().size());
    void* const arguments[] = {source.get(), memory.get()};
    kernel->Bind(arguments, scratch.get())->Run({});
    region_.storages[storage].constant = std::move(memory);
    return Slot{wanted, storage};
  }

  // The same elements with other dimensions, in the same memory.
  Expected<Slot> View(ValueId value, const std::vector<int64_t>& dims, Element element = Element::kF32) {
    if (constant_(value) != nullptr) return PackConstant(*constant_(value), Format::Plain(dims, element));
    RLC_ASSIGN_OR_RETURN(const Slot slot, Ensure(value, Format::Plain(DimsOf(value), element)));
    if (DimsOf(value) != dims) shared_.insert(slot.storage);
    return Slot{Format::Plain(dims, element), slot.storage};
  }

  void Emit(std::unique_ptr<Kernel> kernel, std::vector<size_t> storages, ValueId value, std::string op) {
    const int step = static_cast<int>(region_.steps.size());
    for (const size_t storage : storages) region_.storages[storage].last = step;
    LoweredStep lowered;
    lowered.description = {graph_.value(value).name, std::move(op), kernel->implementation(), layer_,
                           kernel->constant_bytes()};
    lowered.kernel = std::move(kernel);
    lowered.storages = std::move(storages);
    region_.steps.push_back(std::move(lowered));
  }

  // Emits a kernel that has `inputs` and computes `value`.
  Expected<void> EmitTo(ValueId value, std::unique_ptr<Kernel> kernel, const std::vector<Slot>& inputs,
                        std::string op) {
    std::vector<size_t> storages;
    for (const Slot& input : inputs) storages.push_back(input.storage);
    const Format output = kernel->output();
    const size_t target = NewStorage(Storage::Kind::kArena, output.bytes());
    storages.push_back(target);
    Emit(std::move(kernel), std::move(storages), value, std::move(op));
    AddSlot(value, {output, target});
    return {};
  }

  static Unexpected NoKernel(std::string_view what) {
    return MakeError(ErrorKind::kUnavailable, "this CPU has no kernel for {}", what);
  }

  // --- nodes
  // -----------------------------------------------------------------------------------------------------------

  Expected<void> LowerNode(NodeId id) {
    const Node& node = graph_.node(id);
    layer_ = node.layer;
    if (node.op == "Conv") return LowerConv(id);
    if (node.op == "Gemm" || node.op == "MatMul") return LowerGemm(id);
    if (node.op == "BatchNormalization") return LowerBatchNorm(id);
    Done({id});
    if (node.op == "MaxPool" || node.op == "AveragePool") return LowerPool(node);
    if (node.op == "GlobalAveragePool" || node.op == "ReduceMean") return LowerGlobalPool(node);
    if (node.op == "Concat") return LowerConcat(node);
    if (node.op == "Flatten" || node.op == "Reshape") return LowerReshape(node);
    if (node.op == "Softmax") return LowerSoftmax(node);
    if (const auto activation = ActivationOf(graph_, node, constant_)) {
      return LowerActivation(node.inputs[0], node.outputs[0], *activation, node.op);
    }
    return LowerBinary(node);
  }

  void Done(const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) {
      done_.insert(id);
      for (const ValueId input : graph_.node(id).inputs) {
        if (input != ValueId::kNone) --unread_[input];
      }
    }
  }

  std::string NameOf(const std::vector<NodeId>& nodes) const {
    std::string name;
    for (const NodeId id : nodes) name += (name.empty() ? "" : " + ") + graph_.node(id).op;
    return name;
  }

  std::span<const float> Floats(ValueId value) const {
    const Tensor* tensor = value == ValueId::kNone ? nullptr : constant_(value);
    return tensor == nullptr ? std::span<const float>() : tensor->data<float>();
  }

  ConvForm FormOf(const Node& node) const {
    const auto name = node.GetString(kFormAttribute, "");
    return name ? ParseConvForm(*name).value_or(ConvForm::kDirect) : ConvForm::kDirect;
  }

  Expected<void> LowerConv(NodeId id) {
    const Node& node = graph_.node(id);
    const Tensor& weights = *constant_(node.inputs[1]);
    const auto window = ReadWindow(node, {weights.dims()[2], weights.dims()[3]});
    ConvShape shape;
    shape.input = DimsOf(node.inputs[0]);
    shape.weights = weights.dims();
    shape.strides = window->strides;
    shape.dilations = window->dilations;
    shape.pads = window->pads;
    shape.group = node.GetInt("group", 1).value_or(1);
    if (shape.input[1] != shape.weights[1] * shape.group) {
      return MakeError(ErrorKind::kInvalidInput, "its input has {} channels, its weights need {}", shape.input[1],
                       shape.weights[1] * shape.group);
    }
    const auto output = shape.Output();
    if (output[2] < 1 || output[3] < 1 || ElementsOf(output) == 0) {
      return MakeError(ErrorKind::kInvalidInput, "its output would be {}", FormatShape(output));
    }
    // From all fused to nothing fused; the form gives way to oneDNN's direct one before the fusion does.
    for (const bool residual : {true, false}) {
      Fusion fusion = FuseAfter(graph_, id, residual, constant_);
      if (residual && fusion.residual == ValueId::kNone) continue;
      for (const bool activation : {true, false}) {
        if (!activation && residual) break;
        if (!activation) fusion = {{id}, ValueId::kNone, {}, node.outputs[0]};
        const Epilogue epilogue{fusion.residual != ValueId::kNone, fusion.activation};
        for (const ConvForm form : {FormOf(node), ConvForm::kDirect}) {
          auto kernel = MakeConv(shape, form, epilogue, Floats(node.inputs[1]), Floats(node.input(2)), threads_);
          if (kernel != nullptr) return EmitConv(node.inputs[0], fusion, std::move(kernel));
        }
      }
    }
    return NoKernel("this convolution");
  }

  Expected<void> EmitConv(ValueId x, const Fusion& fusion, std::unique_ptr<Kernel> kernel) {
    Done(fusion.nodes);
    RLC_ASSIGN_OR_RETURN(const Slot input, Ensure(x, kernel->inputs()[0]));
    const std::string name = NameOf(fusion.nodes);
    if (fusion.residual == ValueId::kNone) return EmitTo(fusion.output, std::move(kernel), {input}, name);
    RLC_ASSIGN_OR_RETURN(Slot residual, Ensure(fusion.residual, kernel->inputs()[1]));
    if (kernel->in_place() != 1) return EmitTo(fusion.output, std::move(kernel), {input, residual}, name);
    if (!MayOverwrite(fusion.residual, residual.storage) || residual.storage == input.storage) {
      auto copy = MakeReorder(residual.format, residual.format);
      if (copy == nullptr) return NoKernel("the copy of a residual");
      const size_t target = NewStorage(Storage::Kind::kArena, residual.format.bytes());
      Emit(std::move(copy), {residual.storage, target}, fusion.residual, "copy");
      residual.storage = target;
    }
    const Format output = kernel->output();
    Emit(std::move(kernel), {input.storage, residual.storage, residual.storage}, fusion.output, name);
    AddSlot(fusion.output, {output, residual.storage});
    return {};
  }

  // Nothing will read the value, in this or another format, any more.
  bool MayOverwrite(ValueId value, size_t storage) const {
    return unread_.at(value) == 0 && !graph_.is_output(value) && !shared_.contains(storage) &&
           region_.storages[storage].kind == Storage::Kind::kArena;
  }

  Expected<void> LowerGemm(NodeId id) {
    const Node& node = graph_.node(id);
    const Tensor& weights = *constant_(node.inputs[1]);
    const bool turned = node.op == "Gemm" && node.GetInt("transB", 0) != 0;
    const int64_t in = weights.dims()[turned ? 1 : 0], out = weights.dims()[turned ? 0 : 1];
    const std::vector<int64_t> dims = DimsOf(node.inputs[0]);
    if (dims[1] != in) {
      return MakeError(ErrorKind::kInvalidInput, "its input has {} columns, its weights need {}", dims[1], in);
    }
    std::vector<float> rows;
    if (!turned) {
      const auto columns = weights.data<float>();
      rows.resize(columns.size());
      for (int64_t i = 0; i < in; ++i) {
        for (int64_t o = 0; o < out; ++o)
          rows[static_cast<size_t>(o * in + i)] = columns[static_cast<size_t>(i * out + o)];
      }
    }
    const std::span<const float> values = turned ? weights.data<float>() : std::span<const float>(rows);
    for (const bool activation : {true, false}) {
      Fusion fusion = FuseAfter(graph_, id, /*with_residual=*/false, constant_);
      if (!activation) fusion = {{id}, ValueId::kNone, {}, node.outputs[0]};
      auto kernel = MakeInnerProduct(dims[0], in, out, fusion.activation, values, Floats(node.input(2)));
      if (kernel == nullptr) continue;
      Done(fusion.nodes);
      RLC_ASSIGN_OR_RETURN(const Slot input, Ensure(node.inputs[0], kernel->inputs()[0]));
      return EmitTo(fusion.output, std::move(kernel), {input}, NameOf(fusion.nodes));
    }
    return NoKernel("this matrix product");
  }

  // Makes a kernel of one input in the value's own format, or, if there is none for it, in plain floats.
  template <typename Make>
  Expected<void> EmitUnary(ValueId x, ValueId y, const std::string& op, const Make& make) {
    if (constant_(x) == nullptr) {
      const Slot slot = Primary(x);
      if (auto kernel = make(slot.format)) return EmitTo(y, std::move(kernel), {slot}, op);
    }
    const Format plain = Format::Plain(DimsOf(x));
    auto kernel = make(plain);
    if (kernel == nullptr) return NoKernel(op);
    RLC_ASSIGN_OR_RETURN(const Slot slot, Ensure(x, plain));
    return EmitTo(y, std::move(kernel), {slot}, op);
  }

  Expected<void> LowerActivation(ValueId x, ValueId y, const Activation& activation, const std::string& op) {
    return EmitUnary(x, y, op, [&](const Format& format) { return MakeActivation(activation, format); });
  }

  Expected<void> LowerSoftmax(const Node& node) {
    return EmitUnary(node.inputs[0], node.outputs[0], node.op,
                     [](const Format& format) { return MakeSoftmax(1, format); });
  }

  Expected<void> LowerBatchNorm(NodeId id) {
    const Node& node = graph_.node(id);
    BatchNormConstants constants{Floats(node.inputs[1]), Floats(node.inputs[2]), Floats(node.inputs[3]),
                                 Floats(node.inputs[4]), node.GetFloat("epsilon", 1e-5F).value_or(1e-5F)};
    Fusion fusion = FuseAfter(graph_, id, /*with_residual=*/false, constant_);
    const Activation relu = Activation::Relu();
    const bool fuses = fusion.activation.kind == relu.kind && fusion.activation.alpha == relu.alpha &&
                       fusion.activation.beta == relu.beta;
    if (!fuses) fusion = {{id}, ValueId::kNone, {}, node.outputs[0]};
    Done(fusion.nodes);
    return EmitUnary(node.inputs[0], fusion.output, NameOf(fusion.nodes),
                     [&](const Format& format) { return MakeBatchNorm(constants, fuses, format); });
  }

  Expected<void> LowerPool(const Node& node) {
    const auto window = ReadWindow(node);
    PoolShape shape;
    const bool counts = node.GetInt("count_include_pad", 0) != 0;
    shape.kind = node.op == "MaxPool" ? PoolShape::Kind::kMax
                 : counts             ? PoolShape::Kind::kAverageWithPads
                                      : PoolShape::Kind::kAverage;
    shape.kernel = window->kernel;
    shape.strides = window->strides;
    shape.pads = window->pads;
    const std::vector<int64_t> input = DimsOf(node.inputs[0]);
    shape.output = {input[0], input[1]};
    const bool ceil = node.GetInt("ceil_mode", 0) != 0;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t size =
          PooledSize(input[2 + i], shape.kernel[i], shape.strides[i], shape.pads[i], shape.pads[2 + i], ceil);
      if (size < 1) return MakeError(ErrorKind::kInvalidInput, "its window is larger than its input");
      shape.output.push_back(size);
      // oneDNN wants the pads that the last window needs.
      const int64_t needed = (size - 1) * shape.strides[i] + shape.kernel[i] - input[2 + i] - shape.pads[i];
      shape.pads[2 + i] = ceil ? std::max<int64_t>(needed, 0) : shape.pads[2 + i];
    }
    return EmitUnary(node.inputs[0], node.outputs[0], node.op,
                     [&](const Format& format) { return MakePool(shape, format); });
  }

  Expected<void> LowerGlobalPool(const Node& node) {
    const std::vector<int64_t> input = DimsOf(node.inputs[0]);
    PoolShape shape;
    shape.kind = PoolShape::Kind::kAverage;
    shape.kernel = {input[2], input[3]};
    shape.strides = {1, 1};
    shape.pads = {0, 0, 0, 0};
    shape.output = {input[0], input[1], 1, 1};
    const ValueId y = node.outputs[0];
    RLC_RETURN_IF_ERROR(
        EmitUnary(node.inputs[0], y, node.op, [&](const Format& format) { return MakePool(shape, format); }));
    if (node.op == "GlobalAveragePool" || node.GetInt("keepdims", 1) != 0) return {};
    // The value has two dimensions only: its slot is replaced by a plain one that says so.
    RLC_ASSIGN_OR_RETURN(const Slot slot, Ensure(y, Format::Plain(shape.output)));
    slots_[y] = {Slot{Format::Plain({input[0], input[1]}), slot.storage}};
    return {};
  }

  Expected<void> LowerReshape(const Node& node) {
    const std::vector<int64_t> input = DimsOf(node.inputs[0]);
    const int64_t total = ElementsOf(input);
    std::vector<int64_t> dims;
    if (node.op == "Flatten") {
      dims = {input[0], total / input[0]};
    } else {
      RLC_ASSIGN_OR_RETURN(dims, constant_(node.inputs[1])->ToInt64s());
      int64_t known = 1, unknown = -1;
      for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] == 0 && i < input.size()) dims[i] = input[i];
        if (dims[i] == -1 && unknown < 0) {
          unknown = static_cast<int64_t>(i);
        } else if (dims[i] < 1 || dims[i] > total) {
          return MakeError(ErrorKind::kInvalidInput, "its shape does not fit {} elements", total);
        } else {
          known *= dims[i];
          if (known > total) return MakeError(ErrorKind::kInvalidInput, "its shape does not fit {} elements", total);
        }
      }
      if (unknown >= 0) dims[static_cast<size_t>(unknown)] = total / known;
      if (ElementsOf(dims) != total) {
        return MakeError(ErrorKind::kInvalidInput, "its shape does not fit {} elements", total);
      }
    }
    RLC_ASSIGN_OR_RETURN(const Slot view, View(node.inputs[0], dims));
    shared_.insert(view.storage);
    AddSlot(node.outputs[0], view);
    return {};
  }

  Expected<void> LowerConcat(const Node& node) {
    const int block = ChannelBlock();
    std::vector<std::vector<int64_t>> dims;
    bool whole_blocks = true, same = true;
    for (const ValueId input : node.inputs) {
      dims.push_back(DimsOf(input));
      whole_blocks = whole_blocks && dims.back()[1] % block == 0;
      for (const size_t axis : {0, 2, 3}) same = same && dims.back()[axis] == dims[0][axis];
    }
    if (!same) return MakeError(ErrorKind::kInvalidInput, "its inputs differ in more than their channels");
    const bool bf16 = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return constant_(input) == nullptr && Primary(input).format.element() == Element::kBF16;
    });
    const Element element = bf16 ? Element::kBF16 : Element::kF32;
    const bool last = constant_(node.inputs[0]) == nullptr && Primary(node.inputs[0]).format.channels_last();
    const auto format_of = [&](const std::vector<int64_t>& input) {
      if (last) return Format::ChannelsLast(input, element);
      return whole_blocks ? Format::Blocked(input, block, element) : Format::Plain(input, element);
    };
    std::vector<Format> formats;
    std::vector<Slot> slots;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      formats.push_back(format_of(dims[i]));
      RLC_ASSIGN_OR_RETURN(const Slot slot, Ensure(node.inputs[i], formats.back()));
      slots.push_back(slot);
    }
    auto kernel = MakeConcat(formats);
    if (kernel == nullptr) return NoKernel("this Concat");
    return EmitTo(node.outputs[0], std::move(kernel), slots, node.op);
  }

  Expected<void> LowerBinary(const Node& node) {
    static const std::map<std::string_view, BinaryOp> kOps = {
        {"Add", BinaryOp::kAdd}, {"Sub", BinaryOp::kSub}, {"Mul", BinaryOp::kMul}, {"Div", BinaryOp::kDiv}};
    ValueId a = node.inputs[0], b = node.inputs[1];
    const auto fits = [&](const std::vector<int64_t>& small, const std::vector<int64_t>& large) {
      if (small.size() > large.size()) return false;
      for (size_t i = 1; i <= small.size(); ++i) {
        const int64_t mine = small[small.size() - i];
        if (mine != 1 && mine != large[large.size() - i]) return false;
      }
      return true;
    };
    if (constant_(a) != nullptr || !fits(DimsOf(b), DimsOf(a))) std::swap(a, b);
    if (constant_(a) != nullptr || !fits(DimsOf(b), DimsOf(a)) ||
        (a != node.inputs[0] && node.op != "Add" && node.op != "Mul")) {
      return MakeError(ErrorKind::kInvalidInput, "its operands {} and {} do not broadcast", FormatShape(DimsOf(a)),
                       FormatShape(DimsOf(b)));
    }
    std::vector<int64_t> dims = DimsOf(b);
    dims.insert(dims.begin(), DimsOf(a).size() - dims.size(), 1);
    for (const bool own : {true, false}) {
      const Format format = own ? Primary(a).format : Format::Plain(DimsOf(a));
      auto kernel = MakeBinary(kOps.at(node.op), format, dims);
      if (kernel == nullptr) continue;
      RLC_ASSIGN_OR_RETURN(const Slot left, Ensure(a, format));
      const Format wanted = kernel->inputs()[1];
      Slot right;
      if (dims == DimsOf(b) || constant_(b) != nullptr) {
        RLC_ASSIGN_OR_RETURN(right, Ensure(b, wanted));
      } else {
        RLC_ASSIGN_OR_RETURN(right, View(b, dims));
        if (!(right.format == wanted)) {
          auto reorder = MakeReorder(right.format, wanted);
          if (reorder == nullptr) return NoKernel("a reorder");
          const size_t target = NewStorage(Storage::Kind::kArena, wanted.bytes());
          Emit(std::move(reorder), {right.storage, target}, b, "reorder");
          right = {wanted, target};
        }
      }
      return EmitTo(node.outputs[0], std::move(kernel), {left, right}, node.op);
    }
    return NoKernel("this operation");
  }

  const Graph& graph_;
  std::span<const RegionInput> inputs_;
  const int threads_;
  ConstantOf constant_;
  std::map<ValueId, const Tensor*> constants_;
  std::map<ValueId, std::vector<Slot>> slots_;  // first: as it was computed
  std::map<ValueId, int> unread_;               // readers that are not lowered yet
  std::set<size_t> shared_;                     // storages that hold a value under several shapes
  std::set<NodeId> done_;
  int layer_ = -1;  // of the node that is being lowered
  LoweredRegion region_;
};

}  // namespace

std::shared_ptr<void> AllocateAligned(size_t bytes) {
  constexpr size_t kAlignment = 64;
  const size_t rounded = std::max<size_t>((bytes + kAlignment - 1) / kAlignment, 1) * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  return {memory, [](void* p) { std::free(p); }};
}

Expected<LoweredRegion> Lower(const Graph& program, std::span<const RegionInput> inputs, int threads) {
  return Lowering(program, inputs, threads).Run();
}

}  // namespace rlc
