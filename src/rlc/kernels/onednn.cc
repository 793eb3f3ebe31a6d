#include <algorithm>
#include <cstring>

#include "rlc/base/error.h"
#include "rlc/base/format.h"
#include "rlc/kernels/onednn-inl.h"
#include "rlc/kernels/ops.h"

// Of the OpenMP library that oneDNN runs on. Its header comes with the compiler, and clang's is a package of its own.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace rlc {
namespace onednn {
namespace {

using dnnl::memory;

// Runs through the C interface with a list of arguments made once: dnnl::primitive::execute allocates.
class BoundPrimitive : public BoundKernel {
 public:
  BoundPrimitive(const dnnl::primitive& primitive, std::vector<std::pair<int, memory>> arguments,
                 std::vector<std::vector<size_t>> places)
      : primitive_(primitive), stream_(Engine()), memories_(std::move(arguments)), places_(std::move(places)) {
    for (const auto& [role, argument] : memories_) list_.push_back({role, argument.get()});
  }

  void Rebind(size_t argument, void* data) override {
    for (const size_t place : places_[argument]) memories_[place].second.set_data_handle(data);
  }

  void Run(const Parallel&) override {
    const ScopedSingleThread one;
    const auto status =
        dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(list_.size()), list_.data());
    RLC_CHECK_EQ(static_cast<int>(status), static_cast<int>(dnnl_success));
  }

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<std::pair<int, memory>> memories_;
  std::vector<std::vector<size_t>> places_;  // by argument: where it stands in memories_
  std::vector<dnnl_exec_arg_t> list_;
};

}  // namespace

const dnnl::engine& Engine() {
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

Format ToFormat(const memory::desc& desc) {
  return Format(std::make_shared<Format::Impl>(Format::Impl{desc, desc.dims()}));
}

memory::data_type TypeOf(Element element) {
  return element == Element::kF32 ? memory::data_type::f32 : memory::data_type::bf16;
}

bool AppendActivation(dnnl::post_ops& ops, const Activation& activation) {
  using dnnl::algorithm;
  const float alpha = activation.alpha, beta = activation.beta;
  const auto append = [&](algorithm kind, float a, float b) {
    ops.append_eltwise(1.0F, kind, a, b);
    return true;
  };
  switch (activation.kind) {
    case Activation::Kind::kNone:
      return true;
    case Activation::Kind::kClip:
      if (alpha == 0 && beta == std::numeric_limits<float>::infinity()) return append(algorithm::eltwise_relu, 0, 0);
      return append(algorithm::eltwise_clip, alpha, beta);
    case Activation::Kind::kLeakyRelu:
      return append(algorithm::eltwise_relu, alpha, 0);
    case Activation::Kind::kHardSigmoid:
      append(algorithm::eltwise_linear, alpha, beta);
      return append(algorithm::eltwise_clip, 0, 1);
    case Activation::Kind::kHardSwish:
      // oneDNN 2.6 knows the one with 1/6 and 1/2 only.
      if (alpha != 1.0F / 6 || beta != 0.5F) return false;
      return append(algorithm::eltwise_hardswish, 0, 0);
    case Activation::Kind::kSigmoid:
      return append(algorithm::eltwise_logistic, 0, 0);
    case Activation::Kind::kSilu:
      return append(algorithm::eltwise_swish, 1, 0);
    case Activation::Kind::kGelu:
      return append(algorithm::eltwise_gelu_erf, 0, 0);
    case Activation::Kind::kTanh:
      return append(algorithm::eltwise_tanh, 0, 0);
  }
  return false;
}

dnnl::primitive_attr Attributes(const dnnl::post_ops& ops) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(ops);
  return attributes;
}

memory Packed(std::span<const float> values, const memory::dims& dims, const memory::desc& wanted) {
  memory::dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  const memory::desc plain(dims, memory::data_type::f32, strides);
  RLC_CHECK_EQ(plain.get_size(), values.size_bytes());
  memory from(plain, Engine(), const_cast<float*>(values.data()));
  memory to(wanted, Engine());
  dnnl::stream stream(Engine());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return to;
}

