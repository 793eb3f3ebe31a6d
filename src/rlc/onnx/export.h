// Models into ONNX files. Same model, same bytes.
#ifndef RLC_ONNX_EXPORT_H_
#define RLC_ONNX_EXPORT_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// Model as the bytes of a self-contained ONNX file. Error, kUnavailable: it would exceed 2 GB, the limit of the format;
// WriteModel can then put the weights into a file of their own.
Expected<std::string> SerializeModel(const Model& model);

// What a file says of itself: producer, doc string, metadata, training information. Without versions, operator sets,
// graph and functions. For comparing; not a file.
std::string SerializeHeader(const Model& model);

struct WriteOptions {
  // Weights of 1 KB and more go to NAME.data beside the model (NAME: the model's file name). Happens by itself when the
  // model would exceed 2 GB.
  bool external_data = false;
};

// Writes the model to `path` ("-": standard output, never with external data). Either the whole file is there
// afterwards or nothing has changed. Error, kUnavailable: cannot be written.
Expected<void> WriteModel(const Model& model, const std::string& path, WriteOptions options = {});

}  // namespace rlc

#endif  // RLC_ONNX_EXPORT_H_
