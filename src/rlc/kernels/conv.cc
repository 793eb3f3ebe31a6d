#include <algorithm>
#include <cmath>

#include "rlc/base/error.h"
#include "rlc/kernels/onednn-inl.h"
#include "rlc/kernels/ops.h"
#include "rlc/kernels/winograd_conv.h"

namespace rlc {
namespace {

using dnnl::memory;

// `src_order`, `dst_order`: of input and output; `any` leaves it to oneDNN.
std::unique_ptr<Kernel> MakeOneDnn(const ConvShape& shape, Element element, memory::format_tag src_order,
                                   memory::format_tag dst_order, const Epilogue& epilogue,
                                   std::span<const float> weights, std::span<const float> bias) {
  using dnnl::convolution_forward;
  const auto type = onednn::TypeOf(element);
  memory::dims weight_dims = shape.weights;
  if (shape.group > 1) {
    weight_dims.insert(weight_dims.begin(), shape.group);
    weight_dims[1] /= shape.group;
  }
  const memory::dims dilations = {shape.dilations[0] - 1, shape.dilations[1] - 1};
  const memory::dims before = {shape.pads[0], shape.pads[1]}, after = {shape.pads[2], shape.pads[3]};
  dnnl::post_ops ops;
  if (epilogue.residual) ops.append_sum(1.0F);
  if (!onednn::AppendActivation(ops, epilogue.activation)) return nullptr;
  const memory::desc src(shape.input, type, src_order), dst(shape.Output(), type, dst_order);
  const memory::desc weight(weight_dims, type, memory::format_tag::any);
  const memory::desc bias_desc({shape.weights[0]}, memory::data_type::f32, memory::format_tag::a);
  try {
    const auto forward = dnnl::prop_kind::forward_inference;
    const auto direct = dnnl::algorithm::convolution_direct;
    const auto desc = bias.empty() ? convolution_forward::desc(forward, direct, src, weight, dst, shape.strides,
                                                               dilations, before, after)
                                   : convolution_forward::desc(forward, direct, src, weight, bias_desc, dst,
                                                               shape.strides, dilations, before, after);
    const convolution_forward::primitive_desc primitive(desc, onednn::Attributes(ops), onednn::Engine());
    std::vector<std::pair<int, memory>> constants = {
        {DNNL_ARG_WEIGHTS, onednn::Packed(weights, weight_dims, primitive.weights_desc())}};
    if (!bias.empty()) constants.emplace_back(DNNL_ARG_BIAS, onednn::Packed(bias, {shape.weights[0]}, bias_desc));
    std::vector<int> roles = {DNNL_ARG_SRC};
    std::vector<Format> inputs = {onednn::ToFormat(primitive.src_desc())};
    const Format output = onednn::ToFormat(primitive.dst_desc());
    if (epilogue.residual) {
      roles.push_back(0);
      inputs.push_back(output);
    }
    return std::make_unique<onednn::PrimitiveKernel>(convolution_forward(primitive), primitive, roles,
                                                     std::move(inputs), output, std::move(constants));
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

// oneDNN's fast kernels are generated ("jit", "brg"); what else it has is many times slower.
bool IsGenerated(const Kernel& kernel) {
  const std::string& name = kernel.implementation();
  return name.find("jit") != std::string::npos || name.find("brg") != std::string::npos;
}

// In blocks of channels, as our own kernels and the pools have them, so that few layers need a reorder; images of few
// channels come plain. (Left to itself, oneDNN takes channels last on CPUs with AMX: DenseNet-121 spent a third of its
// time in reorders.) Where there is no fast kernel for that, what oneDNN likes.
std::unique_ptr<Kernel> MakeDirect(const ConvShape& shape, const Epilogue& epilogue, std::span<const float> weights,
                                   std::span<const float> bias) {
  constexpr int64_t kFewChannels = 4;
  const auto any = memory::format_tag::any;
  const auto blocked = ChannelBlock() == 16 ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
  const auto src = shape.input[1] <= kFewChannels ? memory::format_tag::nchw : blocked;
  auto kernel = MakeOneDnn(shape, Element::kF32, src, blocked, epilogue, weights, bias);
  if (kernel != nullptr && IsGenerated(*kernel)) return kernel;
  auto other = MakeOneDnn(shape, Element::kF32, any, any, epilogue, weights, bias);
  return other != nullptr ? std::move(other) : std::move(kernel);
}

class BoundWinograd : public BoundKernel {
 public:
  BoundWinograd(const WinogradConv& conv, std::span<void* const> arguments, void* scratch)
      : conv_(conv), arguments_(arguments.begin(), arguments.end()), scratch_(scratch) {}
  void Rebind(size_t argument, void* memory) override { arguments_[argument] = memory; }
  void Run(const Parallel& parallel) override {
    const auto* x = static_cast<const float*>(arguments_[0]);
    const auto* residual = arguments_.size() > 2 ? static_cast<const float*>(arguments_[1]) : nullptr;
    conv_.Run(x, residual, static_cast<float*>(arguments_.back()), scratch_, parallel);
  }

 private:
  const WinogradConv& conv_;
  std::vector<void*> arguments_;
  void* scratch_;
};

class WinogradKernel : public Kernel {
 public:
  WinogradKernel(const ConvShape& shape, const WinogradShape& winograd, WinogradTile tile, const Epilogue& epilogue,
                 std::span<const float> weights, std::span<const float> bias, int threads)
      : conv_(winograd, tile, epilogue, weights, bias) {
    output_ = Format::Blocked(shape.Output(), winograd.block);
    inputs_ = {Format::Blocked(shape.input, winograd.block)};
    if (epilogue.residual) inputs_.push_back(output_);
    scratch_bytes_ = conv_.scratch_bytes(threads);
    constant_bytes_ = conv_.packed_bytes();
    implementation_ = tile == WinogradTile::kF2x2 ? "Winograd F(2x2,3x3)" : "Winograd F(4x4,3x3)";
  }
  std::unique_ptr<BoundKernel> Bind(std::span<void* const> arguments, void* scratch) const override {
    RLC_CHECK_EQ(arguments.size(), inputs_.size() + 1);
    return std::make_unique<BoundWinograd>(conv_, arguments, scratch);
  }

 private:
  WinogradConv conv_;
};

std::unique_ptr<Kernel> MakeWinograd(const ConvShape& shape, WinogradTile tile, const Epilogue& epilogue,
                                     std::span<const float> weights, std::span<const float> bias, int threads) {
  const auto all_one = [](const std::vector<int64_t>& list) {
    return std::all_of(list.begin(), list.end(), [](int64_t x) { return x == 1; });
  };
  const bool fits = shape.group == 1 && shape.weights[2] == 3 && shape.weights[3] == 3 && all_one(shape.strides) &&
                    all_one(shape.dilations);
  if (!fits) return nullptr;
  const auto small = [](int64_t value) { return static_cast<int>(std::min<int64_t>(value, 1 << 30)); };
  WinogradShape winograd;
  winograd.batch = small(shape.input[0]);
  winograd.in_channels = small(shape.input[1]);
  winograd.out_channels = small(shape.weights[0]);
  winograd.height = small(shape.input[2]);
  winograd.width = small(shape.input[3]);
  winograd.pad_top = small(shape.pads[0]);
  winograd.pad_left = small(shape.pads[1]);
  winograd.pad_bottom = small(shape.pads[2]);
  winograd.pad_right = small(shape.pads[3]);
  winograd.block = ChannelBlock();
  if (WhyNoWinograd(winograd, epilogue) != nullptr) return nullptr;
  // What fills up the last block of channels must stay zero.
  const Activation& activation = epilogue.activation;
  const bool moves_zero = activation.kind == Activation::Kind::kHardSigmoid ||
                          (activation.kind == Activation::Kind::kClip && (activation.alpha > 0 || activation.beta < 0));
  if (moves_zero && winograd.out_channels % winograd.block != 0) return nullptr;
  return std::make_unique<WinogradKernel>(shape, winograd, tile, epilogue, weights, bias, threads);
}

}  // namespace

std::vector<int64_t> ConvShape::Output() const {
  std::vector<int64_t> output = {input[0], weights[0]};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t field = dilations[i] * (weights[2 + i] - 1) + 1;
    output.push_back((input[2 + i] + pads[i] + pads[2 + i] - field) / strides[i] + 1);
  }
  return output;
}

std::unique_ptr<Kernel> MakeConv(const ConvShape& shape, ConvForm form, const Epilogue& epilogue,
                                 std::span<const float> weights, std::span<const float> bias, int threads) {
  switch (form) {
    case ConvForm::kDirect:
      return MakeDirect(shape, epilogue, weights, bias);
    case ConvForm::kBf16:
      return MakeOneDnn(shape, Element::kBF16, memory::format_tag::any, memory::format_tag::any, epilogue, weights,
                        bias);
    case ConvForm::kWinograd2:
      return MakeWinograd(shape, WinogradTile::kF2x2, epilogue, weights, bias, threads);
    case ConvForm::kWinograd4:
      return MakeWinograd(shape, WinogradTile::kF4x4, epilogue, weights, bias, threads);
  }
  return nullptr;
}

}  // namespace rlc