PrimitiveKernel::PrimitiveKernel(dnnl::primitive primitive, const dnnl::primitive_desc_base& desc,
                                 std::vector<int> roles, std::vector<Format> inputs, Format output,
                                 std::vector<std::pair<int, memory>> constants)
    : primitive_(std::move(primitive)),
      scratch_desc_(desc.scratchpad_desc()),
      roles_(std::move(roles)),
      constants_(std::move(constants)) {
  inputs_ = std::move(inputs);
  output_ = std::move(output);
  RLC_CHECK_EQ(roles_.size(), inputs_.size());
  const auto in_place = std::find(roles_.begin(), roles_.end(), 0);
  if (in_place != roles_.end()) in_place_ = static_cast<int>(in_place - roles_.begin());
  scratch_bytes_ = scratch_desc_.get_size();
  for (const auto& [role, constant] : constants_) constant_bytes_ += constant.get_desc().get_size();
  implementation_ = std::string("oneDNN ") + desc.impl_info_str();
}

std::unique_ptr<BoundKernel> PrimitiveKernel::Bind(std::span<void* const> arguments, void* scratch) const {
  RLC_CHECK_EQ(arguments.size(), inputs_.size() + 1);
  std::vector<std::pair<int, memory>> memories;
  std::vector<std::vector<size_t>> places(arguments.size());
  const auto add = [&](size_t argument, int role, const Format& format) {
    places[argument].push_back(memories.size());
    memories.emplace_back(role, memory(DescOf(format), Engine(), arguments[argument]));
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (roles_[i] != 0) add(i, roles_[i], inputs_[i]);
  }
  add(inputs_.size(), DNNL_ARG_DST, output_);
  for (const auto& constant : constants_) memories.push_back(constant);
  if (scratch_bytes_ > 0) memories.emplace_back(DNNL_ARG_SCRATCHPAD, memory(scratch_desc_, Engine(), scratch));
  return std::make_unique<BoundPrimitive>(primitive_, std::move(memories), std::move(places));
}

}  // namespace onednn

Format Format::Plain(const std::vector<int64_t>& dims, Element element) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return onednn::ToFormat(dnnl::memory::desc(dims, onednn::TypeOf(element), strides));
}

Format Format::Blocked(const std::vector<int64_t>& dims, int block, Element element) {
  RLC_CHECK_EQ(dims.size(), size_t{4});
  RLC_CHECK(block == 8 || block == 16);
  const auto tag = block == 16 ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nChw8c;
  return onednn::ToFormat(dnnl::memory::desc(dims, onednn::TypeOf(element), tag));
}

Format Format::ChannelsLast(const std::vector<int64_t>& dims, Element element) {
  RLC_CHECK_EQ(dims.size(), size_t{4});
  return onednn::ToFormat(dnnl::memory::desc(dims, onednn::TypeOf(element), dnnl::memory::format_tag::nhwc));
}

const std::vector<int64_t>& Format::dims() const { return impl_->dims; }

Element Format::element() const {
  return impl_->desc.data_type() == dnnl::memory::data_type::bf16 ? Element::kBF16 : Element::kF32;
}

size_t Format::bytes() const { return impl_->desc.get_size(); }
bool Format::plain() const { return *this == Plain(dims(), element()); }

int Format::block() const {
  if (dims().size() != 4) return 0;
  for (const int block : {8, 16}) {
    if (*this == Blocked(dims(), block, element())) return block;
  }
  return 0;
}

bool Format::channels_last() const { return dims().size() == 4 && *this == ChannelsLast(dims(), element()); }

bool Format::operator==(const Format& other) const { return impl_->desc == other.impl_->desc; }

std::string Format::Text() const {
  const std::string type = element() == Element::kF32 ? "f32" : "bf16";
  const std::string shape = fmt::format("{} [{}]", type, fmt::join(dims(), ","));
  if (plain()) return shape;
  if (channels_last()) return shape + ", channels last";
  return block() > 0 ? fmt::format("{} in blocks of {}", shape, block()) : shape + " in oneDNN's own order";
}

int ChannelBlock() {
  const auto isa = dnnl::get_effective_cpu_isa();
  const bool narrow = isa == dnnl::cpu_isa::sse41 || isa == dnnl::cpu_isa::avx || isa == dnnl::cpu_isa::avx2 ||
                      isa == dnnl::cpu_isa::avx2_vnni;
  return narrow ? 8 : 16;
}

ScopedSingleThread::ScopedSingleThread() : previous_(omp_get_max_threads()) {
  if (previous_ != 1) omp_set_num_threads(1);
}

ScopedSingleThread::~ScopedSingleThread() {
  if (previous_ != 1) omp_set_num_threads(previous_);
}

}  // namespace rlc
