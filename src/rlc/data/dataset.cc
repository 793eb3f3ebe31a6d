#include "rlc/data/dataset.h"

#include <algorithm>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/base/hash.h"
#include "rlc/data/npy.h"
#include "rlc/data/npz.h"
#include "rlc/data/sample_source.h"

namespace rlc {
namespace {

constexpr std::string_view kLabels = "labels";

Expected<void> CheckLabels(const std::optional<StoredArray>& labels, std::size_t rows, const std::string& what) {
  if (!labels) return {};
  if (labels->shape().empty() || static_cast<std::size_t>(labels->shape()[0]) != rows) {
    return MakeError(ErrorKind::kInvalidInput, "{}: 'labels' has shape {}, wanted one row for each of the {} samples",
                     what, FormatShape(labels->shape()), rows);
  }
  return {};
}

bool IsInput(std::span<const InputSpec> inputs, std::string_view name) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const InputSpec& input) { return input.name == name; });
}

std::string InputNames(std::span<const InputSpec> inputs) {
  std::vector<std::string> names;
  for (const InputSpec& input : inputs) names.push_back(fmt::format("'{}'", input.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

struct Loaded {
  std::unique_ptr<const SampleSource> source;
  std::optional<StoredArray> labels = std::nullopt;
};

Expected<Loaded> LoadNpz(const std::string& path, std::span<const InputSpec> inputs) {
  RLC_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path));
  std::vector<StoredArray> arrays;
  for (const InputSpec& input : inputs) {
    if (!file.Has(input.name)) {
      return MakeError(ErrorKind::kInvalidInput, "{}: has no array for input '{}'; it has: {}", path, input.name,
                       fmt::join(file.names(), ", "));
    }
    RLC_ASSIGN_OR_RETURN(arrays.emplace_back(), file.Get(input.name));
  }
  Loaded loaded;
  RLC_ASSIGN_OR_RETURN(loaded.source, MakeArraySource(inputs, std::move(arrays), path));
  if (file.Has(kLabels) && !IsInput(inputs, kLabels)) {
    RLC_ASSIGN_OR_RETURN(loaded.labels, file.Get(kLabels));
  }
  return loaded;
}

Expected<Loaded> LoadNpy(const std::string& path, std::span<const InputSpec> inputs) {
  if (inputs.size() != 1) {
    return MakeError(ErrorKind::kInvalidInput, "{}: is one array, but the model has {} inputs ({}); use an .npz file",
                     path, inputs.size(), InputNames(inputs));
  }
  RLC_ASSIGN_OR_RETURN(StoredArray array, ReadNpy(path));
  Loaded loaded;
  RLC_ASSIGN_OR_RETURN(loaded.source, MakeArraySource(inputs, {std::move(array)}, path));
  return loaded;
}

std::string FileNameFor(std::string name) {
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == ':'; }, '_');
  return name + ".npy";
}

Expected<Loaded> LoadArrayFolder(const std::string& path, std::span<const InputSpec> inputs) {
  std::vector<StoredArray> arrays;
  for (const InputSpec& input : inputs) {
    const std::string file = JoinPath(path, FileNameFor(input.name));
    if (!FileExists(file)) {
      return MakeError(ErrorKind::kInvalidInput, "{}: no file {} for input '{}'", path, BaseName(file), input.name);
    }
    RLC_ASSIGN_OR_RETURN(arrays.emplace_back(), ReadNpy(file));
  }
  Loaded loaded;
  RLC_ASSIGN_OR_RETURN(loaded.source, MakeArraySource(inputs, std::move(arrays), path));
  const std::string labels = JoinPath(path, "labels.npy");
  if (FileExists(labels) && !IsInput(inputs, kLabels)) {
    RLC_ASSIGN_OR_RETURN(loaded.labels, ReadNpy(labels));
  }
  return loaded;
}

// Images of one folder, or of its sub-folders, which then are the classes.
struct ImageFiles {
  std::vector<std::string> paths;
  std::vector<int64_t> classes;  // empty without sub-folders
};

Expected<ImageFiles> FindImages(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(path));
  ImageFiles files;
  for (const std::string& name : names) {
    if (HasImageExtension(name)) files.paths.push_back(JoinPath(path, name));
  }
  if (!files.paths.empty()) return files;
  std::vector<std::string> folders;
  for (const std::string& name : names) {
    if (!name.starts_with('.') && IsFolder(JoinPath(path, name))) folders.push_back(name);
  }
  // Names that are all numbers are the classes themselves; otherwise a class is the place in the sorted order.
  const bool numbered = std::all_of(folders.begin(), folders.end(),
                                    [](const std::string& name) { return ParseInt(name, "").value_or(-1) >= 0; });
  for (std::size_t i = 0; i < folders.size(); ++i) {
    RLC_ASSIGN_OR_RETURN(const std::vector<std::string> members, ListFolder(JoinPath(path, folders[i])));
    for (const std::string& name : members) {
      if (!HasImageExtension(name)) continue;
      files.paths.push_back(JoinPath(JoinPath(path, folders[i]), name));
      files.classes.push_back(numbered ? *ParseInt(folders[i], "") : static_cast<int64_t>(i));
    }
  }
  return files;
}

Expected<Loaded> LoadFolder(const std::string& path, std::span<const InputSpec> inputs, const DatasetOptions& options) {
  const bool has_arrays = std::any_of(inputs.begin(), inputs.end(), [&](const InputSpec& input) {
    return FileExists(JoinPath(path, FileNameFor(input.name)));
  });
  if (has_arrays) return LoadArrayFolder(path, inputs);
  RLC_ASSIGN_OR_RETURN(ImageFiles files, FindImages(path));
  if (files.paths.empty()) {
    return MakeError(ErrorKind::kInvalidInput,
                     "{}: holds no data: neither {} nor images (.png, .jpg), directly or in one sub-folder per class",
                     path, inputs.empty() ? "arrays" : FileNameFor(inputs[0].name));
  }
  Loaded loaded;
  if (!files.classes.empty()) {
    loaded.labels = StoredArray(Array::Of({static_cast<int64_t>(files.classes.size())}, files.classes));
  }
  RLC_ASSIGN_OR_RETURN(loaded.source, MakeImageSource(inputs, std::move(files.paths), options.preprocess, path));
  return loaded;
}

