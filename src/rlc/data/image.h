// Images as model inputs: decoding (PNG, JPEG), resizing, cropping, normalizing.
#ifndef RLC_DATA_IMAGE_H_
#define RLC_DATA_IMAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/data/array.h"

namespace rlc {

// RGB, 8 bits, [height, width, 3].
struct Image {
  int height = 0;
  int width = 0;
  std::vector<uint8_t> pixels = {};
};

inline constexpr int64_t kMaxImagePixels = int64_t{1} << 26;

// As Pillow's convert("RGB"): grey becomes RGB, alpha is dropped, 16 bits become 8. Error: neither PNG nor JPEG,
// damaged, empty, or more than kMaxImagePixels pixels.
Expected<Image> DecodeImage(std::span<const std::byte> bytes, std::string_view what);
Expected<Image> ReadImage(const std::string& path);
bool HasImageExtension(std::string_view path);  // .png, .jpg, .jpeg

// Triangle filter, widened when shrinking (as Pillow's BILINEAR, to within one level). height, width >= 1.
Image ResizeImage(const Image& image, int height, int width);
// Middle part. Precondition, checked: not larger than the image.
Image CropCentre(const Image& image, int height, int width);

// What happens to an image on its way into the model. Text form: a comma list of
//   resize=256        shorter side to 256, keeping the aspect      resize=224x320   height x width, whatever the aspect
//   crop=224          middle square                                crop=224x320     height x width
//   scale=0.0039      factor on 0..255 (default 1/255)
//   mean=0.485:0.456:0.406   subtracted after scaling, one number or one per channel (default 0)
//   std=0.229:0.224:0.225    divided by, after that (default 1)
//   layout=nchw|nhwc         (default nchw)
//   order=rgb|bgr|grey       (default rgb)
//   imagenet                 resize=256,crop=224 with the mean and std above
struct Preprocess {
  int resize_short = 0;   // 0: not
  int resize_height = 0;  // 0: not
  int resize_width = 0;
  int crop_height = 0;  // 0: not
  int crop_width = 0;
  double scale = 1.0 / 255.0;
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> deviation = {1, 1, 1};
  bool channels_last = false;
  enum class Order { kRgb, kBgr, kGrey } order = Order::kRgb;
};

// Error, kUsage: unknown key, a value that makes no sense (says which).
Expected<Preprocess> ParsePreprocess(std::string_view text);

// One sample without batch axis, [channels, height, width] or [height, width, channels]. float32 as described; uint8:
// pixels as they are. Error: the crop is larger than the image.
Expected<Array> PreprocessImage(const Image& image, const Preprocess& preprocess, ElementType type);

}  // namespace rlc

#endif  // RLC_DATA_IMAGE_H_
