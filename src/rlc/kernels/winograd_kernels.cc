#include "rlc/kernels/winograd_kernels.h"

#include "rlc/kernels/winograd_transforms.h"

// Arrays of vectors need vectors of a size known to the compiler.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rlc/kernels/winograd_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rlc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lanes of the multiplication: 16 at most, so that two vectors are no more than four blocks of 8.
using Wide = hn::CappedTag<float, 16>;
constexpr size_t kLanes = hn::MaxLanes(Wide());

// Rows of accumulators: rows x 2 of them, 2 vectors of U and one broadcast value of V have to fit into the registers
// (32 of AVX-512 and NEON, else 16). More rows read U less often, which matters most: it comes from the L2 cache or
// beyond.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
constexpr size_t kMaxRows = 14;
#else
constexpr size_t kMaxRows = 6;
#endif

// ---- Transforms of one vector of channels, along one dimension.

struct F2x2 {
  static constexpr size_t kOut = 2, kIn = 4;
  template <class V>
  static HWY_INLINE void Input(const V (&d)[4], V (&v)[4]) {
    v[0] = hn::Sub(d[2], d[0]);
    v[1] = hn::Add(d[2], d[1]);
    v[2] = hn::Sub(d[2], d[1]);
    v[3] = hn::Sub(d[3], d[1]);
  }
  template <class V>
  static HWY_INLINE void Output(const V (&m)[4], V (&y)[2]) {
    y[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    y[1] = hn::Add(hn::Sub(m[1], m[2]), m[3]);
  }
};

struct F4x4 {
  static constexpr size_t kOut = 4, kIn = 6;
  static constexpr float kA = static_cast<float>(kWinogradA), kB = static_cast<float>(kWinogradB);
  static constexpr float kA2 = kA * kA, kB2 = kB * kB;

