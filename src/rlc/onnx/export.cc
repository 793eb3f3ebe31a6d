#include "rlc/onnx/export.h"

#include <onnx/onnx_pb.h>

#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/onnx/export_graph.h"
#include "rlc/onnx/wire.h"

namespace rlc {
namespace {

// Protobuf's sizes are int32.
constexpr uint64_t kMaxBytes = std::numeric_limits<int32_t>::max();
constexpr size_t kMinExternalBytes = 1024;
constexpr uint64_t kExternalAlignment = 64;  // a cache line, so that weights can be used where they are mapped

// A sequence of bytes, some of which live in tensors.
class Chunks {
 public:
  std::string& text() {  // to append to
    if (chunks_.empty() || !chunks_.back().view.empty()) chunks_.emplace_back();
    return chunks_.back().text;
  }
  void AddView(std::span<const std::byte> view) {
    if (view.empty()) return;
    text();
    chunks_.back().view = view;
  }
  void Append(Chunks other) {
    for (Chunk& chunk : other.chunks_) chunks_.push_back(std::move(chunk));
  }
  uint64_t size() const {
    uint64_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.text.size() + chunk.view.size();
    return total;
  }
  template <typename Sink>
  Expected<void> Write(Sink&& sink) const {
    for (const Chunk& chunk : chunks_) {
      RLC_RETURN_IF_ERROR(sink(std::as_bytes(std::span(chunk.text))));
      RLC_RETURN_IF_ERROR(sink(chunk.view));
    }
    return {};
  }

 private:
  struct Chunk {
    std::string text;
    std::span<const std::byte> view;  // follows the text
  };
  std::vector<Chunk> chunks_;
};

// The file with the weights, when they are outside.
struct DataFile {
  std::string name;
  Chunks chunks;
  uint64_t size = 0;
};

void MoveOutside(const Tensor& tensor, DataFile& data, onnx::TensorProto& header) {
  const uint64_t offset = (data.size + kExternalAlignment - 1) / kExternalAlignment * kExternalAlignment;
  data.chunks.text().append(offset - data.size, '\0');
  data.chunks.AddView(tensor.bytes());
  data.size = offset + tensor.bytes().size();
  const auto add = [&](const char* key, std::string value) {
    auto* entry = header.add_external_data();
    entry->set_key(key);
    entry->set_value(std::move(value));
  };
  add("location", data.name);
  add("offset", std::to_string(offset));
  add("length", std::to_string(tensor.bytes().size()));
  header.set_data_location(onnx::TensorProto::EXTERNAL);
}

void AppendInitializer(const Value& value, DataFile* data, Chunks& out) {
  const Tensor& tensor = *value.tensor;
  const bool strings = tensor.dtype() == DType::kString;
  const bool outside = data && !strings && tensor.bytes().size() >= kMinExternalBytes;
  onnx::TensorProto header_proto;
  InitializerToProto(value, strings, header_proto);
  if (outside) MoveOutside(tensor, *data, header_proto);
  std::string header = header_proto.SerializeAsString();
  const bool raw = !outside && !strings;
  if (raw) AppendFieldHeader(kTensorRawData, tensor.bytes().size(), header);
  AppendFieldHeader(kGraphInitializer, header.size() + (raw ? tensor.bytes().size() : 0), out.text());
  out.text() += header;
  if (raw) out.AddView(tensor.bytes());
}

std::string ModelHeader(const Model& model) {
  onnx::ModelProto proto;
  if (!model.extra.empty()) proto.ParseFromString(model.extra);
  proto.set_ir_version(model.ir_version);
  // The file's own list of operator sets keeps its order and spelling.
  std::set<std::string> listed;
  for (auto& import : *proto.mutable_opset_import()) {
    const std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    listed.insert(domain);
    if (const int version = model.graph.opset(domain); version != 0) import.set_version(version);
  }
  for (const auto& [domain, version] : model.graph.opsets()) {
    if (listed.count(domain) > 0) continue;
    auto* import = proto.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  return proto.SerializeAsString();
}

// Error: nodes and small tensors alone exceed what protobuf can write.
Expected<Chunks> ModelToChunks(const Model& model, DataFile* data) {
  onnx::GraphProto skeleton;
  GraphToProto(model.graph, model.ir_version, false, Weights::kOutside, skeleton);
  if (skeleton.ByteSizeLong() > kMaxBytes) {
    return MakeError(ErrorKind::kUnavailable,
                     "the model's nodes alone exceed 2 GB, the limit of ONNX files; turn large Constant nodes into "
                     "initializers");
  }
  Chunks graph;
  skeleton.AppendToString(&graph.text());
  for (const ValueId id : model.graph.initializers()) {
    if (model.graph.value(id).tensor) AppendInitializer(model.graph.value(id), data, graph);
  }
  Chunks all;
  all.text() = ModelHeader(model);
  AppendFieldHeader(kModelGraph, graph.size(), all.text());
  all.Append(std::move(graph));
  for (const Function& function : model.functions) {
    AppendFieldHeader(kModelFunctions, function.bytes.size(), all.text());
    all.text() += function.bytes;
  }
  return all;
}

Unexpected TooLarge() {
  return MakeError(ErrorKind::kUnavailable,
                   "the model exceeds 2 GB, the limit of a single ONNX file; write it to a named file, so that its "
                   "weights can go into a second one beside it");
}

Expected<void> WriteChunks(const Chunks& chunks, AtomicFile& file) {
  return chunks.Write([&](std::span<const std::byte> bytes) { return file.Write(bytes); });
}

}  // namespace

std::string SerializeHeader(const Model& model) {
  onnx::ModelProto proto;
  proto.ParseFromString(model.extra);
  proto.clear_opset_import();
  return proto.SerializeAsString();
}

Expected<std::string> SerializeModel(const Model& model) {
  RLC_ASSIGN_OR_RETURN(const Chunks chunks, ModelToChunks(model, nullptr));
  if (chunks.size() > kMaxBytes) return TooLarge();
  std::string bytes;
  bytes.reserve(chunks.size());
  RLC_RETURN_IF_ERROR(chunks.Write([&](std::span<const std::byte> piece) -> Expected<void> {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  }));
  return bytes;
}

Expected<void> WriteModel(const Model& model, const std::string& path, WriteOptions options) {
  const bool can_split = path != "-";
  DataFile data{BaseName(path) + ".data", {}, 0};
  bool split = options.external_data && can_split;
  RLC_ASSIGN_OR_RETURN(Chunks chunks, ModelToChunks(model, split ? &data : nullptr));
  if (chunks.size() > kMaxBytes && can_split && !split) {
    split = true;
    RLC_ASSIGN_OR_RETURN(chunks, ModelToChunks(model, &data));
  }
  if (chunks.size() > kMaxBytes) return TooLarge();
  RLC_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RLC_RETURN_IF_ERROR(WriteChunks(chunks, file));
  if (split && data.size > 0) {
    // The weights first: a model is never there without them.
    RLC_ASSIGN_OR_RETURN(AtomicFile weights, AtomicFile::Create(path + ".data"));
    RLC_RETURN_IF_ERROR(WriteChunks(data.chunks, weights));
    RLC_RETURN_IF_ERROR(weights.Commit());
  }
  return file.Commit();
}

}  // namespace rlc
