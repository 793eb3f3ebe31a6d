// What measuring children do, as functions of the parent: the same contracts as the functions that they run, plus the
// child's own ends (child_process.h).
#ifndef RLC_MEASURE_CHILD_H_
#define RLC_MEASURE_CHILD_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rlc/data/array.h"
#include "rlc/measure/child_process.h"
#include "rlc/measure/energy.h"
#include "rlc/measure/timing.h"

namespace rlc {

// TimeModels (timing.h) in a child.
Expected<TimingResult> TimeModelsInChild(std::span<const TimedModel> models, std::span<const NamedTensor> inputs,
                                         const TimingOptions& options, const ChildLimits& limits = {});

struct RunRequest {
  std::string model_path;
  OptLevel level = OptLevel::kAll;
  int threads = 1;
  // A safetensors file with the inputs of each batch: "0/x", "0/mask", "1/x" ... (WriteBatches).
  std::string batches_path;
  std::vector<std::string> custom_op_libraries;
};

struct RunReply {
  std::vector<std::string> names;           // of the outputs
  std::vector<std::vector<Array>> batches;  // [batch][output]
  uint64_t peak_rss_bytes = 0;              // of the child
};

// Runs every batch through the model. Error: also outputs that are no arrays (strings, sequences).
Expected<RunReply> RunModelInChild(const RunRequest& request, const ChildLimits& limits = {});

Expected<void> WriteBatches(const std::string& path, std::span<const std::vector<NamedArray>> batches);

// MeasureEnergy (energy.h) of runs of one model on these inputs. Error, kUnavailable: the counters cannot be read.
Expected<Estimate> MeasureEnergyInChild(const TimedModel& model, std::span<const NamedTensor> inputs, int threads,
                                        const EnergyOptions& options, const ChildLimits& limits = {},
                                        const std::string& powercap = "/sys/class/powercap");

}  // namespace rlc

#endif  // RLC_MEASURE_CHILD_H_