  // Rows a and -a of B^T are e + o and e - o: e = d4 - b^2 d2, o = a (d3 - b^2 d1).
  template <class V>
  static HWY_INLINE void Input(const V (&d)[6], V (&v)[6]) {
    const hn::DFromV<V> tag;
    const V a = hn::Set(tag, kA), b = hn::Set(tag, kB), a2 = hn::Set(tag, kA2), b2 = hn::Set(tag, kB2);
    const V product = hn::Set(tag, kA2 * kB2), sum = hn::Set(tag, kA2 + kB2);
    v[0] = hn::MulAdd(product, d[0], hn::NegMulAdd(sum, d[2], d[4]));
    const V even_a = hn::NegMulAdd(b2, d[2], d[4]), odd_a = hn::NegMulAdd(b2, d[1], d[3]);
    v[1] = hn::MulAdd(a, odd_a, even_a);
    v[2] = hn::NegMulAdd(a, odd_a, even_a);
    const V even_b = hn::NegMulAdd(a2, d[2], d[4]), odd_b = hn::NegMulAdd(a2, d[1], d[3]);
    v[3] = hn::MulAdd(b, odd_b, even_b);
    v[4] = hn::NegMulAdd(b, odd_b, even_b);
    v[5] = hn::MulAdd(product, d[1], hn::NegMulAdd(sum, d[3], d[5]));
  }
  template <class V>
  static HWY_INLINE void Output(const V (&m)[6], V (&y)[4]) {
    const hn::DFromV<V> tag;
    const V sum_a = hn::Add(m[1], m[2]), difference_a = hn::Sub(m[1], m[2]);
    const V sum_b = hn::Add(m[3], m[4]), difference_b = hn::Sub(m[3], m[4]);
    y[0] = hn::Add(hn::Add(m[0], sum_a), sum_b);
    y[1] = hn::MulAdd(hn::Set(tag, kB), difference_b, hn::Mul(hn::Set(tag, kA), difference_a));
    y[2] = hn::MulAdd(hn::Set(tag, kB2), sum_b, hn::Mul(hn::Set(tag, kA2), sum_a));
    y[3] = hn::MulAdd(hn::Set(tag, kB2 * kB), difference_b, hn::MulAdd(hn::Set(tag, kA2 * kA), difference_a, m[5]));
  }
};

// ---- Input stage: x -> V

template <class F, class D>
HWY_INLINE void TransformInput(D d, const float* HWY_RESTRICT x, ptrdiff_t row_stride, ptrdiff_t pixel_stride,
                               float* HWY_RESTRICT v, size_t v_stride) {
  using V = hn::Vec<D>;
  V half[F::kIn][F::kIn];  // [column][row of the result]
  HWY_UNROLL(6)
  for (size_t j = 0; j < F::kIn; ++j) {
    V in[F::kIn];
    HWY_UNROLL(6)
    for (size_t i = 0; i < F::kIn; ++i) {
      in[i] = hn::Load(d, x + static_cast<ptrdiff_t>(i) * row_stride + static_cast<ptrdiff_t>(j) * pixel_stride);
    }
    F::Input(in, half[j]);
  }
  HWY_UNROLL(6)
  for (size_t i = 0; i < F::kIn; ++i) {
    V in[F::kIn], out[F::kIn];
    HWY_UNROLL(6)
    for (size_t j = 0; j < F::kIn; ++j) in[j] = half[j][i];
    F::Input(in, out);
    HWY_UNROLL(6)
    for (size_t j = 0; j < F::kIn; ++j) hn::Store(out[j], d, v + (i * F::kIn + j) * v_stride);
  }
}

// Copies what exists of an input tile; the rest is zero.
template <size_t kIn, size_t kBlock>
HWY_NOINLINE void FillPatch(const WinogradSpot& spot, const float* block, ptrdiff_t row_stride,
                            float* HWY_RESTRICT patch) {
  const hn::CappedTag<float, kBlock> d;
  constexpr size_t kStep = hn::MaxLanes(d);
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(kIn); ++i) {
    for (ptrdiff_t j = 0; j < static_cast<ptrdiff_t>(kIn); ++j, patch += kBlock) {
      const bool inside = i >= spot.row_begin && i < spot.row_end && j >= spot.col_begin && j < spot.col_end;
      const ptrdiff_t at = spot.x + i * row_stride + j * static_cast<ptrdiff_t>(kBlock);
      for (size_t lane = 0; lane < kBlock; lane += kStep) {
        const auto pixel = inside ? hn::Load(d, block + at + lane) : hn::Zero(d);
        hn::Store(pixel, d, patch + lane);
      }
    }
  }
}

template <class F, size_t kBlock>
void InputStage(const WinogradTileBlock& block, const WinogradInputStage& stage) {
  const hn::CappedTag<float, kBlock> d;
  constexpr size_t kStep = hn::MaxLanes(d);
  alignas(64) float patch[F::kIn * F::kIn * kBlock];
  float* v = stage.v;
  for (size_t group = 0; group < block.groups; ++group) {
    const size_t begin = block.GroupBegin(group), end = block.GroupBegin(group + 1);
    const float* channels = stage.x;
    for (size_t c = 0; c < stage.channel_blocks; ++c, channels += stage.block_stride) {
      for (size_t tile = begin; tile < end; ++tile, v += kBlock) {
        const WinogradSpot& spot = block.spots[tile];
        const float* x = patch;
        ptrdiff_t row_stride = F::kIn * kBlock;
        if (spot.row_end - spot.row_begin == F::kIn && spot.col_end - spot.col_begin == F::kIn) {
          x = channels + spot.x;
          row_stride = stage.row_stride;
        } else {
          FillPatch<F::kIn, kBlock>(spot, channels, stage.row_stride, patch);
        }
        for (size_t lane = 0; lane < kBlock; lane += kStep) {
          TransformInput<F>(d, x + lane, row_stride, kBlock, v + lane, stage.v_stride);
        }
      }
    }
  }
}

// ---- Product stage: V, U -> M

// What the multiplication needs next, and fetches into the L2 cache meanwhile: two places, `step` floats further for
// each channel.
struct Ahead {
  const float *first, *second;
  size_t step;
};

