// rlc optimize: do the exact rewrites compute what the original does? Asked of their outputs, not of the accuracy.

#include <algorithm>

#include "rlc/measure/tensor_array.h"
#include "rlc/onnx/export.h"
#include "rlc/optimize/compare.h"
#include "rlc/optimize/optimize_run.h"

namespace rlc {
namespace {

// Wrong algebra shows on the first sample; more only cost time.
constexpr int kComparedRuns = 4;

// Samples that the search may see; the final split stays unseen.
Expected<CompareInputs> InputsToCompareOn(const OptimizeRun& run) {
  CompareInputs inputs;
  if (run.data->random()) {
    inputs.random_runs = kComparedRuns;
    inputs.shapes = run.request.data.shapes;
    inputs.bounds = IntegerBounds(run.model.graph);
    inputs.seed = run.request.seed;
    return inputs;
  }
  for (const std::vector<size_t>* split : {&run.data->splits.calibration, &run.data->splits.search}) {
    for (size_t i = 0; i < std::min<size_t>(split->size(), kComparedRuns / 2); ++i) {
      RLC_ASSIGN_OR_RETURN(const auto sample, run.data->dataset.Batch(std::span(*split).subspan(i, 1)));
      inputs.own.push_back(ToTensors(sample));
    }
  }
  return inputs;
}

Expected<OutputDeviation> CompareWith(const OptimizeRun& run, const std::string& bytes,
                                      const std::vector<std::string>& libraries) {
  RLC_ASSIGN_OR_RETURN(CompareInputs inputs, InputsToCompareOn(run));
  inputs.custom_op_libraries = libraries;
  RLC_ASSIGN_OR_RETURN(const std::string original, SerializeModel(run.model));
  RLC_ASSIGN_OR_RETURN(const auto deviations, CompareModels(original, bytes, inputs));
  return Largest(deviations);
}

Expected<OutputDeviation> CompareExact(const OptimizeRun& run) {
  RLC_ASSIGN_OR_RETURN(const std::string exact, run.evaluator->BytesOf({}));
  return CompareWith(run, exact, {});
}

Expected<OutputDeviation> CompareRegions(const OptimizeRun& run, const Finalist& finalist) {
  RLC_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(finalist.path));
  return CompareWith(run, bytes, finalist.libraries);
}

}  // namespace

bool ExactOutputsAreSame(OptimizeRun& run) {
  if (!run.exact_compared) {
    run.exact_compared = true;
    const auto deviation = CompareExact(run);
    if (!deviation) {
      run.warnings.push_back(
          fmt::format("the exact rewrites alone are not taken: their outputs could not be compared "
                      "with the original's: {}",
                      deviation.error().message));
    } else {
      run.exact_deviation = *deviation;
      if (deviation->relative_rms > kExactTolerance) {
        run.warnings.push_back(fmt::format("the exact rewrites alone are not taken: {}; please report this model",
                                           DescribeDeviation(*deviation)));
      }
    }
  }
  return run.exact_deviation && run.exact_deviation->relative_rms <= kExactTolerance;
}

std::optional<OutputDeviation> RegionDeviation(OptimizeRun& run, const Finalist& finalist) {
  const auto deviation = CompareRegions(run, finalist);
  if (!deviation) {
    run.warnings.push_back(fmt::format("{}: its outputs could not be compared with the original's: {}",
                                       finalist.description, deviation.error().message));
    return std::nullopt;
  }
  return *deviation;
}

}  // namespace rlc
