#include "rlc/onnx/import.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <limits>
#include <string_view>
#include <utility>

#include "rlc/base/file.h"
#include "rlc/ir/layers.h"
#include "rlc/onnx/check.h"
#include "rlc/onnx/import_graph.h"
#include "rlc/onnx/infer_types.h"
#include "rlc/onnx/parse_proto.h"
#include "rlc/onnx/proto_type.h"

namespace rlc {
namespace {

constexpr auto kInvalid = ErrorKind::kInvalidInput;

// `Bytes`: text or a mapped file, of that size.
template <typename Bytes>
Expected<onnx::ModelProto> ReadProto(const Bytes& bytes, size_t size) {
  if (size == 0) return MakeError(kInvalid, "the file is empty");
  if (size > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return MakeError(kInvalid, "the file exceeds 2 GB, the limit of ONNX; its weights belong into external data");
  }
  onnx::ModelProto proto;
  if (!ParseProto(bytes, proto)) {
    return MakeError(kInvalid,
                     "not an ONNX model: the file is of another kind, damaged or cut off, or nests If and Loop bodies "
                     "more than 30 deep");
  }
  if (!proto.has_graph()) return MakeError(kInvalid, "not an ONNX model: there is no graph in it");
  return proto;
}

// Operator set versions by domain ("ai.onnx" is "").
Expected<std::map<std::string, int>> ReadOpsets(const onnx::ModelProto& proto) {
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  std::map<std::string, int> opsets;
  for (const auto& import : proto.opset_import()) {
    const std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    const char* label = domain.empty() ? "ai.onnx" : domain.c_str();
    const int64_t version = import.version();
    if (version < 1 || version > std::numeric_limits<int32_t>::max()) {
      return MakeError(kInvalid, "imports version {} of operator set {}, which cannot be", version, label);
    }
    const auto range = known.find(domain);
    if (range != known.end() && version > range->second.second) {
      return MakeError(kInvalid, "needs version {} of operator set {}, rlc knows up to {}; export for an older opset",
                       version, label, range->second.second);
    }
    const auto [place, first] = opsets.emplace(domain, static_cast<int>(version));
    if (!first && place->second != version) {
      return MakeError(kInvalid, "imports operator set {} twice, as versions {} and {}", label, place->second, version);
    }
  }
  if (opsets.empty()) {
    if (proto.ir_version() >= 3)
      return MakeError(kInvalid, "the model imports no operator set (opset_import is empty)");
    opsets.emplace("", 1);
  }
  return opsets;
}

// An output whose declared shape is wrong runs all the same, so the declaration stays in the file (import_graph.h says
// how); rlc itself works with the truth.
void CorrectDeclaration(Graph& graph, ValueId id, const Type& inferred) {
  onnx::GraphProto left;
  left.ParseFromString(graph.value(id).extra);
  auto* entry = left.output_size() > 0 ? left.mutable_output(0) : left.add_output();
  TypeToProto(graph.type(id), *entry->mutable_type());
  graph.SetExtra(id, left.SerializeAsString());
  graph.SetType(id, inferred);
}

Expected<Model> ImportProto(onnx::ModelProto proto, const std::string& folder) {
  if (proto.ir_version() < 1) return MakeError(kInvalid, "the model does not say its IR version");
  if (proto.ir_version() > onnx::Version::IR_VERSION) {
    return MakeError(kInvalid, "IR version {} is newer than {}, the newest that rlc knows; export with an older one",
                     proto.ir_version(), static_cast<int>(onnx::Version::IR_VERSION));
  }
  Model model;
  model.ir_version = proto.ir_version();
  RLC_ASSIGN_OR_RETURN(auto opsets, ReadOpsets(proto));
  ImportContext context{model.ir_version, std::move(opsets), ExternalData(folder)};
  RLC_ASSIGN_OR_RETURN(model.graph, ImportGraph(*proto.mutable_graph(), context));
  model.external_data = context.external.used();
  for (const auto& function : proto.functions()) {
    model.functions.push_back(
        Function{function.domain(), function.name(), function.overload(), function.SerializeAsString()});
  }
  proto.clear_ir_version();
  proto.clear_graph();
  proto.clear_functions();
  proto.SerializeToString(&model.extra);
  RLC_RETURN_IF_ERROR(CheckModel(model));
  OnnxTypeInference inference(model);
  RLC_RETURN_IF_ERROR(inference.InferTypes(model.graph));
  for (const auto& wrong : inference.wrong_declarations()) CorrectDeclaration(model.graph, wrong.value, wrong.inferred);
  NumberLayers(model.graph);
  return model;
}

Expected<Model> ParseFile(const MappedFile& file, const std::string& folder) {
  RLC_ASSIGN_OR_RETURN(auto proto, ReadProto(file, file.bytes().size()));
  return ImportProto(std::move(proto), folder);
}

template <typename T>
Expected<T> Named(Expected<T> result, const std::string& what) {
  if (result) return result;
  return WithContext(std::move(result).error(), what);
}

}  // namespace

Expected<Model> ParseModel(std::string bytes, const std::string& what, const std::string& folder) {
  auto proto = ReadProto(std::string_view(bytes), bytes.size());
  std::string().swap(bytes);  // the message has its own copy: weights are held once from here on
  if (!proto) return WithContext(std::move(proto).error(), what);
  return Named(ImportProto(*std::move(proto), folder), what);
}

Expected<Model> ReadModel(const std::string& path) {
  if (path == "-") {
    RLC_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
    return ParseModel(std::move(bytes), "standard input", ".");
  }
  if (auto file = MappedFile::Open(path)) {
    return Named(ParseFile(**file, FolderOf(path)), path);
  }
  // Missing, a folder (ReadFile says so), or a pipe.
  RLC_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  return ParseModel(std::move(bytes), path, FolderOf(path));
}

}  // namespace rlc
