// Bytes into the message of a model. Internal to the onnx layer.
#ifndef RLC_ONNX_PARSE_PROTO_H_
#define RLC_ONNX_PARSE_PROTO_H_

#include <string_view>

#include "rlc/base/file.h"

namespace onnx {
class ModelProto;
}  // namespace onnx

namespace rlc {

// False: not a message of this kind, or damaged.
bool ParseProto(std::string_view bytes, onnx::ModelProto& proto);

// The same from a mapped file, whose large weights are in memory once: each is copied piece by piece, and the pages it
// came from are given back. Any bytes give the same message, or failure, as above.
bool ParseProto(const MappedFile& file, onnx::ModelProto& proto);

}  // namespace rlc

#endif  // RLC_ONNX_PARSE_PROTO_H_
