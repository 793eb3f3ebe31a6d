#include "rlc/region/memory_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rlc {
namespace {

constexpr size_t kAlignment = 64;

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

MemoryPlan PlanMemory(const std::vector<Lifetime>& lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> placed;
  for (const size_t index : order) {
    const Lifetime& mine = lifetimes[index];
    std::vector<std::pair<size_t, size_t>> taken;  // begin, end of those alive at the same time
    for (const size_t other : placed) {
      const Lifetime& theirs = lifetimes[other];
      if (theirs.last < mine.first || mine.last < theirs.first) continue;
      taken.emplace_back(plan.offsets[other], plan.offsets[other] + Aligned(theirs.bytes));
    }
    std::sort(taken.begin(), taken.end());
    size_t offset = 0;
    for (const auto& [begin, end] : taken) {
      if (offset + mine.bytes <= begin) break;
      offset = std::max(offset, end);
    }
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + Aligned(mine.bytes));
    placed.push_back(index);
  }
  return plan;
}

}  // namespace rlc
