#include "rlc/data/image.h"

#include <algorithm>
#include <cmath>

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/data/image_codec.h"

namespace rlc {
namespace {

constexpr std::size_t kChannels = 3;
constexpr int64_t kMaxSide = 1 << 16;
constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;

// The source pixels that one pixel of the result is made of: `weights` for those from `first` on.
struct Taps {
  int first;
  std::vector<float> weights;
};

std::vector<Taps> TriangleTaps(int from, int to) {
  const double scale = static_cast<double>(from) / to;
  const double support = std::max(scale, 1.0);
  std::vector<Taps> all(static_cast<std::size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(std::floor(centre - support + 0.5)));
    const int last = std::min(from, static_cast<int>(std::floor(centre + support + 0.5)));
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = first;
    double sum = 0;
    for (int x = first; x < last; ++x) {
      const double weight = std::max(0.0, 1 - std::abs((x + 0.5 - centre) / support));
      taps.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : taps.weights) weight = static_cast<float>(weight / sum);
  }
  return all;
}

uint8_t ToPixel(float value) { return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L)); }

struct Size {
  int height;
  int width;
};

// "224" -> 224 x 224 (with only_one set), "224x320".
Expected<Size> ParseSize(std::string_view text, std::string_view what, bool& only_one) {
  const std::vector<std::string> parts = SplitText(text, 'x');
  if (parts.empty() || parts.size() > 2) {
    return MakeError(ErrorKind::kUsage, "{}: '{}' is no size; write 224 or 224x320 (height x width)", what, text);
  }
  only_one = parts.size() == 1;
  Size size = {0, 0};
  for (int* side : {&size.height, &size.width}) {
    RLC_ASSIGN_OR_RETURN(const int64_t value, ParseInt(side == &size.height ? parts.front() : parts.back(), what));
    if (value < 1 || value > kMaxSide) {
      return MakeError(ErrorKind::kUsage, "{}: {} is no side of an image, wanted 1 to {}", what, value, kMaxSide);
    }
    *side = static_cast<int>(value);
  }
  return size;
}

// "0.5" for all channels or "0.485:0.456:0.406".
Expected<std::array<double, 3>> ParsePerChannel(std::string_view text, std::string_view what) {
  const std::vector<std::string> parts = SplitText(text, ':');
  if (parts.size() != 1 && parts.size() != 3) {
    return MakeError(ErrorKind::kUsage, "{}: '{}' has {} numbers, wanted 1 or 3 separated by ':'", what, text,
                     parts.size());
  }
  std::array<double, 3> values = {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    RLC_ASSIGN_OR_RETURN(values[i], ParseNumber(parts[parts.size() == 1 ? 0 : i], what));
  }
  return values;
}

void UseImagenet(Preprocess& preprocess) {
  preprocess.resize_short = 256;
  preprocess.crop_height = 224;
  preprocess.crop_width = 224;
  preprocess.mean = {0.485, 0.456, 0.406};
  preprocess.deviation = {0.229, 0.224, 0.225};
}

Expected<void> SetGeometry(Preprocess& preprocess, std::string_view key, std::string_view value,
                           std::string_view what) {
  bool only_one = false;
  RLC_ASSIGN_OR_RETURN(const Size size, ParseSize(value, what, only_one));
  if (key == "crop") {
    preprocess.crop_height = size.height;
    preprocess.crop_width = size.width;
  } else {
    preprocess.resize_short = only_one ? size.height : 0;
    preprocess.resize_height = only_one ? 0 : size.height;
    preprocess.resize_width = only_one ? 0 : size.width;
  }
  return {};
}

Expected<void> SetOrder(Preprocess& preprocess, std::string_view value, std::string_view what) {
  if (value == "rgb") {
    preprocess.order = Preprocess::Order::kRgb;
  } else if (value == "bgr") {
    preprocess.order = Preprocess::Order::kBgr;
  } else if (value == "grey") {
    preprocess.order = Preprocess::Order::kGrey;
  } else {
    return MakeError(ErrorKind::kUsage, "{}: '{}' is no channel order; write rgb, bgr or grey", what, value);
  }
  return {};
}

Expected<void> SetLayout(Preprocess& preprocess, std::string_view value, std::string_view what) {
  if (value != "nchw" && value != "nhwc") {
    return MakeError(ErrorKind::kUsage, "{}: '{}' is no layout; write nchw or nhwc", what, value);
  }
  preprocess.channels_last = value == "nhwc";
  return {};
}

