// Writes protobuf messages by hand: the wire format, nothing else.
//
// For the two kinds of file that the trainer writes. libtorch registers the messages of its own copy of onnx in the
// process-wide pool of libprotobuf, and a second copy ends the process at start-up: so nothing here may link the onnx
// library.
#ifndef RLC_TRAIN_WIRE_H_
#define RLC_TRAIN_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace rlc {

// `value` as that many bytes, lowest first: what records of event files begin with, not a field.
void AppendFixed(std::string& out, uint64_t value, int bytes);

// One field each.
void AppendInt(std::string& out, int field, int64_t value);
void AppendFloat(std::string& out, int field, float value);
void AppendDouble(std::string& out, int field, double value);
void AppendBytes(std::string& out, int field, std::string_view bytes);  // strings and messages too

}  // namespace rlc

#endif  // RLC_TRAIN_WIRE_H_
