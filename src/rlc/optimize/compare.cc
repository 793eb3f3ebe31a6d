#include "rlc/optimize/compare.h"

#include <algorithm>
#include <limits>

#include "rlc/base/statistics.h"

namespace rlc {

double Deviation(const Tensor& reference, const Tensor& actual) {
  constexpr double kIncomparable = std::numeric_limits<double>::infinity();
  if (reference.dtype() != actual.dtype() || reference.dims() != actual.dims()) return kIncomparable;
  if (!IsFloat(reference.dtype())) return reference.SameAs(actual) ? 0.0 : kIncomparable;
  const auto a = reference.ToDoubles(), b = actual.ToDoubles();
  return a && b ? RelativeRms(*a, *b, kExactFloor) : kIncomparable;
}

OutputDeviation Largest(const std::vector<OutputDeviation>& deviations) {
  OutputDeviation largest;
  for (const OutputDeviation& output : deviations) {
    if (largest.name.empty() || output.relative_rms > largest.relative_rms) largest = output;
  }
  return largest;
}

std::string DescribeDeviation(const OutputDeviation& output) {
  return fmt::format("output '{}' deviates by {:.3g} (relative RMS, at most {:.0e} expected)", output.name,
                     output.relative_rms, kExactTolerance);
}

Expected<std::vector<OutputDeviation>> CompareModels(std::string_view before, std::string_view after,
                                                     const CompareInputs& inputs) {
  SessionOptions options;
  options.level = OptLevel::kNone;
  options.flush_denormals = false;
  RLC_ASSIGN_OR_RETURN(const Session old_session, Session::FromBytes(before, "the original model", options));
  options.custom_op_libraries = inputs.custom_op_libraries;
  RLC_ASSIGN_OR_RETURN(const Session new_session, Session::FromBytes(after, "the rewritten model", options));
  std::vector<OutputDeviation> deviations;
  for (const InterfaceValue& output : old_session.outputs()) deviations.push_back({output.name, 0});
  for (int run = 0; run < inputs.runs(); ++run) {
    std::vector<NamedTensor> feed;
    if (run >= inputs.random_runs) {
      feed = inputs.own[static_cast<size_t>(run - inputs.random_runs)];
    } else {
      // The new model's interface may have fixed sizes where the old one's had names.
      RLC_ASSIGN_OR_RETURN(feed,
                           RandomInputs(new_session.inputs(), inputs.shapes, inputs.seed + static_cast<uint64_t>(run),
                                        {.signed_floats = run % 2 == 1, .bounds = inputs.bounds}));
    }
    RLC_ASSIGN_OR_RETURN(const auto expected, old_session.Run(feed));
    RLC_ASSIGN_OR_RETURN(const auto actual, new_session.Run(feed));
    for (size_t i = 0; i < deviations.size(); ++i) {
      const double deviation =
          i < actual.size() ? Deviation(expected[i], actual[i]) : std::numeric_limits<double>::infinity();
      deviations[i].relative_rms = std::max(deviations[i].relative_rms, deviation);
    }
  }
  return deviations;
}

}  // namespace rlc
