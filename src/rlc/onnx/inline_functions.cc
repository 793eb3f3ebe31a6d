#include "rlc/onnx/inline_functions.h"

#include <onnx/inliner/inliner.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <utility>

#include "rlc/onnx/export.h"
#include "rlc/onnx/guard.h"
#include "rlc/onnx/import.h"

namespace rlc {

Expected<Model> InlineFunctions(const Model& model) {
  RLC_ASSIGN_OR_RETURN(std::string bytes, SerializeModel(model));
  RLC_RETURN_IF_ERROR(Guarded(ErrorKind::kUnavailable, "inlining the model's functions", [&] {
    onnx::ModelProto proto;
    proto.ParseFromString(bytes);
    onnx::inliner::InlineLocalFunctions(proto, /*convert_version=*/true);
    bytes = proto.SerializeAsString();
  }));
  return ParseModel(std::move(bytes), "the model with its functions inlined", /*folder=*/"");
}

}  // namespace rlc