Expected<Loaded> Load(const std::string& path, std::span<const InputSpec> inputs, const DatasetOptions& options) {
  if (IsFolder(path)) return LoadFolder(path, inputs, options);
  if (!FileExists(path)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: no such file or folder; check the path of --data", path);
  }
  const std::string extension = Extension(path);
  if (extension == ".npz") return LoadNpz(path, inputs);
  if (extension == ".npy") return LoadNpy(path, inputs);
  return MakeError(ErrorKind::kInvalidInput,
                   "{}: wanted an .npz or .npy file or a folder, found a file that ends in '{}'", path, extension);
}

Expected<std::vector<int64_t>> AsClasses(const StoredArray& labels, const std::string& what) {
  const std::vector<int64_t>& shape = labels.shape();
  const bool one_each = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (!one_each || !IsIntegerType(labels.type())) {
    return MakeError(
        ErrorKind::kInvalidInput,
        "{}: 'labels' is {} of shape {}, wanted one integer for each sample; use --metric cmd:PROGRAM for others", what,
        ElementTypeName(labels.type()), FormatShape(shape));
  }
  auto wide = labels.Load().Cast(ElementType::kInt64);
  if (!wide) return WithContext(std::move(wide).error(), fmt::format("{}: 'labels'", what));
  const std::span<const int64_t> values = wide->data<int64_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

}  // namespace

struct Dataset::Impl {
  std::string path;  // empty: random
  std::vector<InputSpec> inputs;
  std::unique_ptr<const SampleSource> source;
  std::optional<StoredArray> labels;
};

Expected<Dataset> Dataset::Open(const std::string& path, std::span<const InputSpec> inputs,
                                const DatasetOptions& options) {
  RLC_ASSIGN_OR_RETURN(Loaded loaded, Load(path, inputs, options));
  const std::size_t rows = loaded.source->rows();
  if (rows == 0) return MakeError(ErrorKind::kInvalidInput, "{}: holds no samples", path);
  RLC_RETURN_IF_ERROR(CheckLabels(loaded.labels, rows, path));
  auto impl = std::make_shared<Impl>();
  impl->path = path;
  impl->inputs.assign(inputs.begin(), inputs.end());
  impl->source = std::move(loaded.source);
  impl->labels = std::move(loaded.labels);
  return Dataset(std::move(impl));
}

Expected<Dataset> Dataset::Random(std::span<const InputSpec> inputs, std::size_t samples, uint64_t seed) {
  if (samples == 0) return MakeError(ErrorKind::kUsage, "random data of 0 samples; ask for at least 1");
  auto impl = std::make_shared<Impl>();
  RLC_ASSIGN_OR_RETURN(impl->source, MakeRandomSource(inputs, samples, seed));
  impl->inputs.assign(inputs.begin(), inputs.end());
  return Dataset(std::move(impl));
}

std::size_t Dataset::size() const { return impl_->source->rows(); }
bool Dataset::is_random() const { return impl_->path.empty(); }
const std::vector<InputSpec>& Dataset::inputs() const { return impl_->inputs; }
bool Dataset::has_labels() const { return impl_->labels.has_value(); }

const StoredArray& Dataset::labels() const {
  RLC_CHECK(has_labels());
  return *impl_->labels;
}

std::string Dataset::Describe() const {
  if (is_random()) return fmt::format("{} random samples, without labels", size());
  return fmt::format("{}, {} samples {} labels", impl_->path, size(), has_labels() ? "with" : "without");
}

std::string Dataset::Hash() const {
  Hasher hasher;
  for (const InputSpec& input : impl_->inputs) {
    hasher.AddText(input.name).AddText(ElementTypeName(input.type)).AddText(FormatShape(input.shape));
  }
  impl_->source->AddTo(hasher);
  if (has_labels()) {
    hasher.AddText(ElementTypeName(labels().type())).AddText(FormatShape(labels().shape())).Add(labels().bytes());
  }
  return hasher.Hex();
}

Expected<std::vector<NamedArray>> Dataset::Batch(std::span<const std::size_t> rows) const {
  RLC_CHECK(!rows.empty());
  for (const std::size_t row : rows) RLC_CHECK(row < size());
  std::vector<NamedArray> batch;
  for (std::size_t i = 0; i < impl_->inputs.size(); ++i) {
    RLC_ASSIGN_OR_RETURN(Array array, impl_->source->Gather(i, rows));
    batch.push_back({impl_->inputs[i].name, std::move(array)});
  }
  return batch;
}

Expected<std::vector<int64_t>> Dataset::ClassLabels(int64_t classes) const {
  if (!has_labels()) {
    return MakeError(ErrorKind::kInvalidInput, "{}: has no labels; add an array 'labels' or use --metric agreement",
                     is_random() ? "random data" : impl_->path);
  }
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> labels, AsClasses(*impl_->labels, impl_->path));
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] >= 0 && (classes < 0 || labels[row] < classes)) continue;
    return MakeError(
        ErrorKind::kInvalidInput, "{}: label of sample {} is {}, wanted {}", impl_->path, row, labels[row],
        classes < 0 ? "0 or more" : fmt::format("0 to {}, as the model has {} classes", classes - 1, classes));
  }
  return labels;
}

}  // namespace rlc
