// 3x3 convolution with stride 1, dilation 1 and one group by Winograd's F(2x2,3x3) or F(4x4,3x3)
// (docs/design/winograd.md).
//
//   x         [batch, in_channels / B, height, width, B]   channels in blocks of B = 8 or 16 ("nChw8c", "nChw16c"),
//   64-byte y         [batch, out_channels / B, out_height, out_width, B]   aligned, numbers of blocks rounded up
//   residual  as y, may be y itself
//
// The channels that fill up the last block of x are zero, and those of y are written as activation(0 + 0 + residual).
// Never reads outside x. x may not alias y. Rounding error: see docs/design/winograd.md.
#ifndef RLC_KERNELS_WINOGRAD_CONV_H_
#define RLC_KERNELS_WINOGRAD_CONV_H_

#include <cstddef>
#include <memory>
#include <span>

#include "rlc/kernels/epilogue.h"
#include "rlc/kernels/parallel.h"

namespace rlc {

enum class WinogradTile { kF2x2, kF4x4 };

struct WinogradShape {
  int batch = 1, in_channels = 0, out_channels = 0, height = 0, width = 0;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int block = 16;  // B
  int out_height() const { return height + pad_top + pad_bottom - 2; }
  int out_width() const { return width + pad_left + pad_right - 2; }
};

// Null where it works; else why not, completing "no Winograd because ...": an activation that the kernel cannot fuse
// (it does kNone, kClip, kLeakyRelu, kHardSigmoid, kHardSwish), an empty or too large shape.
const char* WhyNoWinograd(const WinogradShape& shape, const Epilogue& epilogue);

class WinogradConv {
 public:
  // weights: [out_channels, in_channels, 3, 3]; bias: [out_channels], or empty. Transformed and packed here, once
  // (G g G^T in double). Precondition, checked: WhyNoWinograd is null, sizes of the spans fit.
  WinogradConv(const WinogradShape& shape, WinogradTile tile, const Epilogue& epilogue, std::span<const float> weights,
               std::span<const float> bias);
  ~WinogradConv();
  WinogradConv(WinogradConv&&) noexcept;
  WinogradConv& operator=(WinogradConv&&) noexcept;

  // Bytes of working memory that Run needs for that many threads.
  size_t scratch_bytes(int threads) const;
  size_t packed_bytes() const;  // what the transformed weights take

  // scratch: 64-byte aligned, scratch_bytes(parallel.threads()) large; residual: null unless the epilogue has one. May
  // run in several threads at once with different scratch.
  void Run(const float* x, const float* residual, float* y, void* scratch, const Parallel& parallel = {}) const;

 private:
  struct Packed;
  std::unique_ptr<const Packed> packed_;
};

}  // namespace rlc

#endif  // RLC_KERNELS_WINOGRAD_CONV_H_
