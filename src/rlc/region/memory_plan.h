// Where the tensors of a region lie in one block of working memory.
#ifndef RLC_REGION_MEMORY_PLAN_H_
#define RLC_REGION_MEMORY_PLAN_H_

#include <cstddef>
#include <vector>

namespace rlc {

// Memory that is needed from step `first` to step `last`, both included.
struct Lifetime {
  size_t bytes = 0;
  int first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // 64-byte aligned, one for each lifetime
  size_t bytes = 0;
};

// Two whose lifetimes meet never overlap. Largest first, each at the lowest place that is free (greedy by size: at most
// a few per cent above the largest sum that is alive at once on networks of one chain).
MemoryPlan PlanMemory(const std::vector<Lifetime>& lifetimes);

}  // namespace rlc

#endif  // RLC_REGION_MEMORY_PLAN_H_