Expected<void> SetOption(Preprocess& preprocess, std::string_view key, std::string_view value) {
  const std::string what = fmt::format("--preprocess {}", key);
  if (key == "resize" || key == "crop") return SetGeometry(preprocess, key, value, what);
  if (key == "order") return SetOrder(preprocess, value, what);
  if (key == "layout") return SetLayout(preprocess, value, what);
  if (key == "scale") {
    RLC_ASSIGN_OR_RETURN(preprocess.scale, ParseNumber(value, what));
  } else if (key == "mean") {
    RLC_ASSIGN_OR_RETURN(preprocess.mean, ParsePerChannel(value, what));
  } else if (key == "std") {
    RLC_ASSIGN_OR_RETURN(preprocess.deviation, ParsePerChannel(value, what));
    for (const double deviation : preprocess.deviation) {
      if (!(deviation > 0)) return MakeError(ErrorKind::kUsage, "{}: {} must be more than 0", what, deviation);
    }
  } else {
    return MakeError(
        ErrorKind::kUsage,
        "--preprocess: '{}' is not known; known are resize, crop, scale, mean, std, layout, order, imagenet", key);
  }
  return {};
}

Expected<Image> Resized(const Image& image, const Preprocess& preprocess) {
  int64_t height = preprocess.resize_height;
  int64_t width = preprocess.resize_width;
  if (preprocess.resize_short > 0) {
    // The longer side is rounded down, as torchvision does.
    const int64_t side = preprocess.resize_short;
    const int64_t shorter = std::min(image.height, image.width);
    height = side * image.height / shorter;
    width = side * image.width / shorter;
  }
  if (height == 0 || (height == image.height && width == image.width)) return image;
  // A thin strip, made high, becomes endlessly long.
  if (width > kMaxImagePixels / height) {
    return MakeError(ErrorKind::kInvalidInput,
                     "image of {}x{} would have {}x{} pixels after resizing; at most {} are made", image.height,
                     image.width, height, width, kMaxImagePixels);
  }
  return ResizeImage(image, static_cast<int>(height), static_cast<int>(width));
}

// Channel values of one pixel in the order that the model wants; returns how many.
std::size_t OrderPixel(const uint8_t* pixel, Preprocess::Order order, std::array<uint8_t, kChannels>& values) {
  switch (order) {
    case Preprocess::Order::kRgb:
      values = {pixel[0], pixel[1], pixel[2]};
      return 3;
    case Preprocess::Order::kBgr:
      values = {pixel[2], pixel[1], pixel[0]};
      return 3;
    case Preprocess::Order::kGrey:
      // ITU-R 601 luma in 16-bit fixed point, as Pillow's convert("L").
      values[0] = static_cast<uint8_t>((pixel[0] * 19595 + pixel[1] * 38470 + pixel[2] * 7471 + 0x8000) >> 16);
      return 1;
  }
  return 0;
}

template <typename T, typename Convert>
Array ToArray(const Image& image, const Preprocess& preprocess, Convert convert) {
  const std::size_t channels = preprocess.order == Preprocess::Order::kGrey ? 1 : kChannels;
  const std::size_t area = static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width);
  std::vector<T> values(channels * area);
  std::array<uint8_t, kChannels> pixel = {};
  for (std::size_t i = 0; i < area; ++i) {
    OrderPixel(image.pixels.data() + kChannels * i, preprocess.order, pixel);
    for (std::size_t c = 0; c < channels; ++c) {
      values[preprocess.channels_last ? channels * i + c : c * area + i] = convert(pixel[c], c);
    }
  }
  const auto depth = static_cast<int64_t>(channels);
  if (preprocess.channels_last) return Array::Of<T>({image.height, image.width, depth}, values);
  return Array::Of<T>({depth, image.height, image.width}, values);
}

}  // namespace

Expected<Image> DecodeImage(std::span<const std::byte> bytes, std::string_view what) {
  if (!LooksLikePng(bytes) && !LooksLikeJpeg(bytes)) {
    return MakeError(ErrorKind::kInvalidInput, "{}: is neither a PNG nor a JPEG image", what);
  }
  auto image = LooksLikePng(bytes) ? DecodePng(bytes) : DecodeJpeg(bytes);
  if (!image) return WithContext(std::move(image).error(), fmt::format("{}: damaged image", what));
  return image;
}