// m[row][...] = sum over channels of v[channel block][row][channel] u[channel][...].
template <size_t kBlock, size_t kRows, size_t kVectors>
HWY_NOINLINE void Multiply(const float* HWY_RESTRICT v, const float* HWY_RESTRICT u, size_t channels, Ahead ahead,
                           float* HWY_RESTRICT m) {
  const Wide d;
  using V = hn::Vec<Wide>;
  V sum[kRows][kVectors];
  HWY_UNROLL(16)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(2)
    for (size_t k = 0; k < kVectors; ++k) sum[r][k] = hn::Zero(d);
  }
  for (; channels != 0; v += kRows * kBlock) {
    const size_t count = HWY_MIN(channels, kBlock);
    channels -= count;
    for (const float* end = v + count; v != end; ++v) {
      V weights[kVectors];
      HWY_UNROLL(2)
      for (size_t k = 0; k < kVectors; ++k) weights[k] = hn::Load(d, u + k * kLanes);
      __builtin_prefetch(ahead.first, 0, 2);
      __builtin_prefetch(ahead.second, 0, 2);
      HWY_UNROLL(16)
      for (size_t r = 0; r < kRows; ++r) {
        const V value = hn::Set(d, v[r * kBlock]);
        HWY_UNROLL(2)
        for (size_t k = 0; k < kVectors; ++k) sum[r][k] = hn::MulAdd(value, weights[k], sum[r][k]);
      }
      u += kVectors * kLanes;
      ahead.first += ahead.step;
      ahead.second += ahead.step;
    }
    v -= count;
  }
  HWY_UNROLL(16)
  for (size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(2)
    for (size_t k = 0; k < kVectors; ++k) hn::Store(sum[r][k], d, m + (2 * r + k) * kLanes);
  }
}

using MultiplyFunction = void (*)(const float*, const float*, size_t, Ahead, float*);

template <size_t kBlock, size_t kVectors, size_t... kRows>
constexpr void FillTable(MultiplyFunction (&table)[kMaxRows + 1], std::index_sequence<kRows...>) {
  ((table[kRows + 1] = &Multiply<kBlock, kRows + 1, kVectors>), ...);
}

template <size_t kBlock>
struct MultiplyTable {
  MultiplyFunction half[kMaxRows + 1] = {}, full[kMaxRows + 1] = {};  // by rows
  constexpr MultiplyTable() {
    FillTable<kBlock, 1>(half, std::make_index_sequence<kMaxRows>());
    FillTable<kBlock, 2>(full, std::make_index_sequence<kMaxRows>());
  }
};

template <class F, size_t kBlock>
void ProductStage(const WinogradTileBlock& block, const WinogradProductStage& stage) {
  static constexpr MultiplyTable<kBlock> kTable;
  constexpr size_t kPositions = F::kIn * F::kIn;
  const size_t u_stride = stage.channels * 2 * kLanes;  // between positions of a full panel
  for (size_t position = 0; position < kPositions; ++position) {
    for (size_t panel = 0; panel < stage.panels; ++panel) {
      const bool is_last = panel + 1 == stage.panels;
      const bool is_half = is_last && stage.last_panel_is_half;
      const float* u = stage.u + panel * kPositions * u_stride + position * (is_half ? u_stride / 2 : u_stride);
      const float* next = stage.u;  // what the loops come to after this
      if (!is_last) {
        const bool next_is_half = panel + 2 == stage.panels && stage.last_panel_is_half;
        next += (panel + 1) * kPositions * u_stride + position * (next_is_half ? u_stride / 2 : u_stride);
      } else if (stage.panels == 1) {
        next = u + (is_half ? u_stride / 2 : u_stride);
      } else {
        next += (position + 1) * u_stride;
      }
      float* m = stage.m + position * stage.m_stride + panel * block.tiles * 2 * kLanes;
      for (size_t group = 0; group < block.groups; ++group) {
        const size_t begin = block.GroupBegin(group), rows = block.GroupBegin(group + 1) - begin;
        const float* v = stage.v + position * stage.v_stride + begin * stage.padded_channels;
        const MultiplyFunction multiply = is_half ? kTable.half[rows] : kTable.full[rows];
        // Each group fetches its share of what comes next, so that this never pauses.
        const size_t step = (kLanes + block.groups - 1) / block.groups;
        const float* ahead = next + 2 * group * step * stage.channels;
        multiply(v, u, stage.channels, {ahead, ahead + step * stage.channels, step}, m + begin * 2 * kLanes);
      }
    }
  }
}

