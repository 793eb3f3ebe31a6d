#include "rlc/kernels/winograd_plan.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

namespace rlc {
namespace {

size_t CeilDivide(size_t a, size_t b) { return (a + b - 1) / b; }

size_t OddLines(size_t floats) { return (CeilDivide(floats, 16) | 1) * 16; }

// Estimated time of one task, in bytes that move between the L2 cache and what lies beyond.
double Cost(const WinogradSizes& sizes, size_t tiles, size_t units, size_t block_tiles, size_t chunk_units, size_t l2) {
  // What the multiplications and the transforms take, as bytes: a core fetches about 6 while it does one cycle's work.
  constexpr double kBytesPerCycle = 6;
  const double positions = static_cast<double>(sizes.positions), n = static_cast<double>(tiles);
  const double in = static_cast<double>(sizes.channels), out = static_cast<double>(units * sizes.unit_channels);
  const double lanes = static_cast<double>(sizes.lanes);
  const double multiply = positions * n * in * out / lanes / 2;
  const double transform = positions * n * (in + out) / lanes * 4;

  const double blocks = static_cast<double>(CeilDivide(tiles, block_tiles));
  const double chunks = static_cast<double>(CeilDivide(units, chunk_units));
  const double u = 4 * positions * in * out;
  const double v = 4 * positions * static_cast<double>(block_tiles) * in;
  const double m = 4 * positions * static_cast<double>(block_tiles * chunk_units * sizes.unit_channels);
  const double room = 0.75 * static_cast<double>(l2);
  double moved = u + v + m <= room ? u : u * blocks;
  if (v + m > room) moved += blocks * v * (1 + chunks);
  if (m > room / 2) moved += blocks * chunks * m * 2;
  return (multiply + transform) * kBytesPerCycle + moved;
}

}  // namespace

size_t WinogradPlan::v_stride(const WinogradSizes& sizes) const { return OddLines(block_tiles * sizes.channels); }

size_t WinogradPlan::m_stride(const WinogradSizes& sizes) const {
  return OddLines(block_tiles * chunk_units * sizes.unit_channels);
}

WinogradPlan MakeWinogradPlan(const WinogradSizes& sizes, size_t threads, size_t l2_bytes) {
  WinogradPlan best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (size_t tile_parts = 1; tile_parts <= std::min(threads, sizes.tiles); ++tile_parts) {
    if (threads % tile_parts != 0) continue;
    const size_t unit_parts = std::min(threads / tile_parts, sizes.units);
    const size_t tiles = CeilDivide(sizes.tiles, tile_parts), units = CeilDivide(sizes.units, unit_parts);
    for (size_t blocks = 1; blocks <= tiles; blocks += 1 + blocks / 8) {
      const size_t block_tiles = CeilDivide(tiles, blocks);
      for (size_t chunk_units = units;; chunk_units = CeilDivide(chunk_units, 2)) {
        const double cost = Cost(sizes, tiles, units, block_tiles, chunk_units, l2_bytes);
        // Of equals, the smaller chunk and the larger block.
        if (cost < best_cost || (cost == best_cost && block_tiles == best.block_tiles)) {
          best_cost = cost;
          best = {tile_parts, unit_parts, block_tiles, chunk_units};
        }
        if (chunk_units == 1) break;
      }
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
