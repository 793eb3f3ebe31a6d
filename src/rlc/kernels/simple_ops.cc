#include <algorithm>
#include <cstddef>
#include <cstring>

#include "rlc/base/error.h"
#include "rlc/kernels/onednn-inl.h"
#include "rlc/kernels/ops.h"

namespace rlc {
namespace {

using dnnl::memory;

constexpr auto kInference = dnnl::prop_kind::forward_inference;

memory::desc AnyOrder(const std::vector<int64_t>& dims, Element element) {
  return memory::desc(dims, onednn::TypeOf(element), memory::format_tag::any);
}

// Null where oneDNN throws: it has no implementation for what `make` asks.
template <typename Make>
std::unique_ptr<Kernel> Try(const Make& make) {
  try {
    return make();
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

dnnl::algorithm AlgorithmOf(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return dnnl::algorithm::binary_add;
    case BinaryOp::kSub:
      return dnnl::algorithm::binary_sub;
    case BinaryOp::kMul:
      return dnnl::algorithm::binary_mul;
    case BinaryOp::kDiv:
      return dnnl::algorithm::binary_div;
    case BinaryOp::kMax:
      return dnnl::algorithm::binary_max;
    case BinaryOp::kMin:
      break;
  }
  return dnnl::algorithm::binary_min;
}

// For what oneDNN 2.6 has no single operation: the hard sigmoid, and a hard swish with other constants.
void RunHardGate(const Activation& activation, const float* x, float* y, size_t count) {
  const bool swish = activation.kind == Activation::Kind::kHardSwish;
  for (size_t i = 0; i < count; ++i) {
    const float gate = std::min(std::max(activation.alpha * x[i] + activation.beta, 0.0F), 1.0F);
    y[i] = swish ? x[i] * gate : gate;
  }
}

class ActivationLoop : public Kernel {
 public:
  ActivationLoop(const Activation& activation, const Format& x) : activation_(activation) {
    inputs_ = {x};
    output_ = x;
    implementation_ = "loop";
  }

  std::unique_ptr<BoundKernel> Bind(std::span<void* const> arguments, void*) const override {
    return std::make_unique<Bound>(*this, arguments[0], arguments[1]);
  }

 private:
  class Bound : public BoundKernel {
   public:
    Bound(const ActivationLoop& kernel, void* x, void* y) : kernel_(kernel), memory_{x, y} {}
    void Rebind(size_t argument, void* memory) override { memory_[argument] = memory; }
    void Run(const Parallel&) override {
      const Format& format = kernel_.output_;
      const auto* x = static_cast<const float*>(memory_[0]);
      auto* y = static_cast<float*>(memory_[1]);
      RunHardGate(kernel_.activation_, x, y, format.bytes() / sizeof(float));
      if (format.block() > 0) ClearFilling(format, y);
    }

   private:
    const ActivationLoop& kernel_;
    void* memory_[2];
  };

  // The channels that fill up the last block stay zero, whatever the activation makes of zero.
  static void ClearFilling(const Format& format, float* y) {
    const auto& dims = format.dims();
    const int64_t block = format.block(), blocks = (dims[1] + block - 1) / block, pixels = dims[2] * dims[3];
    const int64_t used = dims[1] - (blocks - 1) * block;
    if (used == block) return;
    for (int64_t n = 0; n < dims[0]; ++n) {
      float* last = y + ((n + 1) * blocks - 1) * pixels * block;
      for (int64_t p = 0; p < pixels; ++p) std::fill(last + p * block + used, last + (p + 1) * block, 0.0F);
    }
  }

  Activation activation_;
};

std::unique_ptr<Kernel> MakeActivationLoop(const Activation& activation, const Format& x) {
  const bool gate =
      activation.kind == Activation::Kind::kHardSigmoid || activation.kind == Activation::Kind::kHardSwish;
  if (!gate || x.element() != Element::kF32 || (!x.plain() && x.block() == 0)) return nullptr;
  return std::make_unique<ActivationLoop>(activation, x);
}

// Channels one behind another. In plain order and in whole blocks each sample of each input is one piece of memory,
// with channels last each pixel is. (oneDNN 2.6 takes its reference implementation for several of these: 20 times as
// long on DenseNet-121.)
class ConcatKernel : public Kernel {
 public:
  ConcatKernel(const std::vector<Format>& inputs, int64_t channels) {
    inputs_ = inputs;
    std::vector<int64_t> dims = inputs[0].dims();
    dims[1] = channels;
    const Element element = inputs[0].element();
    const bool last = inputs[0].channels_last();
    output_ = inputs[0].plain()       ? Format::Plain(dims, element)
              : inputs[0].block() > 0 ? Format::Blocked(dims, inputs[0].block(), element)
                                      : Format::ChannelsLast(dims, element);
    pieces_ = static_cast<size_t>(inputs[0].plain() || !last ? dims[0] : dims[0] * dims[2] * dims[3]);
    implementation_ = "copy";
  }

  std::unique_ptr<BoundKernel> Bind(std::span<void* const> arguments, void*) const override {
    return std::make_unique<Bound>(*this, arguments);
  }

 private:
  class Bound : public BoundKernel {
   public:
    Bound(const ConcatKernel& kernel, std::span<void* const> arguments)
        : memory_(arguments.begin(), arguments.end()), pieces_(kernel.pieces_) {
      for (const Format& input : kernel.inputs_) bytes_.push_back(input.bytes() / pieces_);
    }
    void Rebind(size_t argument, void* memory) override { memory_[argument] = memory; }
    void Run(const Parallel&) override {
      auto* y = static_cast<std::byte*>(memory_.back());
      for (size_t piece = 0; piece < pieces_; ++piece) {
        for (size_t i = 0; i < bytes_.size(); ++i) {
          std::memcpy(y, static_cast<const std::byte*>(memory_[i]) + piece * bytes_[i], bytes_[i]);
          y += bytes_[i];
        }
      }
    }

   private:
    std::vector<void*> memory_;
    std::vector<size_t> bytes_;  // of one piece of each input
    size_t pieces_;
  };

  size_t pieces_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> MakeInnerProduct(int64_t rows, int64_t in, int64_t out, const Activation& activation,
                                         std::span<const float> weights, std::span<const float> bias) {
  return Try([&]() -> std::unique_ptr<Kernel> {
    using dnnl::inner_product_forward;
    dnnl::post_ops ops;
    if (!onednn::AppendActivation(ops, activation)) return nullptr;
    const Format x = Format::Plain({rows, in}), y = Format::Plain({rows, out});
    const memory::desc weight = AnyOrder({out, in}, Element::kF32), bias_desc = onednn::DescOf(Format::Plain({out}));
    const auto desc =
        bias.empty() ? inner_product_forward::desc(kInference, onednn::DescOf(x), weight, onednn::DescOf(y))
                     : inner_product_forward::desc(kInference, onednn::DescOf(x), weight, bias_desc, onednn::DescOf(y));
    const inner_product_forward::primitive_desc primitive(desc, onednn::Attributes(ops), onednn::Engine());
    std::vector<std::pair<int, memory>> constants = {
        {DNNL_ARG_WEIGHTS, onednn::Packed(weights, {out, in}, primitive.weights_desc())}};
    if (!bias.empty()) constants.emplace_back(DNNL_ARG_BIAS, onednn::Packed(bias, {out}, bias_desc));
    return std::make_unique<onednn::PrimitiveKernel>(inner_product_forward(primitive), primitive,
                                                     std::vector<int>{DNNL_ARG_SRC}, std::vector<Format>{x}, y,
                                                     std::move(constants));
  });
}

std::unique_ptr<Kernel> MakePool(const PoolShape& shape, const Format& x) {
  return Try([&]() -> std::unique_ptr<Kernel> {
    using dnnl::pooling_forward;
    const auto kind = shape.kind == PoolShape::Kind::kMax       ? dnnl::algorithm::pooling_max
                      : shape.kind == PoolShape::Kind::kAverage ? dnnl::algorithm::pooling_avg_exclude_padding
                                                                : dnnl::algorithm::pooling_avg_include_padding;
    const pooling_forward::desc desc(kInference, kind, onednn::DescOf(x), AnyOrder(shape.output, x.element()),
                                     shape.strides, shape.kernel, {shape.pads[0], shape.pads[1]},
                                     {shape.pads[2], shape.pads[3]});
    const pooling_forward::primitive_desc primitive(desc, onednn::Attributes(), onednn::Engine());
    return std::make_unique<onednn::PrimitiveKernel>(pooling_forward(primitive), primitive,
                                                     std::vector<int>{DNNL_ARG_SRC}, std::vector<Format>{x},
                                                     onednn::ToFormat(primitive.dst_desc()));
  });
}

std::unique_ptr<Kernel> MakeBatchNorm(const BatchNormConstants& constants, bool relu, const Format& x) {
  return Try([&]() -> std::unique_ptr<Kernel> {
    using dnnl::normalization_flags;
    auto flags = normalization_flags::use_global_stats | normalization_flags::use_scale_shift;
    if (relu) flags = flags | normalization_flags::fuse_norm_relu;
    const dnnl::batch_normalization_forward::desc desc(kInference, onednn::DescOf(x), constants.epsilon, flags);
    const dnnl::batch_normalization_forward::primitive_desc primitive(desc, onednn::Attributes(), onednn::Engine());
    const int64_t channels = x.dims()[1];
    std::vector<float> both(constants.scale.begin(), constants.scale.end());
    both.insert(both.end(), constants.shift.begin(), constants.shift.end());
    return std::make_unique<onednn::PrimitiveKernel>(
        dnnl::batch_normalization_forward(primitive), primitive, std::vector<int>{DNNL_ARG_SRC}, std::vector<Format>{x},
        x,
        std::vector<std::pair<int, memory>>{
            {DNNL_ARG_MEAN, onednn::Packed(constants.mean, {channels}, primitive.mean_desc())},
            {DNNL_ARG_VARIANCE, onednn::Packed(constants.variance, {channels}, primitive.variance_desc())},
            {DNNL_ARG_SCALE_SHIFT, onednn::Packed(both, {2, channels}, primitive.weights_desc())}});
  });
}

std::unique_ptr<Kernel> MakeActivation(const Activation& activation, const Format& x) {
  dnnl::post_ops ops;
  if (!onednn::AppendActivation(ops, activation) || ops.len() != 1) return MakeActivationLoop(activation, x);
  return Try([&]() -> std::unique_ptr<Kernel> {
    dnnl::algorithm kind = dnnl::algorithm::undef;
    float scale = 1, alpha = 0, beta = 0;
    ops.get_params_eltwise(0, scale, kind, alpha, beta);
    const dnnl::eltwise_forward::desc desc(kInference, kind, onednn::DescOf(x), alpha, beta);
    const dnnl::eltwise_forward::primitive_desc primitive(desc, onednn::Attributes(), onednn::Engine());
    return std::make_unique<onednn::PrimitiveKernel>(dnnl::eltwise_forward(primitive), primitive,
                                                     std::vector<int>{DNNL_ARG_SRC}, std::vector<Format>{x}, x);
  });
}

std::unique_ptr<Kernel> MakeBinary(BinaryOp op, const Format& a, const std::vector<int64_t>& b) {
  return Try([&]() -> std::unique_ptr<Kernel> {
    const int block = a.block();
    const Format other = b == a.dims() ? a
                         : block > 0   ? Format::Blocked(b, block, a.element())
                                       : Format::Plain(b, a.element());
    const dnnl::binary::desc desc(AlgorithmOf(op), onednn::DescOf(a), onednn::DescOf(other), onednn::DescOf(a));
    const dnnl::binary::primitive_desc primitive(desc, onednn::Attributes(), onednn::Engine());
    return std::make_unique<onednn::PrimitiveKernel>(dnnl::binary(primitive), primitive,
                                                     std::vector<int>{DNNL_ARG_SRC_0, DNNL_ARG_SRC_1},
                                                     std::vector<Format>{a, other}, a);
  });
}

std::unique_ptr<Kernel> MakeConcat(const std::vector<Format>& inputs) {
  int64_t channels = 0;
  for (const Format& input : inputs) {
    const bool whole = input.block() > 0 && input.dims()[1] % input.block() == 0;
    if (!input.plain() && !whole && !input.channels_last()) return nullptr;
    channels += input.dims()[1];
  }
  return std::make_unique<ConcatKernel>(inputs, channels);
}

std::unique_ptr<Kernel> MakeSoftmax(int axis, const Format& x) {
  return Try([&]() -> std::unique_ptr<Kernel> {
    const dnnl::softmax_forward::desc desc(kInference, onednn::DescOf(x), axis);
    const dnnl::softmax_forward::primitive_desc primitive(desc, onednn::Attributes(), onednn::Engine());
    return std::make_unique<onednn::PrimitiveKernel>(dnnl::softmax_forward(primitive), primitive,
                                                     std::vector<int>{DNNL_ARG_SRC}, std::vector<Format>{x}, x);
  });
}

std::unique_ptr<Kernel> MakeReorder(const Format& from, const Format& to) {
  return Try([&]() -> std::unique_ptr<Kernel> {
    const dnnl::reorder::primitive_desc primitive(onednn::Engine(), onednn::DescOf(from), onednn::Engine(),
                                                  onednn::DescOf(to), onednn::Attributes());
    return std::make_unique<onednn::PrimitiveKernel>(dnnl::reorder(primitive), primitive,
                                                     std::vector<int>{DNNL_ARG_SRC}, std::vector<Format>{from}, to);
  });
}

}  // namespace rlc
