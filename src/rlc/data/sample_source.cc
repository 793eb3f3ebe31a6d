#include "rlc/data/sample_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/base/rng.h"

namespace rlc {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kMaxRandomElements = int64_t{1} << 30;  // of one sample

// Whether a shape with free dimensions (-1) takes this one.
bool Takes(std::span<const int64_t> wanted, std::span<const int64_t> found) {
  return std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(),
                    [](int64_t want, int64_t have) { return want < 0 || want == have; });
}

std::span<const int64_t> Tail(const Shape& shape, std::size_t from) { return std::span(shape).subspan(from); }

// Shape of the samples as a message shows it: "[N,3,?,224]".
std::string SamplesShape(const InputSpec& input) {
  const std::string tail = FormatShape(Shape(input.shape.begin() + (input.shape.empty() ? 0 : 1), input.shape.end()));
  return tail == "[]" ? "[N]" : "[N," + tail.substr(1);
}

bool IsConvertible(ElementType from, ElementType to) {
  return from == to || (IsFloatType(from) && IsFloatType(to)) || (IsIntegerType(from) && IsIntegerType(to));
}

Expected<Array> ConvertTo(const Array& array, const InputSpec& input, const std::string& what) {
  auto converted = array.Cast(input.type);
  if (!converted) return WithContext(std::move(converted).error(), fmt::format("{}: input '{}'", what, input.name));
  return converted;
}

class ArraySource final : public SampleSource {
 public:
  ArraySource(std::span<const InputSpec> inputs, std::vector<StoredArray> arrays, std::string what)
      : inputs_(inputs.begin(), inputs.end()), arrays_(std::move(arrays)), what_(std::move(what)) {}

  std::size_t rows() const override { return static_cast<std::size_t>(arrays_[0].shape()[0]); }

  Expected<Array> Gather(std::size_t input, std::span<const std::size_t> rows) const override {
    const InputSpec& spec = inputs_[input];
    Array array = arrays_[input].Gather(rows);
    if (spec.shape.empty()) {
      if (rows.size() != 1) {
        return MakeError(ErrorKind::kUsage, "input '{}' is a scalar: run one sample at a time, not {}", spec.name,
                         rows.size());
      }
      array = array.Reshaped({});
    } else if (array.shape().size() > spec.shape.size()) {  // [N,1,...]: the 1 is the batch axis of each sample
      Shape shape = array.shape();
      shape.erase(shape.begin() + 1);
      array = array.Reshaped(std::move(shape));
    }
    return ConvertTo(array, spec, what_);
  }

  void AddTo(Hasher& hasher) const override {
    for (const StoredArray& array : arrays_) {
      hasher.AddText(ElementTypeName(array.type())).AddText(FormatShape(array.shape())).Add(array.bytes());
    }
  }

 private:
  std::vector<InputSpec> inputs_;
  std::vector<StoredArray> arrays_;
  std::string what_;
};

bool FitsInput(const StoredArray& array, const InputSpec& input) {
  const Shape& found = array.shape();
  if (found.empty()) return false;
  if (input.shape.empty()) return found.size() == 1;
  const std::span<const int64_t> sample = Tail(input.shape, 1);
  if (found.size() == input.shape.size()) return Takes(sample, Tail(found, 1));
  return found.size() == input.shape.size() + 1 && found[1] == 1 && Takes(sample, Tail(found, 2));
}

Expected<void> CheckArray(const StoredArray& array, const InputSpec& input, const std::string& what) {
  if (!FitsInput(array, input)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: data for input '{}' have shape {}, wanted {} (N samples)", what,
                     input.name, FormatShape(array.shape()), SamplesShape(input));
  }
  if (!IsConvertible(array.type(), input.type)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: data for input '{}' are {}, wanted {}; convert them first", what,
                     input.name, ElementTypeName(array.type()), ElementTypeName(input.type));
  }
  return {};
}

class ImageSource final : public SampleSource {
 public:
  ImageSource(InputSpec input, std::vector<std::string> paths, const Preprocess& preprocess)
      : input_(std::move(input)), paths_(std::move(paths)), preprocess_(preprocess) {}

