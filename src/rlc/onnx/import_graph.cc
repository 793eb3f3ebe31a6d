#include "rlc/onnx/import_graph.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rlc/onnx/import_attribute.h"
#include "rlc/onnx/proto_type.h"

namespace rlc {
namespace {

constexpr auto kInvalid = ErrorKind::kInvalidInput;

std::string Label(const std::string& name, const std::string& op, const std::string& output) {
  if (!name.empty()) return fmt::format("node \"{}\" ({})", name, op);
  if (!output.empty()) return fmt::format("the {} node that writes \"{}\"", op, output);
  return fmt::format("a {} node without outputs", op);
}

std::string ProtoLabel(const onnx::NodeProto& node) {
  return Label(node.name(), node.op_type(), node.output_size() > 0 ? node.output(0) : std::string());
}

class GraphImporter {
 public:
  GraphImporter(onnx::GraphProto& proto, ImportContext& context, const GraphImporter* outer)
      : proto_(proto), context_(context), outer_(outer) {}

  Expected<Graph> Run();

 private:
  void CollectNames(const onnx::GraphProto& proto);
  Expected<void> DeclareInputs();
  Expected<void> DeclareInitializers();
  Expected<void> DeclareNodeOutputs();
  Expected<void> AddNodes();
  Expected<Node> TakeNode(onnx::NodeProto& proto, const std::string& where);
  Expected<void> TakeAttributes(onnx::NodeProto& proto, const std::string& where, Node& node);
  Expected<void> AddOutputs();
  void AddRecords();
  void RenameAnnotations();
  Expected<void> Sort();
  void Finish();

  // The name under which `name` of this file's scope is known in the IR; a new one when it would hide an outer value.
  std::string LocalName(const std::string& name);
  Expected<void> CheckFree(const std::string& name, const char* what) const;
  // IR name of a value that is visible in this scope; null when there is none.
  const std::string* Visible(const std::string& name) const;
  // The value that `name` means in this scope; of an outer graph: declared as captured first.
  Expected<ValueId> Resolve(const std::string& name, const std::string& where);
  Expected<Body> ImportBody(onnx::GraphProto& proto);
  // Keeps what is left of an entry for a value.
  template <typename Entry, typename Add>
  void Keep(ValueId value, Entry& entry, Add add);