Expected<Image> ReadImage(const std::string& path) {
  RLC_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxImageBytes));
  return DecodeImage(std::as_bytes(std::span(bytes.data(), bytes.size())), path);
}

bool HasImageExtension(std::string_view path) {
  const std::string extension = Extension(path);
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

Image ResizeImage(const Image& image, int height, int width) {
  RLC_CHECK(height >= 1 && width >= 1);
  const auto old_width = static_cast<std::size_t>(image.width);
  const auto new_width = static_cast<std::size_t>(width);
  // Rows first, in float, so that only the result is rounded.
  const std::vector<Taps> across = TriangleTaps(image.width, width);
  std::vector<float> wide(static_cast<std::size_t>(image.height) * new_width * kChannels);
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    for (std::size_t x = 0; x < new_width; ++x) {
      const uint8_t* from =
          image.pixels.data() + (y * old_width + static_cast<std::size_t>(across[x].first)) * kChannels;
      float* to = wide.data() + (y * new_width + x) * kChannels;
      for (const float weight : across[x].weights) {
        for (std::size_t c = 0; c < kChannels; ++c) to[c] += weight * static_cast<float>(*from++);
      }
    }
  }
  const std::vector<Taps> down = TriangleTaps(image.height, height);
  Image result = {height, width, std::vector<uint8_t>(static_cast<std::size_t>(height) * new_width * kChannels)};
  const std::size_t row = new_width * kChannels;
  std::vector<float> sums(row);
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    const float* from = wide.data() + static_cast<std::size_t>(down[y].first) * row;
    for (const float weight : down[y].weights) {
      for (std::size_t i = 0; i < row; ++i) sums[i] += weight * from[i];
      from += row;
    }
    std::transform(sums.begin(), sums.end(), result.pixels.begin() + static_cast<std::ptrdiff_t>(y * row), ToPixel);
  }
  return result;
}

Image CropCentre(const Image& image, int height, int width) {
  RLC_CHECK(height >= 1 && width >= 1 && height <= image.height && width <= image.width);
  // Halves round to even, as Python's round() in torchvision.
  const auto top = static_cast<std::size_t>(std::nearbyint((image.height - height) / 2.0));
  const auto left = static_cast<std::size_t>(std::nearbyint((image.width - width) / 2.0));
  const std::size_t row = static_cast<std::size_t>(width) * kChannels;
  Image result = {height, width, std::vector<uint8_t>(static_cast<std::size_t>(height) * row)};
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
    const std::size_t from = ((top + y) * static_cast<std::size_t>(image.width) + left) * kChannels;
    std::copy_n(image.pixels.data() + from, row, result.pixels.data() + y * row);
  }
  return result;
}

Expected<Preprocess> ParsePreprocess(std::string_view text) {
  Preprocess preprocess;
  for (const std::string& part : SplitText(text, ',')) {
    if (part == "imagenet") {
      UseImagenet(preprocess);
      continue;
    }
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      return MakeError(ErrorKind::kUsage, "--preprocess: '{}' has no value; write for example resize=256,crop=224",
                       part);
    }
    const std::string_view view = part;
    RLC_RETURN_IF_ERROR(SetOption(preprocess, view.substr(0, equals), view.substr(equals + 1)));
  }
  return preprocess;
}

Expected<Array> PreprocessImage(const Image& image, const Preprocess& preprocess, ElementType type) {
  RLC_CHECK(type == ElementType::kFloat32 || type == ElementType::kUint8);
  RLC_ASSIGN_OR_RETURN(Image prepared, Resized(image, preprocess));
  if (preprocess.crop_height > 0) {
    if (preprocess.crop_height > prepared.height || preprocess.crop_width > prepared.width) {
      return MakeError(ErrorKind::kInvalidInput, "image of {}x{} is smaller than the crop of {}x{}; resize it first",
                       prepared.height, prepared.width, preprocess.crop_height, preprocess.crop_width);
    }
    prepared = CropCentre(prepared, preprocess.crop_height, preprocess.crop_width);
  }
  if (type == ElementType::kUint8) {
    return ToArray<uint8_t>(prepared, preprocess, [](uint8_t pixel, std::size_t) { return pixel; });
  }
  return ToArray<float>(prepared, preprocess, [&](uint8_t pixel, std::size_t channel) {
    return static_cast<float>((pixel * preprocess.scale - preprocess.mean[channel]) / preprocess.deviation[channel]);
  });
}

}  // namespace rlc
