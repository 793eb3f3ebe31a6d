#include "rlc/kernels/winograd_plan.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

namespace rlc {
namespace {

size_t CeilDivide(size_t a, size_t b) { return (a + b - 1) / b; }

size_t OddLines(size_t floats) { return (CeilDivide(floats, 16) | 1) * 16; }

// Tiles of a block of a task that has `tiles`, which are divided evenly.
size_t BlockTiles(const WinogradSizes& sizes, size_t tiles, size_t l2_bytes) {
  const size_t tile_bytes = sizes.positions * (sizes.channels + sizes.unit_channels) * sizeof(float);
  // V and M take six tenths of the L2 cache, the rest is for the panels of U and for x and y on their way. But never
  // less than three and a half groups: U is read once for each block, and comes too slowly for fewer multiplications.
  const size_t wanted = std::max(l2_bytes * 6 / 10 / tile_bytes, sizes.rows * 7 / 2);
  const size_t blocks = std::max<size_t>(1, (tiles + wanted / 2) / wanted);
  return CeilDivide(tiles, blocks);
}

// Estimated cycles of a task.
double Cost(const WinogradSizes& sizes, size_t tiles, size_t units, size_t l2_bytes) {
  constexpr double kBytesPerCycle = 6;  // from beyond the L2 cache
  const double positions = static_cast<double>(sizes.positions), n = static_cast<double>(tiles);
  const double in = static_cast<double>(sizes.channels), out = static_cast<double>(units * sizes.unit_channels);
  const double lanes = static_cast<double>(sizes.lanes);
  const double multiply = positions * n * in * out / lanes / 2;
  const double transform = positions * n * (in + out) / lanes * 4;
  const double blocks = static_cast<double>(CeilDivide(tiles, BlockTiles(sizes, tiles, l2_bytes)));
  const double read_u = positions * in * out * sizeof(float) * blocks / kBytesPerCycle;
  return std::max(multiply, read_u) + transform;
}

}  // namespace

size_t WinogradPlan::v_stride(const WinogradSizes& sizes) const { return OddLines(block_tiles * sizes.channels); }

size_t WinogradPlan::m_stride(const WinogradSizes& sizes) const { return OddLines(block_tiles * sizes.unit_channels); }

WinogradPlan MakeWinogradPlan(const WinogradSizes& sizes, size_t threads, size_t l2_bytes) {
  WinogradPlan best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (size_t tile_parts = 1; tile_parts <= std::min(threads, sizes.tiles); ++tile_parts) {
    const size_t unit_parts = std::min(threads / tile_parts, sizes.units);
    const size_t tiles = CeilDivide(sizes.tiles, tile_parts), units = CeilDivide(sizes.units, unit_parts);
    const double cost = Cost(sizes, tiles, units, l2_bytes);
    if (cost < best_cost) {
      best_cost = cost;
      best = {tile_parts, unit_parts, BlockTiles(sizes, tiles, l2_bytes)};
    }
  }
  return best;
}

size_t L2CacheBytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) return static_cast<size_t>(bytes);
#endif
  return size_t{1} << 20;
}

}  // namespace rlc
