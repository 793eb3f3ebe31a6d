#include "rlc/kernels/winograd_conv.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/kernels/winograd_kernels.h"
#include "rlc/kernels/winograd_plan.h"
#include "rlc/kernels/winograd_transforms.h"

namespace rlc {
namespace {

constexpr size_t kLine = 64, kHugePage = size_t{2} << 20;

size_t CeilDivide(size_t a, size_t b) { return (a + b - 1) / b; }
size_t RoundUp(size_t a, size_t b) { return CeilDivide(a, b) * b; }
size_t Size(int value) { return static_cast<size_t>(value); }
ptrdiff_t Signed(size_t value) { return static_cast<ptrdiff_t>(value); }

// Zeroed floats, 64-byte aligned; large ones on huge pages where the system has them: the weights are read from start
// to end for each block of tiles, and with 4 KiB pages the processor's prefetcher stops at the end of each.
class AlignedFloats {
 public:
  explicit AlignedFloats(size_t count) : count_(count) {
    const size_t alignment = count * sizeof(float) < kHugePage ? kLine : kHugePage;
    const size_t bytes = RoundUp(std::max<size_t>(count, 1) * sizeof(float), alignment);
    data_ = static_cast<float*>(std::aligned_alloc(alignment, bytes));
    if (data_ == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (alignment == kHugePage) madvise(data_, bytes, MADV_HUGEPAGE);  // only advice: may fail
#endif
    std::memset(data_, 0, bytes);
  }
  ~AlignedFloats() { std::free(data_); }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;

  float* data() { return data_; }
  const float* data() const { return data_; }
  size_t size() const { return count_; }

 private:
  float* data_;
  size_t count_;
};

// G g G^T of one pair of channels, rounded to float once.
template <typename Matrices>
void TransformWeights(const Matrices& matrices, const float* g, size_t stride, float* u) {
  constexpr size_t kIn = Matrices::kIn;
  std::array<std::array<double, 3>, kIn> half{};
  for (size_t i = 0; i < kIn; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      for (size_t k = 0; k < 3; ++k) half[i][j] += matrices.g[i][k] * static_cast<double>(g[3 * k + j]);
    }
  }
  for (size_t i = 0; i < kIn; ++i) {
    for (size_t j = 0; j < kIn; ++j, u += stride) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += half[i][k] * matrices.g[j][k];
      *u = static_cast<float>(sum);
    }
  }
}

size_t OutputsOf(WinogradTile tile) { return tile == WinogradTile::kF2x2 ? 2 : 4; }

}  // namespace

struct WinogradConv::Packed {
  Packed(const WinogradShape& shape_in, WinogradTile tile_in, const Epilogue& epilogue_in);

  void PackWeights(std::span<const float> weights);
  WinogradSpot SpotOf(size_t tile_index) const;
  // Sizes of the parts of a task's scratch, in bytes.
  size_t SpotBytes(const WinogradPlan& plan) const { return RoundUp(plan.block_tiles * sizeof(WinogradSpot), kLine); }
  size_t TaskBytes(const WinogradPlan& plan) const {
    return SpotBytes(plan) + sizeof(float) * sizes.positions * (plan.v_stride(sizes) + plan.m_stride(sizes));
  }
  WinogradPlan PlanFor(int threads) const;
  void RunTask(const WinogradPlan& plan, size_t task, const float* x, const float* residual, float* y,
               std::byte* scratch) const;
  void RunBlock(const WinogradPlan& plan, const WinogradTileBlock& block, size_t unit_begin, size_t unit_end,
                const float* x, const float* residual, float* y, float* v) const;

  WinogradShape shape;
  WinogradTile tile;
  Epilogue epilogue;
  WinogradKernels kernels;
  size_t block, out, in_blocks, out_blocks, tile_rows, tile_cols;
  size_t panel_channels, panels;
  bool last_panel_is_half;
  WinogradSizes sizes;
  size_t l2_bytes = L2CacheBytes();
  std::array<WinogradPlan, 16> plans;  // for 1 to 16 threads: making one takes microseconds
  AlignedFloats u, bias;
};