  onnx::GraphProto& proto_;
  ImportContext& context_;
  const GraphImporter* outer_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> local_;     // name in the file -> value
  std::unordered_map<std::string, ValueId> captured_;  // the same, of outer graphs
  std::unordered_map<std::string, std::string> renamed_;
  std::unordered_map<ValueId, onnx::GraphProto> leftovers_;
  std::unordered_set<const onnx::TensorProto*> defaults_;  // consumed as defaults of inputs
  std::vector<std::string> input_order_;                   // of the file, IR 3 and older
};

void GraphImporter::CollectNames(const onnx::GraphProto& proto) {
  auto& names = *context_.names;
  for (const auto& input : proto.input()) names.insert(input.name());
  for (const auto& tensor : proto.initializer()) names.insert(tensor.name());
  for (const auto& tensor : proto.sparse_initializer()) names.insert(tensor.values().name());
  for (const auto& node : proto.node()) {
    names.insert(node.output().begin(), node.output().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) CollectNames(attribute.g());
      for (const auto& body : attribute.graphs()) CollectNames(body);
    }
  }
}

const std::string* GraphImporter::Visible(const std::string& name) const {
  if (auto it = local_.find(name); it != local_.end()) return &graph_.value(it->second).name;
  return outer_ ? outer_->Visible(name) : nullptr;
}

std::string GraphImporter::LocalName(const std::string& name) {
  if (!outer_ || !outer_->Visible(name)) return name;
  std::string fresh;
  do {
    fresh = fmt::format("{}_rlc_inner{}", name, context_.next_rename++);
  } while (!context_.names->insert(fresh).second);
  renamed_.emplace(name, fresh);
  return fresh;
}

Expected<void> GraphImporter::CheckFree(const std::string& name, const char* what) const {
  if (name.empty()) return MakeError(kInvalid, "graph \"{}\": {} has no name", proto_.name(), what);
  if (local_.count(name) > 0) {
    return MakeError(kInvalid, "graph \"{}\": {} \"{}\" has a name that is already taken", proto_.name(), what, name);
  }
  return {};
}

template <typename Entry, typename Add>
void GraphImporter::Keep(ValueId value, Entry& entry, Add add) {
  entry.clear_name();
  if (entry.ByteSizeLong() > 0) *add(leftovers_[value]) = std::move(entry);
}

Expected<void> GraphImporter::DeclareInputs() {
  std::unordered_map<std::string, onnx::TensorProto*> defaults;
  for (auto& tensor : *proto_.mutable_initializer()) defaults.emplace(tensor.name(), &tensor);
  for (const auto& tensor : proto_.sparse_initializer()) defaults.emplace(tensor.values().name(), nullptr);
  for (auto& input : *proto_.mutable_input()) {
    const std::string name = input.name();
    RLC_RETURN_IF_ERROR(CheckFree(name, "input"));
    const auto initializer = defaults.find(name);
    if (initializer != defaults.end() && (!outer_ && context_.ir_version < 4)) {
      // A constant. Its entry is rebuilt on export, so only what a type cannot say is kept.
      if (std::find(input_order_.begin(), input_order_.end(), name) != input_order_.end()) {
        return MakeError(kInvalid, "graph \"{}\": input \"{}\" is listed twice", proto_.name(), name);
      }
      input_order_.push_back(name);
      continue;
    }
    Type type = TypeFromProto(input.type());
    const bool untyped = type.kind == Type::Kind::kUnknown || (type.is_tensor() && type.elem == DType::kUndefined);
    if (!outer_ && untyped) return MakeError(kInvalid, "input \"{}\" has no type; declare its element type", name);
    ValueId value = ValueId::kNone;
    if (initializer != defaults.end()) {
      if (initializer->second == nullptr) {
        return MakeError(kInvalid, "input \"{}\" has a sparse default, which rlc does not support", name);
      }
      const std::string where = fmt::format("initializer \"{}\"", name);
      RLC_ASSIGN_OR_RETURN(Tensor tensor, TakeTensor(*initializer->second, context_.external, where));
      value = graph_.AddOverridable(LocalName(name), std::move(type), std::move(tensor));
      defaults_.insert(initializer->second);
      Keep(value, *initializer->second, [](auto& left) { return left.add_initializer(); });
    } else {
      value = graph_.AddInput(LocalName(name), std::move(type));
    }
    input_order_.push_back(name);
    local_.emplace(name, value);
    input.clear_type();
    Keep(value, input, [](auto& left) { return left.add_input(); });
  }
  return {};
}

Expected<void> GraphImporter::DeclareInitializers() {
  for (auto& proto : *proto_.mutable_initializer()) {
    if (defaults_.count(&proto) > 0) continue;
    const std::string name = proto.name();
    RLC_RETURN_IF_ERROR(CheckFree(name, "initializer"));
    RLC_ASSIGN_OR_RETURN(Tensor tensor, TakeTensor(proto, context_.external, fmt::format("initializer \"{}\"", name)));
    const ValueId value = graph_.AddInitializer(LocalName(name), std::move(tensor));
    local_.emplace(name, value);
    Keep(value, proto, [](auto& left) { return left.add_initializer(); });
  }
  for (auto& proto : *proto_.mutable_sparse_initializer()) {
    const std::string name = proto.values().name();
    RLC_RETURN_IF_ERROR(CheckFree(name, "sparse initializer"));
    const std::string known = LocalName(name);
    proto.mutable_values()->set_name(known);
    local_.emplace(name, graph_.AddSparseInitializer(known, proto.SerializeAsString()));
  }
  return {};
}

Expected<void> GraphImporter::DeclareNodeOutputs() {
  for (const auto& node : proto_.node()) {
    for (const std::string& name : node.output()) {
      if (name.empty()) continue;
      if (local_.count(name) > 0) {
        return MakeError(kInvalid, "{}: writes \"{}\", which is already defined elsewhere", ProtoLabel(node), name);
      }
      local_.emplace(name, graph_.AddValue(LocalName(name)));
    }
  }
  return {};
}

Expected<ValueId> GraphImporter::Resolve(const std::string& name, const std::string& where) {
  if (auto it = local_.find(name); it != local_.end()) return it->second;
  if (auto it = captured_.find(name); it != captured_.end()) return it->second;
  const std::string* known = outer_ ? outer_->Visible(name) : nullptr;
  if (!known) return MakeError(kInvalid, "{}: reads \"{}\", which nothing defines", where, name);
  ValueId value = graph_.Find(*known);  // a body in this graph may have captured it already
  if (value == ValueId::kNone) value = graph_.AddCaptured(*known);
  captured_.emplace(name, value);
  return value;
}

Expected<Body> GraphImporter::ImportBody(onnx::GraphProto& proto) {
  GraphImporter importer(proto, context_, this);
  RLC_ASSIGN_OR_RETURN(Graph body, importer.Run());
  return std::make_shared<const Graph>(std::move(body));
}

Expected<void> GraphImporter::TakeAttributes(onnx::NodeProto& proto, const std::string& where, Node& node) {
  for (auto& attribute_proto : *proto.mutable_attribute()) {
    auto attribute =
        TakeAttribute(attribute_proto, context_.external, [this](auto& body) { return ImportBody(body); }, where);
    if (!attribute) return Unexpected(std::move(attribute).error());
    if (node.FindAttribute(attribute->name)) {
      return MakeError(kInvalid, "{}: attribute {} is given twice", where, attribute->name);
    }
    node.attributes.push_back(*std::move(attribute));
  }
  proto.clear_attribute();
  return {};
}

Expected<Node> GraphImporter::TakeNode(onnx::NodeProto& proto, const std::string& where) {
  Node node;
  node.op = proto.op_type();
  node.name = proto.name();
  node.overload = proto.overload();
  node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
  if (node.op.empty()) return MakeError(kInvalid, "{}: has no operator", where);
  for (const std::string& name : proto.input()) {
    ValueId value = ValueId::kNone;
    if (!name.empty()) {
      RLC_ASSIGN_OR_RETURN(value, Resolve(name, where));
    }
    node.inputs.push_back(value);
  }
  for (const std::string& name : proto.output()) {
    node.outputs.push_back(name.empty() ? ValueId::kNone : local_.at(name));
  }
  RLC_RETURN_IF_ERROR(TakeAttributes(proto, where, node));
  proto.clear_input();
  proto.clear_output();
  proto.clear_op_type();
  // Fields that are there but empty stay in the rest, and so does the spelling "ai.onnx".
  if (!node.name.empty()) proto.clear_name();
  if (!node.overload.empty()) proto.clear_overload();
  if (!node.domain.empty()) proto.clear_domain();
  if (proto.ByteSizeLong() > 0) proto.SerializeToString(&node.extra);
  return node;
}

Expected<void> GraphImporter::AddNodes() {
  for (auto& proto : *proto_.mutable_node()) {
    const std::string where = ProtoLabel(proto);
    RLC_ASSIGN_OR_RETURN(Node node, TakeNode(proto, where));
    graph_.AddNode(std::move(node));
  }
  return {};
}

Expected<void> GraphImporter::AddOutputs() {
  for (auto& output : *proto_.mutable_output()) {
    const std::string name = output.name();
    const auto it = local_.find(name);
    if (it == local_.end()) {
      return MakeError(kInvalid, "graph \"{}\": nothing defines its output \"{}\"", proto_.name(), name);
    }
    const ValueId id = it->second;
    const Type declared = TypeFromProto(output.type());
    const bool first = !graph_.is_output(id);
    graph_.AddOutput(id);
    if (graph_.value(id).kind == Value::Kind::kNode && first && declared.kind != Type::Kind::kUnknown) {
      graph_.SetType(id, declared);
    }
    if (!first) continue;
    if (graph_.type(id) == declared && declared.kind != Type::Kind::kUnknown) {
      output.clear_type();
    } else {
      output.mutable_type();  // kept as the file has it, even if that is nothing
    }
    Keep(id, output, [](auto& left) { return left.add_output(); });
  }
  return {};
}

void GraphImporter::AddRecords() {
  for (auto& record : *proto_.mutable_value_info()) {
    const auto it = local_.find(record.name());
    if (it == local_.end()) continue;  // of a value that is no more
    const Value& value = graph_.value(it->second);
    if (value.recorded) continue;
    if (value.kind == Value::Kind::kNode && value.output_uses == 0) {
      graph_.SetType(it->second, TypeFromProto(record.type()));
    }
    graph_.SetRecorded(it->second, true);
    record.clear_type();
    Keep(it->second, record, [](auto& left) { return left.add_value_info(); });
  }
}

void GraphImporter::RenameAnnotations() {
  if (renamed_.empty()) return;
  const auto rename = [this](std::string* name) {
    if (auto it = renamed_.find(*name); it != renamed_.end()) *name = it->second;
  };
  for (auto& annotation : *proto_.mutable_quantization_annotation()) {
    rename(annotation.mutable_tensor_name());
    for (auto& entry : *annotation.mutable_quant_parameter_tensor_names()) rename(entry.mutable_value());
  }
}

Expected<void> GraphImporter::Sort() {
  if (graph_.SortTopologically()) return {};
  std::unordered_set<ValueId> later;
  for (const NodeId id : graph_.nodes()) {
    for (const ValueId output : graph_.node(id).outputs) later.insert(output);
  }
  later.erase(ValueId::kNone);
  for (const NodeId id : graph_.nodes()) {
    const Node& node = graph_.node(id);
    for (const auto* list : {&node.inputs, &node.captures}) {
      for (const ValueId input : *list) {
        if (later.count(input) == 0) continue;
        return MakeError(kInvalid, "{}: needs \"{}\", which needs this node's output in turn (a cycle)",
                         NodeLabel(graph_, node), graph_.value(input).name);
      }
    }
    for (const ValueId output : node.outputs) later.erase(output);
  }
  return MakeError(kInvalid, "graph \"{}\" has a cycle", proto_.name());
}

void GraphImporter::Finish() {
  for (auto& [value, left] : leftovers_) graph_.SetExtra(value, left.SerializeAsString());
  graph_.SetName(proto_.name());
  if (!proto_.name().empty()) proto_.clear_name();
  proto_.clear_node();
  proto_.clear_initializer();
  proto_.clear_sparse_initializer();
  proto_.clear_input();
  proto_.clear_output();
  proto_.clear_value_info();
  // IR 3: constants are inputs too; their places among the inputs, unless they simply follow them.
  if (!outer_ && context_.ir_version < 4) {
    std::vector<std::string> usual;
    for (const ValueId id : graph_.inputs()) usual.push_back(graph_.value(id).name);
    for (const ValueId id : graph_.initializers()) usual.push_back(graph_.value(id).name);
    if (usual != input_order_) {
      for (const std::string& name : input_order_) proto_.add_input()->set_name(name);
    }
  }
  if (proto_.ByteSizeLong() > 0) proto_.SerializeToString(&graph_.extra);
}

Expected<Graph> GraphImporter::Run() {
  if (!outer_) CollectNames(proto_);
  graph_.SetScope(context_.names, outer_ ? fmt::format("b{}_", context_.next_body++) : "");
  for (const auto& [domain, version] : context_.opsets) graph_.SetOpset(domain, version);
  RLC_RETURN_IF_ERROR(DeclareInputs());
  RLC_RETURN_IF_ERROR(DeclareInitializers());
  RLC_RETURN_IF_ERROR(DeclareNodeOutputs());
  RLC_RETURN_IF_ERROR(AddNodes());
  RLC_RETURN_IF_ERROR(AddOutputs());
  AddRecords();
  RenameAnnotations();
  RLC_RETURN_IF_ERROR(Sort());
  Finish();
  return std::move(graph_);
}

}  // namespace

std::string NodeLabel(const Graph& graph, const Node& node) {
  for (const ValueId output : node.outputs) {
    if (output != ValueId::kNone) return Label(node.name, node.op, graph.value(output).name);
  }
  return Label(node.name, node.op, "");
}

Expected<Graph> ImportGraph(onnx::GraphProto& proto, ImportContext& context) {
  return GraphImporter(proto, context, nullptr).Run();
}

}  // namespace rlc
