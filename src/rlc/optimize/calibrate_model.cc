#include "rlc/optimize/calibrate_model.h"

#include <algorithm>
#include <set>

#include "rlc/rewrite/approximate/resolve.h"

namespace rlc {

Expected<CalibrationOutcome> CalibrateModel(const Model& model, const DataSetup& data,
                                            const CalibrationRequest& request) {
  const std::vector<std::string> observed = ValuesToObserve(model.graph), energies = ValuesForEnergy(model.graph);
  const std::set<std::string> observe(observed.begin(), observed.end()), energy(energies.begin(), energies.end());
  std::set<std::string> both = observe;
  both.insert(energy.begin(), energy.end());
  const std::vector<std::string> names(both.begin(), both.end());

  std::vector<size_t> rows = data.splits.calibration;
  rows.resize(std::min(rows.size(), request.most_rows));
  ObserverSet observers;
  CalibrationOutcome outcome;
  outcome.rows = rows.size();
  const auto on_tensor = [&](const std::string& value, const Tensor& tensor) -> Expected<void> {
    if (tensor.dtype() != DType::kFloat) return {};
    if (observe.count(value) != 0) RLC_RETURN_IF_ERROR(observers.Add(value, tensor.data<float>()));
    if (energy.count(value) != 0) RLC_RETURN_IF_ERROR(outcome.energy.Add(value, tensor.data<float>(), tensor.dims()));
    return {};
  };
  CalibrationOptions options;
  options.threads = request.threads;
  options.stop = request.stop;
  constexpr size_t kRowsEach = 16;
  RLC_ASSIGN_OR_RETURN(const int64_t batches,
                       StreamValues(model, names, data.Batches(std::move(rows), kRowsEach), on_tensor, options));
  RLC_CHECK(batches > 0);
  RLC_ASSIGN_OR_RETURN(outcome.calibration, Calibrate(observers, request.scheme, request.range));
  return outcome;
}

Scheme SchemeFor(const Machine& machine) {
  const auto has = [&](std::string_view feature) {
    return std::find(machine.features.begin(), machine.features.end(), feature) != machine.features.end();
  };
  IntegerSupport support;
  support.x86 = machine.architecture == "x86_64";
  support.vnni = has("avx512_vnni") || has("avx_vnni");
  return Scheme::DefaultFor(support);
}

}  // namespace rlc