  std::size_t rows() const override { return paths_.size(); }

  Expected<Array> Gather(std::size_t, std::span<const std::size_t> rows) const override {
    std::vector<Array> samples;
    for (const std::size_t row : rows) {
      RLC_ASSIGN_OR_RETURN(Array sample, Sample(row));
      if (!samples.empty() && sample.shape() != samples[0].shape()) {
        return MakeError(ErrorKind::kInvalidInput,
                         "{}: has shape {} after preprocessing, others in the batch {}; use --preprocess resize=HxW",
                         paths_[row], FormatShape(sample.shape()), FormatShape(samples[0].shape()));
      }
      samples.push_back(std::move(sample));
    }
    return Concatenate(samples);
  }

  void AddTo(Hasher& hasher) const override {
    for (const std::string& path : paths_) {
      const auto file = MappedFile::Open(path);
      hasher.AddText(BaseName(path)).AddInt(file ? (*file)->bytes().size() : 0);
    }
    hasher.AddInt(static_cast<uint64_t>(preprocess_.order)).AddInt(preprocess_.channels_last ? 1 : 0);
    for (const int size : {preprocess_.resize_short, preprocess_.resize_height, preprocess_.resize_width,
                           preprocess_.crop_height, preprocess_.crop_width}) {
      hasher.AddInt(static_cast<uint64_t>(size));
    }
    hasher.AddDouble(preprocess_.scale);
    for (const double value : preprocess_.mean) hasher.AddDouble(value);
    for (const double value : preprocess_.deviation) hasher.AddDouble(value);
  }

  // One row, [1, ...], of the input's shape and type.
  Expected<Array> Sample(std::size_t row) const {
    RLC_ASSIGN_OR_RETURN(const Image image, ReadImage(paths_[row]));
    const ElementType pixels = input_.type == ElementType::kUint8 ? ElementType::kUint8 : ElementType::kFloat32;
    auto sample = PreprocessImage(image, preprocess_, pixels);
    if (!sample) return WithContext(std::move(sample).error(), paths_[row]);
    Shape shape = sample->shape();
    shape.insert(shape.begin(), 1);
    if (!Takes(Tail(input_.shape, 1), Tail(shape, 1))) {
      return MakeError(ErrorKind::kInvalidInput,
                       "{}: image of {}x{} gives shape {} after preprocessing, input '{}' wants {}; set --preprocess",
                       paths_[row], image.height, image.width, FormatShape(sample->shape()), input_.name,
                       FormatShape(Shape(input_.shape.begin() + 1, input_.shape.end())));
    }
    return ConvertTo(sample->Reshaped(std::move(shape)), input_, paths_[row]);
  }

 private:
  InputSpec input_;
  std::vector<std::string> paths_;
  Preprocess preprocess_;
};

class RandomSource final : public SampleSource {
 public:
  RandomSource(std::span<const InputSpec> inputs, std::size_t samples, uint64_t seed)
      : inputs_(inputs.begin(), inputs.end()), samples_(samples), seed_(seed) {}

  std::size_t rows() const override { return samples_; }

  Expected<Array> Gather(std::size_t input, std::span<const std::size_t> rows) const override {
    const InputSpec& spec = inputs_[input];
    if (spec.shape.empty() && rows.size() != 1) {
      return MakeError(ErrorKind::kUsage, "input '{}' is a scalar: run one sample at a time, not {}", spec.name,
                       rows.size());
    }
    Shape sample = spec.shape;
    if (!sample.empty()) sample[0] = 1;
    std::vector<Array> samples;
    for (const std::size_t row : rows) {
      Rng rng = Rng(seed_).Fork(row).Fork(input);
      RLC_ASSIGN_OR_RETURN(Array array, Draw(spec, sample, rng));
      samples.push_back(std::move(array));
    }
    return spec.shape.empty() ? samples[0] : Concatenate(samples);
  }

