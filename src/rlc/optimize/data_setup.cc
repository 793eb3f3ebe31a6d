#include "rlc/optimize/data_setup.h"

#include <algorithm>
#include <array>

#include "rlc/base/format.h"
#include "rlc/measure/tensor_array.h"
#include "rlc/optimize/bench_job.h"

namespace rlc {
namespace {

// What the model wants, with the sizes that --shape fixes. -1: any.
Expected<std::vector<InputSpec>> SpecsOf(const Model& model, const DataRequest& request) {
  std::vector<InputSpec> specs;
  for (const InterfaceValue& input : InputsOf(model)) {
    const auto type = ElementOfDType(input.type.elem);
    if (!input.type.is_tensor() || !type || !input.type.shape) {
      return MakeError(ErrorKind::kInvalidInput,
                       "input '{}' has type {}; data can be given for tensors of known rank only", input.name,
                       ToString(input.type));
    }
    InputSpec spec{input.name, *type, {}};
    const auto shape = request.shapes.find(input.name);
    for (size_t axis = 0; axis < input.type.shape->size(); ++axis) {
      const Dim& dim = (*input.type.shape)[axis];
      const bool given = shape != request.shapes.end() && axis < shape->second.size() && axis > 0;
      spec.shape.push_back(dim.known() ? dim.value : given ? shape->second[axis] : -1);
    }
    if (!spec.shape.empty() && spec.shape[0] > 1) {
      return MakeError(
          ErrorKind::kInvalidInput,
          "input '{}' has a fixed batch of {}; samples are fed one by one, so re-export the model with batch 1 or "
          "a free batch dimension",
          input.name, spec.shape[0]);
    }
    specs.push_back(std::move(spec));
  }
  if (specs.empty())
    return MakeError(ErrorKind::kInvalidInput, "the model has no inputs, so there is nothing to feed data to");
  return specs;
}

bool LooksLikeClasses(const Dataset& dataset) {
  if (!dataset.has_labels()) return false;
  const StoredArray& labels = dataset.labels();
  const auto& shape = labels.shape();
  return IsIntegerType(labels.type()) && (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1));
}

}  // namespace

Expected<DataSetup> SetUpData(const Model& model, const DataRequest& request) {
  RLC_ASSIGN_OR_RETURN(const std::vector<InputSpec> specs, SpecsOf(model, request));
  DatasetOptions options;
  if (!request.preprocess.empty()) {
    RLC_ASSIGN_OR_RETURN(options.preprocess, ParsePreprocess(request.preprocess));
  }
  auto dataset = request.path.empty() ? Dataset::Random(specs, request.random_samples, request.splits.seed)
                                      : Dataset::Open(request.path, specs, options);
  if (!dataset) return Unexpected(std::move(dataset).error());
  DataSetup setup{*std::move(dataset), {}, {}, {}};
  if (LooksLikeClasses(setup.dataset)) {
    RLC_ASSIGN_OR_RETURN(setup.classes, setup.dataset.ClassLabels());
  }
  RLC_ASSIGN_OR_RETURN(setup.splits, MakeSplits(setup.dataset.size(), request.splits, setup.classes));
  const std::array<size_t, 1> first = {setup.splits.search.front()};
  RLC_ASSIGN_OR_RETURN(const auto sample, setup.dataset.Batch(first));
  setup.timing_inputs = ToTensors(sample);
  return setup;
}

BatchSource DataSetup::Batches(std::vector<size_t> rows, size_t rows_each) const {
  const bool one_by_one = std::any_of(dataset.inputs().begin(), dataset.inputs().end(),
                                      [](const InputSpec& spec) { return spec.shape.empty() || spec.shape[0] >= 0; });
  const size_t step = one_by_one ? 1 : std::max<size_t>(rows_each, 1);
  return [data = dataset, rows = std::move(rows), step](int64_t index) -> Expected<std::vector<NamedTensor>> {
    const size_t first = static_cast<size_t>(index) * step;
    if (first >= rows.size()) return std::vector<NamedTensor>{};
    const size_t count = std::min(step, rows.size() - first);
    RLC_ASSIGN_OR_RETURN(const auto arrays, data.Batch(std::span(rows).subspan(first, count)));
    return ToTensors(arrays);
  };
}

}  // namespace rlc
