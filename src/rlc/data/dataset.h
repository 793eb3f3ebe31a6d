// The user's data (--data) as samples for a model's inputs.
//
//   FILE.npz        arrays named as the model's inputs, first axis = samples; optional `labels`
//   FILE.npy        the same for a model with one input, without labels
//   FOLDER          <input>.npy for each input ('/' and ':' in names written as '_'), optional labels.npy;
//                   or images, directly or in one sub-folder per class (then the class is the label)
//   nothing         random inputs, see Dataset::Random
#ifndef RLC_DATA_DATASET_H_
#define RLC_DATA_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/data/array.h"
#include "rlc/data/image.h"

namespace rlc {

// An input of the model. The first dimension is the batch; -1 = any number. A scalar has shape [].
struct InputSpec {
  std::string name;
  ElementType type = ElementType::kFloat32;
  std::vector<int64_t> shape = {};
};

struct DatasetOptions {
  Preprocess preprocess = {};  // for folders of images
};

// Samples by row number. Copies share everything; reading is safe from several threads.
class Dataset {
 public:
  // Everything that can be seen without reading the samples is checked here. Errors name the input, what was found and
  // what is wanted: no array for an input, another shape or type (float widths and integer widths are converted),
  // different numbers of samples, no samples at all, labels that do not fit the samples.
  static Expected<Dataset> Open(const std::string& path, std::span<const InputSpec> inputs,
                                const DatasetOptions& options = {});

  // Seeded random samples: floats uniform in [0, 1), integers 0 or 1 (safe as indices and masks), bools both. Row i
  // does not depend on the number of rows. Error, kUsage: a dimension other than the first is -1 (names input and
  // --shape).
  static Expected<Dataset> Random(std::span<const InputSpec> inputs, std::size_t samples, uint64_t seed);

  std::size_t size() const;
  bool is_random() const;
  const std::vector<InputSpec>& inputs() const;
  // "lines.npz, 2000 samples with labels".
  std::string Describe() const;
  // Of names, types, shapes and contents (images: names and file sizes); equal data, equal hash.
  std::string Hash() const;

  // One array per input, in the order of inputs(), of the inputs' types; first dimension rows.size(). Error: a file
  // that cannot be read, images of different sizes in one batch, a value that the input's type does not hold; more than
  // one row for an input that has no batch axis.
  Expected<std::vector<NamedArray>> Batch(std::span<const std::size_t> rows) const;

  bool has_labels() const;
  // Whatever shape and type, first axis = samples. Precondition, checked: has_labels().
  const StoredArray& labels() const;
  // As classes: integers of shape [n] or [n,1], all in [0, classes). Error, kInvalidInput: no labels, another form, or
  // out of range (names row and value). classes < 0: only the lower bound is checked.
  Expected<std::vector<int64_t>> ClassLabels(int64_t classes = -1) const;

 private:
  struct Impl;
  explicit Dataset(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace rlc

#endif  // RLC_DATA_DATASET_H_