  void AddTo(Hasher& hasher) const override { hasher.AddText("random").AddInt(seed_).AddInt(samples_); }

 private:
  static Expected<Array> Draw(const InputSpec& spec, const Shape& shape, Rng& rng) {
    const auto count = static_cast<std::size_t>(*ElementCount(shape));
    if (IsFloatType(spec.type)) {
      std::vector<float> values(count);
      for (float& value : values) value = static_cast<float>(rng.UniformInt(1 << 24)) * 0x1.0p-24F;
      return Array::Of(shape, values).Cast(spec.type);
    }
    std::vector<uint8_t> values(count);
    for (uint8_t& value : values) value = static_cast<uint8_t>(rng.UniformInt(2));
    const Array bits = Array::Of(shape, values);
    if (spec.type == ElementType::kBool) return Array::FromView(spec.type, shape, bits.bytes(), bits.owner());
    return bits.Cast(spec.type);
  }

  std::vector<InputSpec> inputs_;
  std::size_t samples_;
  uint64_t seed_;
};

}  // namespace

Expected<std::unique_ptr<const SampleSource>> MakeArraySource(std::span<const InputSpec> inputs,
                                                              std::vector<StoredArray> arrays,
                                                              const std::string& what) {
  RLC_CHECK_EQ(inputs.size(), arrays.size());
  if (inputs.empty()) return MakeError(ErrorKind::kInvalidInput, "{}: the model has no inputs to give data to", what);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    RLC_RETURN_IF_ERROR(CheckArray(arrays[i], inputs[i], what));
    if (arrays[i].shape()[0] != arrays[0].shape()[0]) {
      return MakeError(ErrorKind::kInvalidInput, "{}: {} samples for input '{}', but {} for '{}'", what,
                       arrays[i].shape()[0], inputs[i].name, arrays[0].shape()[0], inputs[0].name);
    }
  }
  return std::make_unique<ArraySource>(inputs, std::move(arrays), what);
}

Expected<std::unique_ptr<const SampleSource>> MakeImageSource(std::span<const InputSpec> inputs,
                                                              std::vector<std::string> paths,
                                                              const Preprocess& preprocess, const std::string& what) {
  RLC_CHECK(!paths.empty());
  if (inputs.size() != 1) {
    return MakeError(ErrorKind::kInvalidInput,
                     "{}: is a folder of images, but the model has {} inputs; use an .npz file", what, inputs.size());
  }
  const InputSpec& input = inputs[0];
  if (input.shape.size() != 4 || !(IsFloatType(input.type) || input.type == ElementType::kUint8)) {
    return MakeError(ErrorKind::kInvalidInput,
                     "{}: is a folder of images, but input '{}' is {} of shape {}, which is no image; use an .npz file",
                     what, input.name, ElementTypeName(input.type), FormatShape(input.shape));
  }
  auto source = std::make_unique<ImageSource>(input, std::move(paths), preprocess);
  RLC_RETURN_IF_ERROR(source->Sample(0));
  return source;
}

Expected<std::unique_ptr<const SampleSource>> MakeRandomSource(std::span<const InputSpec> inputs, std::size_t samples,
                                                               uint64_t seed) {
  for (const InputSpec& input : inputs) {
    const bool fixed = input.shape.empty() ||
                       std::all_of(input.shape.begin() + 1, input.shape.end(), [](int64_t dim) { return dim >= 0; });
    if (!fixed) {
      return MakeError(ErrorKind::kUsage,
                       "input '{}' has shape {}: say which to use, for example --shape {}:1,3,224,224", input.name,
                       FormatShape(input.shape), input.name);
    }
    Shape sample = input.shape;
    if (!sample.empty()) sample[0] = 1;
    if (ElementCount(sample).value_or(kMaxRandomElements + 1) > kMaxRandomElements) {
      return MakeError(ErrorKind::kInvalidInput, "input '{}' has shape {}, which is too large", input.name,
                       FormatShape(input.shape));
    }
  }
  return std::make_unique<RandomSource>(inputs, samples, seed);
}

}  // namespace rlc
