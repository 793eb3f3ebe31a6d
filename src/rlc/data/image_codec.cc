#include "rlc/data/image_codec.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>

// After <cstdio>, which it needs and does not include.
#include <jerror.h>
#include <jpeglib.h>

namespace rlc {
namespace {

constexpr int kChannels = 3;
constexpr int kMaxScans = 500;  // of a progressive JPEG; more only make it slow

using Message = std::array<char, 256>;

void SetMessage(Message& message, const char* text) {
  std::strncpy(message.data(), text, message.size() - 1);
  message.back() = '\0';
}

bool TooLarge(int64_t height, int64_t width) { return height > 0 && width > kMaxImagePixels / height; }

// Where a decoder stands. Holds everything that must outlive a longjmp; nothing in the functions that call setjmp has a
// destructor.
struct PngState {
  std::span<const std::byte> rest;
  Message message = {};
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~PngState() { png_destroy_read_struct(&png, &info, nullptr); }
};

void PngRead(png_structp png, png_bytep into, size_t size) {
  auto& rest = static_cast<PngState*>(png_get_io_ptr(png))->rest;
  if (rest.size() < size) png_error(png, "the file is cut off");
  std::memcpy(into, rest.data(), size);
  rest = rest.subspan(size);
}

void PngError(png_structp png, png_const_charp text) {
  SetMessage(static_cast<PngState*>(png_get_error_ptr(png))->message, text);
  png_longjmp(png, 1);
}

void PngWarning(png_structp, png_const_charp) {}

// Up to the size of the picture, every pixel three bytes.
bool PngBegin(PngState& state) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_set_read_fn(state.png, &state, PngRead);
  png_read_info(state.png, state.info);
  png_set_expand(state.png);
  png_set_scale_16(state.png);
  png_set_strip_alpha(state.png);
  png_set_gray_to_rgb(state.png);
  png_set_interlace_handling(state.png);
  png_read_update_info(state.png, state.info);
  return true;
}

bool PngRows(PngState& state, uint8_t* pixels, std::size_t row_bytes, png_uint_32 height, int passes) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 row = 0; row < height; ++row) png_read_row(state.png, pixels + row * row_bytes, nullptr);
  }
  png_read_end(state.png, nullptr);
  return true;
}

Unexpected Failed(const Message& message) { return MakeError(ErrorKind::kInvalidInput, "{}", message.data()); }

struct JpegState {
  jpeg_decompress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  std::jmp_buf jump;
  Message message = {};
  bool cut_off = false;
  ~JpegState() { jpeg_destroy_decompress(&jpeg); }
};

[[noreturn]] void JpegError(j_common_ptr jpeg) {
  auto& state = *static_cast<JpegState*>(jpeg->client_data);
  std::array<char, JMSG_LENGTH_MAX> text;
  jpeg->err->format_message(jpeg, text.data());
  SetMessage(state.message, text.data());
  std::longjmp(state.jump, 1);
}

void JpegMessage(j_common_ptr jpeg, int level) {
  if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF) static_cast<JpegState*>(jpeg->client_data)->cut_off = true;
}

void JpegProgress(j_common_ptr jpeg) {
  const auto* decompress = reinterpret_cast<j_decompress_ptr>(jpeg);
  if (decompress->input_scan_number > kMaxScans) ERREXIT(jpeg, JERR_BAD_PROGRESSION);
}

bool JpegBegin(JpegState& state, std::span<const std::byte> bytes) {
  if (setjmp(state.jump) != 0) return false;
  jpeg_create_decompress(&state.jpeg);
  // It has cleared the structure, apart from err and client_data.
  state.jpeg.progress = &state.progress;
  state.progress.progress_monitor = JpegProgress;
  jpeg_mem_src(&state.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&state.jpeg, TRUE);
  return true;
}

bool JpegRows(JpegState& state, uint8_t* pixels, std::size_t row_bytes) {
  if (setjmp(state.jump) != 0) return false;
  jpeg_start_decompress(&state.jpeg);
  while (state.jpeg.output_scanline < state.jpeg.output_height) {
    JSAMPROW row = pixels + state.jpeg.output_scanline * row_bytes;
    jpeg_read_scanlines(&state.jpeg, &row, 1);
  }
  jpeg_finish_decompress(&state.jpeg);
  return true;
}

Expected<Image> EmptyImage(int64_t height, int64_t width) {
  if (height <= 0 || width <= 0 || TooLarge(height, width)) {
    return MakeError(ErrorKind::kInvalidInput, "it has {} x {} pixels, wanted 1 to {} in all", height, width,
                     kMaxImagePixels);
  }
  Image image = {static_cast<int>(height), static_cast<int>(width), {}};
  image.pixels.resize(static_cast<std::size_t>(height * width * kChannels));
  return image;
}

}  // namespace

bool LooksLikePng(std::span<const std::byte> bytes) {
  return bytes.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 8) == 0;
}

bool LooksLikeJpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0xff} && bytes[1] == std::byte{0xd8} && bytes[2] == std::byte{0xff};
}

Expected<Image> DecodePng(std::span<const std::byte> bytes) {
  PngState state;
  state.rest = bytes;
  state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, PngError, PngWarning);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  if (state.info == nullptr) return MakeError(ErrorKind::kUnavailable, "libpng cannot be used");
  if (!PngBegin(state)) return Failed(state.message);
  const png_uint_32 height = png_get_image_height(state.png, state.info);
  RLC_ASSIGN_OR_RETURN(Image image, EmptyImage(height, png_get_image_width(state.png, state.info)));
  const std::size_t row_bytes = static_cast<std::size_t>(image.width) * kChannels;
  RLC_CHECK_EQ(png_get_rowbytes(state.png, state.info), row_bytes);
  const int passes = png_get_interlace_type(state.png, state.info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
  if (!PngRows(state, image.pixels.data(), row_bytes, height, passes)) return Failed(state.message);
  return image;
}

Expected<Image> DecodeJpeg(std::span<const std::byte> bytes) {
  JpegState state;
  state.jpeg.err = jpeg_std_error(&state.errors);
  state.errors.error_exit = JpegError;
  state.errors.emit_message = JpegMessage;
  state.jpeg.client_data = &state;
  if (!JpegBegin(state, bytes)) return Failed(state.message);
  RLC_ASSIGN_OR_RETURN(Image image, EmptyImage(state.jpeg.image_height, state.jpeg.image_width));
  state.jpeg.out_color_space = JCS_RGB;  // CMYK has no conversion, and says so
  if (!JpegRows(state, image.pixels.data(), static_cast<std::size_t>(image.width) * kChannels)) {
    return Failed(state.message);
  }
  if (state.cut_off) return MakeError(ErrorKind::kInvalidInput, "the file is cut off");
  return image;
}

}  // namespace rlc
