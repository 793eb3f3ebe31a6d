// Where the samples of a Dataset come from: arrays, image files, or a random number generator. Private to dataset.cc.
#ifndef RLC_DATA_SAMPLE_SOURCE_H_
#define RLC_DATA_SAMPLE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/hash.h"
#include "rlc/data/array.h"
#include "rlc/data/dataset.h"
#include "rlc/data/image.h"

namespace rlc {

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual std::size_t rows() const = 0;
  // These rows of one input (by its place), of the input's type and shape. Safe from several threads.
  virtual Expected<Array> Gather(std::size_t input, std::span<const std::size_t> rows) const = 0;
  virtual void AddTo(Hasher& hasher) const = 0;
};

// One array per input, checked against the input's shape and type. The samples lie along the first axis, which is the
// input's batch axis, or comes before a batch axis of 1, or (input of rank 0) stands alone.
Expected<std::unique_ptr<const SampleSource>> MakeArraySource(std::span<const InputSpec> inputs,
                                                              std::vector<StoredArray> arrays, const std::string& what);

// Images for the only input. The first is decoded to check the shape; the others when they are asked for.
Expected<std::unique_ptr<const SampleSource>> MakeImageSource(std::span<const InputSpec> inputs,
                                                              std::vector<std::string> paths,
                                                              const Preprocess& preprocess, const std::string& what);

Expected<std::unique_ptr<const SampleSource>> MakeRandomSource(std::span<const InputSpec> inputs, std::size_t samples,
                                                               uint64_t seed);

}  // namespace rlc

#endif  // RLC_DATA_SAMPLE_SOURCE_H_
