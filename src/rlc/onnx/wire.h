// The wire format of protobuf, where weights go past it: they are neither read into messages nor written from them.
// Internal to the onnx layer.
#ifndef RLC_ONNX_WIRE_H_
#define RLC_ONNX_WIRE_H_

#include <cstdint>
#include <string>

namespace rlc {

// Field numbers of onnx.proto.
inline constexpr uint32_t kModelGraph = 7;
inline constexpr uint32_t kModelFunctions = 25;
inline constexpr uint32_t kGraphInitializer = 5;
inline constexpr uint32_t kTensorRawData = 9;

inline void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

// Of a field of `size` bytes: a string or a message.
inline void AppendFieldHeader(uint32_t field, uint64_t size, std::string& out) {
  AppendVarint(field << 3 | 2, out);  // wire type 2: length and bytes
  AppendVarint(size, out);
}

}  // namespace rlc

#endif  // RLC_ONNX_WIRE_H_
