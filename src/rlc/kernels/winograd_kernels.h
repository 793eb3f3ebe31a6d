// The three stages of WinogradConv for one processor, and how they lay out what passes between them. Internal to the
// layer.
//
// Tiles come in blocks of `tiles`, and those in groups of at most `rows`: as many as the accumulators of the
// multiplication hold. Sizes in floats; C = input channels, B = channel block, n = (m + 2)^2 positions, L = lanes.
//
//   V[position][group][block of C][tile of the group][B]     transformed inputs
//   U[panel][position][channel][2 L]                         transformed weights; the last panel may have L instead of
//   2 L M[position][panel][tile][2 L]                            products; always 2 L
#ifndef RLC_KERNELS_WINOGRAD_KERNELS_H_
#define RLC_KERNELS_WINOGRAD_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "rlc/kernels/epilogue.h"
#include "rlc/kernels/winograd_conv.h"

namespace rlc {

// Where one tile lies.
struct WinogradSpot {
  ptrdiff_t x, y;                                 // first pixel of its input and output in block 0; x may lie outside
  int8_t row_begin, row_end, col_begin, col_end;  // pixels of the input tile that exist
  int8_t out_rows, out_cols;                      // pixels of the output tile that exist
};

struct WinogradTileBlock {
  const WinogradSpot* spots;
  size_t tiles, groups;
  size_t GroupBegin(size_t group) const { return tiles * group / groups; }
};

struct WinogradInputStage {
  const float* x;
  size_t channel_blocks;
  ptrdiff_t block_stride, row_stride;  // of x, in floats
  float* v;
  size_t v_stride;  // between positions
};

struct WinogradProductStage {
  const float* v;
  const float* u;  // of the first panel
  float* m;
  size_t v_stride, m_stride;  // between positions
  size_t channels, padded_channels;
  size_t panels;  // how many
  bool last_panel_is_half;
};

struct WinogradOutputStage {
  const float* m;
  size_t m_stride;
  const float* bias;      // of the first block
  const float* residual;  // of the first block; or null
  float* y;
  size_t channel_blocks;
  ptrdiff_t block_stride, row_stride;  // of y
  float alpha, beta;
};

struct WinogradKernels {
  size_t lanes, rows;
  void (*input)(const WinogradTileBlock& block, const WinogradInputStage& stage);
  void (*product)(const WinogradTileBlock& block, const WinogradProductStage& stage);
  void (*output)(const WinogradTileBlock& block, const WinogradOutputStage& stage);
};

// For the best target that the processor has (and hwy::DisableTargets leaves). channel_block: 8 or 16.
WinogradKernels ChooseWinogradKernels(WinogradTile tile, int channel_block, Activation::Kind activation);

}  // namespace rlc

#endif  // RLC_KERNELS_WINOGRAD_KERNELS_H_