namespace {

// Vectors of output channels; y's filler channels have to be written too.
size_t OutVectors(const WinogradShape& shape, size_t lanes) {
  return CeilDivide(RoundUp(Size(shape.out_channels), Size(shape.block)), lanes);
}

size_t PackedFloats(const WinogradShape& shape, WinogradTile tile, size_t lanes) {
  const size_t side = OutputsOf(tile) + 2;
  return side * side * Size(shape.in_channels) * OutVectors(shape, lanes) * lanes;
}

}  // namespace

WinogradConv::Packed::Packed(const WinogradShape& shape_in, WinogradTile tile_in, const Epilogue& epilogue_in)
    : shape(shape_in),
      tile(tile_in),
      epilogue(epilogue_in),
      kernels(ChooseWinogradKernels(tile, shape.block, epilogue.activation.kind)),
      block(Size(shape.block)),
      out(OutputsOf(tile)),
      in_blocks(CeilDivide(Size(shape.in_channels), block)),
      out_blocks(CeilDivide(Size(shape.out_channels), block)),
      tile_rows(CeilDivide(Size(shape.out_height()), out)),
      tile_cols(CeilDivide(Size(shape.out_width()), out)),
      panel_channels(2 * kernels.lanes),
      panels(CeilDivide(OutVectors(shape, kernels.lanes), 2)),
      last_panel_is_half(OutVectors(shape, kernels.lanes) % 2 == 1),
      u(PackedFloats(shape, tile, kernels.lanes)),
      bias(panels * panel_channels) {
  const size_t unit_channels = std::max(panel_channels, block);  // both are powers of two
  sizes = {.tiles = Size(shape.batch) * tile_rows * tile_cols,
           .positions = (out + 2) * (out + 2),
           .channels = in_blocks * block,
           .units = CeilDivide(out_blocks * block, unit_channels),
           .unit_channels = unit_channels,
           .lanes = kernels.lanes,
           .rows = kernels.rows};
  for (size_t i = 0; i < plans.size(); ++i) plans[i] = MakeWinogradPlan(sizes, i + 1, l2_bytes);
}

WinogradPlan WinogradConv::Packed::PlanFor(int threads) const {
  const size_t count = Size(std::max(threads, 1));
  return count <= plans.size() ? plans[count - 1] : MakeWinogradPlan(sizes, count, l2_bytes);
}

void WinogradConv::Packed::PackWeights(std::span<const float> weights) {
  const size_t in = Size(shape.in_channels);
  for (size_t k = 0; k < Size(shape.out_channels); ++k) {
    const size_t panel = k / panel_channels;
    const bool is_half = last_panel_is_half && panel + 1 == panels;
    const size_t width = is_half ? kernels.lanes : panel_channels;
    float* to = u.data() + panel * sizes.positions * in * panel_channels + k % panel_channels;
    for (size_t c = 0; c < in; ++c, to += width) {
      const float* g = weights.data() + (k * in + c) * 9;
      if (tile == WinogradTile::kF2x2) {
        TransformWeights(kWinograd2x2, g, in * width, to);
      } else {
        TransformWeights(kWinograd4x4, g, in * width, to);
      }
    }
  }
}

WinogradSpot WinogradConv::Packed::SpotOf(size_t tile_index) const {
  const size_t col = tile_index % tile_cols, row = tile_index / tile_cols % tile_rows;
  const size_t image = tile_index / tile_cols / tile_rows;
  const ptrdiff_t height = shape.height, width = shape.width, b = shape.block, side = Signed(out) + 2;
  const ptrdiff_t out_y = Signed(row * out), out_x = Signed(col * out);
  const ptrdiff_t in_y = out_y - shape.pad_top, in_x = out_x - shape.pad_left;
  const auto clamp = [side](ptrdiff_t value) { return static_cast<int8_t>(std::clamp<ptrdiff_t>(value, 0, side)); };
  const auto shorter = [this](ptrdiff_t left) { return static_cast<int8_t>(std::min(left, Signed(out))); };
  return {.x = (Signed(image * in_blocks) * height + in_y) * width * b + in_x * b,
          .y = (Signed(image * out_blocks) * shape.out_height() + out_y) * shape.out_width() * b + out_x * b,
          .row_begin = clamp(-in_y),
          .row_end = clamp(height - in_y),
          .col_begin = clamp(-in_x),
          .col_end = clamp(width - in_x),
          .out_rows = shorter(shape.out_height() - out_y),
          .out_cols = shorter(shape.out_width() - out_x)};
}