// ---- Output stage: M -> y

template <Activation::Kind kKind, class D, class V = hn::Vec<D>>
HWY_INLINE V Activate(D d, V x, V alpha, V beta) {
  using Kind = Activation::Kind;
  if constexpr (kKind == Kind::kClip) {
    return hn::Min(hn::Max(x, alpha), beta);
  } else if constexpr (kKind == Kind::kLeakyRelu) {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(alpha, x), x);
  } else if constexpr (kKind == Kind::kHardSigmoid || kKind == Kind::kHardSwish) {
    const V gate = hn::Min(hn::Max(hn::MulAdd(alpha, x, beta), hn::Zero(d)), hn::Set(d, 1.0F));
    return kKind == Kind::kHardSigmoid ? gate : hn::Mul(x, gate);
  } else {
    return x;
  }
}

template <class F, Activation::Kind kKind, class D>
HWY_INLINE void TransformOutput(D d, const float* HWY_RESTRICT m, size_t m_stride, hn::Vec<D> bias, hn::Vec<D> alpha,
                                hn::Vec<D> beta, const float* residual, ptrdiff_t residual_row_stride, float* y,
                                ptrdiff_t row_stride, ptrdiff_t pixel_stride) {
  using V = hn::Vec<D>;
  V half[F::kIn][F::kOut];  // [column][row of the result]
  HWY_UNROLL(6)
  for (size_t j = 0; j < F::kIn; ++j) {
    V in[F::kIn];
    HWY_UNROLL(6)
    for (size_t i = 0; i < F::kIn; ++i) in[i] = hn::Load(d, m + (i * F::kIn + j) * m_stride);
    F::Output(in, half[j]);
  }
  HWY_UNROLL(4)
  for (size_t i = 0; i < F::kOut; ++i) {
    V in[F::kIn], out[F::kOut];
    HWY_UNROLL(6)
    for (size_t j = 0; j < F::kIn; ++j) in[j] = half[j][i];
    F::Output(in, out);
    const ptrdiff_t row = static_cast<ptrdiff_t>(i);
    HWY_UNROLL(4)
    for (size_t j = 0; j < F::kOut; ++j) {
      const ptrdiff_t pixel = static_cast<ptrdiff_t>(j) * pixel_stride;
      V sum = hn::Add(out[j], bias);
      if (residual != nullptr) sum = hn::Add(sum, hn::Load(d, residual + row * residual_row_stride + pixel));
      hn::Store(Activate<kKind>(d, sum, alpha, beta), d, y + row * row_stride + pixel);
    }
  }
}

// Copies the pixels that exist between an output tile of an image and a whole one.
template <size_t kBlock>
HWY_NOINLINE void CopyPixels(const WinogradSpot& spot, const float* from, ptrdiff_t from_stride, float* to,
                             ptrdiff_t to_stride) {
  const hn::CappedTag<float, kBlock> d;
  constexpr ptrdiff_t kStep = hn::MaxLanes(d);
  for (ptrdiff_t i = 0; i < spot.out_rows; ++i) {
    for (ptrdiff_t at = 0; at < spot.out_cols * static_cast<ptrdiff_t>(kBlock); at += kStep) {
      hn::Store(hn::Load(d, from + i * from_stride + at), d, to + i * to_stride + at);
    }
  }
}

