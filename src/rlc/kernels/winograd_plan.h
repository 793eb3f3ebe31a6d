// How WinogradConv divides its work: between threads, and within each into blocks of tiles. Internal to the layer; the
// reasoning is in docs/design/winograd.md.
#ifndef RLC_KERNELS_WINOGRAD_PLAN_H_
#define RLC_KERNELS_WINOGRAD_PLAN_H_

#include <cstddef>

namespace rlc {

struct WinogradSizes {
  size_t tiles;      // of all images
  size_t positions;  // (m + 2)^2
  size_t channels;   // input channels, in whole blocks
  size_t units;      // of output channels: the smallest number that is both whole panels and whole blocks
  size_t unit_channels;
  size_t lanes, rows;  // of the kernels
};

struct WinogradPlan {
  size_t tile_parts = 1, unit_parts = 1;  // tasks: tile_parts x unit_parts
  size_t block_tiles = 1;                 // tiles whose V is there at once

  // Distances between positions, in floats: an odd number of cache lines, so that the positions of a tile, which are
  // written and read together, lie in different sets of the L1 cache.
  size_t v_stride(const WinogradSizes& sizes) const;
  size_t m_stride(const WinogradSizes& sizes) const;
};

WinogradPlan MakeWinogradPlan(const WinogradSizes& sizes, size_t threads, size_t l2_bytes);

// Of the processor; 1 MiB if the system does not tell.
size_t L2CacheBytes();

}  // namespace rlc

#endif  // RLC_KERNELS_WINOGRAD_PLAN_H_