void WinogradConv::Packed::RunBlock(const WinogradPlan& plan, const WinogradTileBlock& tiles, size_t unit_begin,
                                    size_t unit_end, const float* x, const float* residual, float* y, float* v) const {
  const ptrdiff_t b = shape.block;
  float* m = v + sizes.positions * plan.v_stride(sizes);
  kernels.input(tiles, {.x = x,
                        .channel_blocks = in_blocks,
                        .block_stride = b * shape.height * shape.width,
                        .row_stride = b * shape.width,
                        .v = v,
                        .v_stride = plan.v_stride(sizes)});
  const ptrdiff_t out_plane = b * shape.out_height() * shape.out_width();
  for (size_t unit = unit_begin; unit < unit_end; ++unit) {
    const size_t channel = unit * sizes.unit_channels;
    const size_t channel_end = std::min(channel + sizes.unit_channels, out_blocks * block);
    const size_t panel = channel / panel_channels, panel_end = CeilDivide(channel_end, panel_channels);
    kernels.product(tiles, {.v = v,
                            .u = u.data() + panel * sizes.positions * Size(shape.in_channels) * panel_channels,
                            .m = m,
                            .v_stride = plan.v_stride(sizes),
                            .m_stride = plan.m_stride(sizes),
                            .channels = Size(shape.in_channels),
                            .padded_channels = sizes.channels,
                            .panels = panel_end - panel,
                            .last_panel_is_half = last_panel_is_half && panel_end == panels});
    const ptrdiff_t offset = Signed(channel / block) * out_plane;
    kernels.output(tiles, {.m = m,
                           .m_stride = plan.m_stride(sizes),
                           .bias = bias.data() + channel,
                           .residual = residual == nullptr ? nullptr : residual + offset,
                           .y = y + offset,
                           .channel_blocks = (channel_end - channel) / block,
                           .block_stride = out_plane,
                           .row_stride = b * shape.out_width(),
                           .alpha = epilogue.activation.alpha,
                           .beta = epilogue.activation.beta});
  }
}

void WinogradConv::Packed::RunTask(const WinogradPlan& plan, size_t task, const float* x, const float* residual,
                                   float* y, std::byte* scratch) const {
  const size_t tile_part = task / plan.unit_parts, unit_part = task % plan.unit_parts;
  const size_t tile_begin = sizes.tiles * tile_part / plan.tile_parts;
  const size_t tile_end = sizes.tiles * (tile_part + 1) / plan.tile_parts;
  const size_t unit_begin = sizes.units * unit_part / plan.unit_parts;
  const size_t unit_end = sizes.units * (unit_part + 1) / plan.unit_parts;

  auto* spots = reinterpret_cast<WinogradSpot*>(scratch);
  float* v = reinterpret_cast<float*>(scratch + SpotBytes(plan));
  const size_t blocks = CeilDivide(tile_end - tile_begin, plan.block_tiles);
  for (size_t i = 0; i < blocks; ++i) {
    const size_t begin = tile_begin + (tile_end - tile_begin) * i / blocks;
    const size_t end = tile_begin + (tile_end - tile_begin) * (i + 1) / blocks;
    for (size_t t = begin; t < end; ++t) new (spots + (t - begin)) WinogradSpot(SpotOf(t));
    const WinogradTileBlock tiles = {spots, end - begin, CeilDivide(end - begin, kernels.rows)};
    RunBlock(plan, tiles, unit_begin, unit_end, x, residual, y, v);
  }
}