template <class F, size_t kBlock, Activation::Kind kKind>
void OutputStage(const WinogradTileBlock& block, const WinogradOutputStage& stage) {
  const hn::CappedTag<float, kBlock> d;
  constexpr size_t kStep = hn::MaxLanes(d);
  constexpr ptrdiff_t kPatchRow = F::kOut * kBlock;
  alignas(64) float patch[F::kOut * F::kOut * kBlock];
  alignas(64) float residual_patch[F::kOut * F::kOut * kBlock] = {};
  const auto alpha = hn::Set(d, stage.alpha), beta = hn::Set(d, stage.beta);
  for (size_t c = 0; c < stage.channel_blocks; ++c) {
    float* plane = stage.y + static_cast<ptrdiff_t>(c) * stage.block_stride;
    const float* residual_plane =
        stage.residual == nullptr ? nullptr : stage.residual + static_cast<ptrdiff_t>(c) * stage.block_stride;
    for (size_t tile = 0; tile < block.tiles; ++tile) {
      const WinogradSpot& spot = block.spots[tile];
      const bool whole = spot.out_rows == F::kOut && spot.out_cols == F::kOut;
      float* y = plane + spot.y;
      const float* residual = residual_plane == nullptr ? nullptr : residual_plane + spot.y;
      float* to = whole ? y : patch;
      const float* added = residual;
      if (!whole && residual != nullptr) {
        CopyPixels<kBlock>(spot, residual, stage.row_stride, residual_patch, kPatchRow);
        added = residual_patch;
      }
      const ptrdiff_t row_stride = whole ? stage.row_stride : kPatchRow;
      for (size_t lane = 0; lane < kBlock; lane += kStep) {
        const size_t channel = c * kBlock + lane, panel = channel / (2 * kLanes);
        const float* m = stage.m + (panel * block.tiles + tile) * 2 * kLanes + channel % (2 * kLanes);
        TransformOutput<F, kKind>(d, m, stage.m_stride, hn::Load(d, stage.bias + channel), alpha, beta,
                                  added == nullptr ? nullptr : added + lane, row_stride, to + lane, row_stride,
                                  static_cast<ptrdiff_t>(kBlock));
      }
      if (!whole) CopyPixels<kBlock>(spot, patch, kPatchRow, y, stage.row_stride);
    }
  }
}

// ---- The choice

template <class F, size_t kBlock>
WinogradKernels Choose(Activation::Kind activation) {
  using Kind = Activation::Kind;
  WinogradKernels kernels = {kLanes, kMaxRows, &InputStage<F, kBlock>, &ProductStage<F, kBlock>, nullptr};
  switch (activation) {
    case Kind::kNone:
      kernels.output = &OutputStage<F, kBlock, Kind::kNone>;
      break;
    case Kind::kClip:
      kernels.output = &OutputStage<F, kBlock, Kind::kClip>;
      break;
    case Kind::kLeakyRelu:
      kernels.output = &OutputStage<F, kBlock, Kind::kLeakyRelu>;
      break;
    case Kind::kHardSigmoid:
      kernels.output = &OutputStage<F, kBlock, Kind::kHardSigmoid>;
      break;
    case Kind::kHardSwish:
      kernels.output = &OutputStage<F, kBlock, Kind::kHardSwish>;
      break;
    default:
      break;
  }
  return kernels;
}

WinogradKernels ChooseTarget(WinogradTile tile, int channel_block, Activation::Kind activation) {
  if (tile == WinogradTile::kF2x2)
    return channel_block == 8 ? Choose<F2x2, 8>(activation) : Choose<F2x2, 16>(activation);
  return channel_block == 8 ? Choose<F4x4, 8>(activation) : Choose<F4x4, 16>(activation);
}

}  // namespace HWY_NAMESPACE
}  // namespace rlc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rlc {

HWY_EXPORT(ChooseTarget);

WinogradKernels ChooseWinogradKernels(WinogradTile tile, int channel_block, Activation::Kind activation) {
  return HWY_DYNAMIC_DISPATCH(ChooseTarget)(tile, channel_block, activation);
}

}  // namespace rlc
#endif  // HWY_ONCE
