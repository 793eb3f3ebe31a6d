// PNG and JPEG through libpng and libjpeg, for image.cc. Both libraries report errors by longjmp; it never leaves these
// functions.
#ifndef RLC_DATA_IMAGE_CODEC_H_
#define RLC_DATA_IMAGE_CODEC_H_

#include <cstddef>
#include <span>
#include <string>

#include "rlc/base/error.h"
#include "rlc/data/image.h"

namespace rlc {

bool LooksLikePng(std::span<const std::byte> bytes);
bool LooksLikeJpeg(std::span<const std::byte> bytes);

// Error: the library's reason, without context.
Expected<Image> DecodePng(std::span<const std::byte> bytes);
Expected<Image> DecodeJpeg(std::span<const std::byte> bytes);

}  // namespace rlc

#endif  // RLC_DATA_IMAGE_CODEC_H_
