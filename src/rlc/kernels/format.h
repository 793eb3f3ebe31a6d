// How a tensor lies in memory between the steps of a compiled region.
#ifndef RLC_KERNELS_FORMAT_H_
#define RLC_KERNELS_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rlc {

enum class Element { kF32, kBF16 };

// A value; copies share. Dimensions are those of ONNX ([batch, channels, height, width]), whatever the order in memory.
class Format {
 public:
  struct Impl;  // oneDNN's memory descriptor (onednn-inl.h)

  Format() = default;
  explicit Format(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  // Dense, row-major.
  static Format Plain(const std::vector<int64_t>& dims, Element element = Element::kF32);
  // Channels (the second of four dimensions) in blocks of `block` = 8 or 16, the last one filled up with zeros:
  // [batch, ceil(channels / block), height, width, block].
  static Format Blocked(const std::vector<int64_t>& dims, int block, Element element = Element::kF32);

  // [batch, height, width, channels], dense.
  static Format ChannelsLast(const std::vector<int64_t>& dims, Element element = Element::kF32);

  const std::vector<int64_t>& dims() const;
  Element element() const;
  size_t bytes() const;  // that it takes, filling included
  bool plain() const;
  int block() const;  // 8 or 16 when it is Blocked(), else 0
  bool channels_last() const;
  std::string Text() const;  // "f32 [1,64,56,56] in blocks of 16", "bf16 [1,64,56,56] acdb"
  bool operator==(const Format& other) const;
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// The channel block that kernels prefer on this CPU: 16 with AVX-512, else 8.
int ChannelBlock();

}  // namespace rlc

#endif  // RLC_KERNELS_FORMAT_H_
