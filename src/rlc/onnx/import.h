// ONNX files into models. Nothing is lost: what the IR does not know travels along as bytes (`extra`, opaque types and
// attributes, functions) and comes back on export (rlc/onnx/export.h).
#ifndef RLC_ONNX_IMPORT_H_
#define RLC_ONNX_IMPORT_H_

#include <string>

#include "rlc/base/error.h"
#include "rlc/ir/model.h"

namespace rlc {

// Reads an ONNX model; "-" is standard input, whose external data would have to be beside the working folder. The model
// is checked (rlc/onnx/check.h), in topological order, has types where they can be inferred, and its layers are
// numbered. Weights in external files are mapped into memory, not read: keep those files unchanged while the model
// lives. Error, kInvalidInput: not a readable file, not ONNX, or a model that contradicts itself; names the node.
Expected<Model> ReadModel(const std::string& path);

// The same from bytes. `what` names them in errors ("model.onnx"); `folder` is where external data files are looked
// for, which may not leave it (empty: external data is an error).
Expected<Model> ParseModel(std::string bytes, const std::string& what, const std::string& folder);

}  // namespace rlc

#endif  // RLC_ONNX_IMPORT_H_
