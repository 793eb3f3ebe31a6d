#include "rlc/region/compile.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "rlc/kernels/ops.h"
#include "rlc/region/lower.h"
#include "rlc/region/memory_plan.h"

namespace rlc {
namespace {

// Where a kernel's argument is an input or output of the region, whose memory changes from run to run.
struct Place {
  size_t step = 0, argument = 0;
};

// Everything that one run at a time needs.
struct Workspace {
  std::shared_ptr<void> arena, scratch;
  std::vector<std::unique_ptr<BoundKernel>> steps;
  std::vector<std::vector<Place>> inputs, outputs;
};

}  // namespace

struct CompiledRegion::Impl {
  LoweredRegion region;
  MemoryPlan plan;
  std::vector<size_t> place_of;  // of each storage in `plan`
  size_t scratch_bytes = 0, constant_bytes = 0;
  size_t input_count = 0;
  std::vector<RegionStep> steps;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Workspace>> idle;

  std::unique_ptr<Workspace> MakeWorkspace() const;
  std::unique_ptr<Workspace> TakeWorkspace() const;
};

std::unique_ptr<Workspace> CompiledRegion::Impl::MakeWorkspace() const {
  auto workspace = std::make_unique<Workspace>();
  workspace->arena = AllocateAligned(plan.bytes);
  workspace->scratch = AllocateAligned(scratch_bytes);
  workspace->inputs.resize(input_count);
  workspace->outputs.resize(region.output_dims.size());
  for (size_t step = 0; step < region.steps.size(); ++step) {
    const LoweredStep& lowered = region.steps[step];
    std::vector<void*> arguments;
    for (size_t argument = 0; argument < lowered.storages.size(); ++argument) {
      const Storage& storage = region.storages[lowered.storages[argument]];
      void* memory = nullptr;
      switch (storage.kind) {
        case Storage::Kind::kArena:
          memory = static_cast<std::byte*>(workspace->arena.get()) + plan.offsets[place_of[lowered.storages[argument]]];
          break;
        case Storage::Kind::kConstant:
          memory = storage.constant.get();
          break;
        case Storage::Kind::kInput:
          workspace->inputs[storage.index].push_back({step, argument});
          break;
        case Storage::Kind::kOutput:
          workspace->outputs[storage.index].push_back({step, argument});
          break;
      }
      arguments.push_back(memory);
    }
    workspace->steps.push_back(lowered.kernel->Bind(arguments, workspace->scratch.get()));
  }
  return workspace;
}

std::unique_ptr<Workspace> CompiledRegion::Impl::TakeWorkspace() const {
  {
    const std::lock_guard lock(mutex);
    if (!idle.empty()) {
      auto workspace = std::move(idle.back());
      idle.pop_back();
      return workspace;
    }
  }
  return MakeWorkspace();
}

Expected<CompiledRegion> CompiledRegion::Compile(const Graph& program, std::span<const RegionInput> inputs,
                                                 int threads) {
  const ScopedSingleThread one;
  auto impl = std::make_shared<Impl>();
  RLC_ASSIGN_OR_RETURN(impl->region, Lower(program, inputs, threads));
  impl->input_count = inputs.size();
  std::vector<Lifetime> lifetimes;
  for (const Storage& storage : impl->region.storages) {
    impl->place_of.push_back(lifetimes.size());
    if (storage.kind == Storage::Kind::kArena) lifetimes.push_back({storage.bytes, storage.first, storage.last});
    if (storage.kind == Storage::Kind::kConstant) impl->constant_bytes += storage.bytes;
  }
  impl->plan = PlanMemory(lifetimes);
  for (const LoweredStep& step : impl->region.steps) {
    impl->scratch_bytes = std::max(impl->scratch_bytes, step.kernel->scratch_bytes());
    impl->constant_bytes += step.kernel->constant_bytes();
    impl->steps.push_back(step.description);
  }
  impl->idle.push_back(impl->MakeWorkspace());
  return CompiledRegion(std::move(impl));
}

const std::vector<std::vector<int64_t>>& CompiledRegion::output_dims() const { return impl_->region.output_dims; }
const std::vector<RegionStep>& CompiledRegion::steps() const { return impl_->steps; }
size_t CompiledRegion::arena_bytes() const { return impl_->plan.bytes + impl_->scratch_bytes; }
size_t CompiledRegion::constant_bytes() const { return impl_->constant_bytes; }

template <typename RunStep>
void CompiledRegion::RunSteps(std::span<const float* const> inputs, std::span<float* const> outputs,
                              const RunStep& run_step) const {
  RLC_CHECK_EQ(inputs.size(), impl_->input_count);
  RLC_CHECK_EQ(outputs.size(), impl_->region.output_dims.size());
  auto workspace = impl_->TakeWorkspace();
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const Place& place : workspace->inputs[i]) {
      workspace->steps[place.step]->Rebind(place.argument, const_cast<float*>(inputs[i]));
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (const Place& place : workspace->outputs[i]) {
      workspace->steps[place.step]->Rebind(place.argument, outputs[i]);
    }
  }
  for (const auto& step : workspace->steps) run_step(*step);
  const std::lock_guard lock(impl_->mutex);
  impl_->idle.push_back(std::move(workspace));
}

void CompiledRegion::Run(std::span<const float* const> inputs, std::span<float* const> outputs,
                         const Parallel& parallel) const {
  RunSteps(inputs, outputs, [&](BoundKernel& step) { step.Run(parallel); });
}

std::vector<double> CompiledRegion::TimeSteps(std::span<const float* const> inputs, std::span<float* const> outputs,
                                              const Clock& clock) const {
  std::vector<double> seconds;
  RunSteps(inputs, outputs, [&](BoundKernel& step) {
    const double before = clock();
    step.Run({});
    seconds.push_back(clock() - before);
  });
  return seconds;
}

}  // namespace rlc