const char* WhyNoWinograd(const WinogradShape& s, const Epilogue& epilogue) {
  switch (epilogue.activation.kind) {
    case Activation::Kind::kNone:
    case Activation::Kind::kClip:
    case Activation::Kind::kLeakyRelu:
    case Activation::Kind::kHardSigmoid:
    case Activation::Kind::kHardSwish:
      break;
    default:
      return "the kernel does not have the activation";
  }
  if (s.block != 8 && s.block != 16) return "the channels are not in blocks of 8 or 16";
  constexpr int kMost = 1 << 24;  // of each number; keeps their sums within int
  for (const int value : {s.batch, s.in_channels, s.out_channels, s.height, s.width}) {
    if (value < 1) return "the shape is empty";
    if (value > kMost) return "the shape is too large";
  }
  for (const int pad : {s.pad_top, s.pad_left, s.pad_bottom, s.pad_right}) {
    if (pad < 0) return "a pad is negative";
    if (pad > kMost) return "a pad is too large";
  }
  if (s.out_height() < 1 || s.out_width() < 1) return "the output is empty";
  // Everything that is addressed stays far below 2^63 bytes: no tensor, with 8 bytes for each of its tiles, beyond
  // 2^40.
  const double pixels =
      std::max(static_cast<double>(s.height) * s.width, static_cast<double>(s.out_height()) * s.out_width());
  const double channels = std::max(s.in_channels, s.out_channels) + s.block;
  const double weights = 36.0 * (s.in_channels + s.block) * (s.out_channels + 32.0);
  if (pixels * s.batch * channels > 0x1p40 || weights > 0x1p40) return "the shape is too large";
  return nullptr;
}

WinogradConv::WinogradConv(const WinogradShape& shape, WinogradTile tile, const Epilogue& epilogue,
                           std::span<const float> weights, std::span<const float> bias) {
  const char* reason = WhyNoWinograd(shape, epilogue);
  RLC_CHECK_EQ(std::string_view(reason == nullptr ? "" : reason), std::string_view());
  RLC_CHECK_EQ(weights.size(), Size(shape.out_channels) * Size(shape.in_channels) * 9);
  if (!bias.empty()) RLC_CHECK_EQ(bias.size(), Size(shape.out_channels));
  auto packed = std::make_unique<Packed>(shape, tile, epilogue);
  packed->PackWeights(weights);
  std::copy(bias.begin(), bias.end(), packed->bias.data());
  packed_ = std::move(packed);
}

WinogradConv::~WinogradConv() = default;
WinogradConv::WinogradConv(WinogradConv&&) noexcept = default;
WinogradConv& WinogradConv::operator=(WinogradConv&&) noexcept = default;

size_t WinogradConv::scratch_bytes(int threads) const {
  const WinogradPlan plan = packed_->PlanFor(threads);
  return packed_->TaskBytes(plan) * plan.tile_parts * plan.unit_parts;
}

size_t WinogradConv::packed_bytes() const { return packed_->u.size() * sizeof(float); }

void WinogradConv::Run(const float* x, const float* residual, float* y, void* scratch, const Parallel& parallel) const {
  const auto aligned = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kLine == 0; };
  RLC_CHECK(x != nullptr && y != nullptr && scratch != nullptr);
  RLC_CHECK(aligned(x) && aligned(y) && aligned(residual) && aligned(scratch));
  RLC_CHECK_EQ(residual != nullptr, packed_->epilogue.residual);
  const WinogradPlan plan = packed_->PlanFor(parallel.threads());
  const size_t task_bytes = packed_->TaskBytes(plan);
  parallel.For(plan.tile_parts * plan.unit_parts, [&](size_t task) {
    packed_->RunTask(plan, task, x, residual, y, static_cast<std::byte*>(scratch) + task * task_bytes);
  });
}

}  // namespace rlc
