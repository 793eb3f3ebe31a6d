#include "rlc/onnx/convert.h"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/version_converter/convert.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rlc/onnx/export_graph.h"
#include "rlc/onnx/guard.h"
#include "rlc/onnx/import_attribute.h"
#include "rlc/onnx/import_graph.h"
#include "rlc/onnx/infer_types.h"
#include "rlc/onnx/proto_tensor.h"
#include "rlc/onnx/proto_type.h"

namespace rlc {
namespace {

constexpr auto kUnavailable = ErrorKind::kUnavailable;
// Constants that may become attributes, or the other way round: axes, pads, scales.
constexpr int64_t kMaxConstantElements = 4096;

// A schema that did not change between two versions needs no conversion.
bool SameSchema(const std::string& op, int from, int to) {
  const auto* before = onnx::OpSchemaRegistry::Schema(op, from, "");
  const auto* after = onnx::OpSchemaRegistry::Schema(op, to, "");
  return !before || (after && before->SinceVersion() == after->SinceVersion());
}

// Bodies keep their meaning; what changed in these ops is the list of types.
bool KeepsItsForm(const Node& node, int from) {
  return node.Is("If") || node.Is("Loop") || node.Is("SequenceMap") || (node.Is("Scan") && from >= 9);
}

std::vector<std::string> SortedAttributes(const onnx::NodeProto& node) {
  std::vector<std::string> attributes;
  for (const auto& attribute : node.attribute()) attributes.push_back(attribute.SerializeAsString());
  std::sort(attributes.begin(), attributes.end());
  return attributes;
}

bool SameNode(const onnx::NodeProto& a, const onnx::NodeProto& b) {
  const auto names = [](const auto& list) {
    std::vector<std::string> result(list.begin(), list.end());
    while (!result.empty() && result.back().empty()) result.pop_back();
    return result;
  };
  return a.op_type() == b.op_type() && names(a.input()) == names(b.input()) && names(a.output()) == names(b.output()) &&
         SortedAttributes(a) == SortedAttributes(b);
}

// Converts one graph, node by node: the library's converter sees models of a single node, so that nothing else of the
// model passes through it.
class GraphConverter {
 public:
  GraphConverter(const Model& model, Graph& graph, int target)
      : model_(model), graph_(graph), from_(graph.opset()), target_(target) {}

  Expected<void> Run() {
    const std::vector<NodeId> nodes = graph_.nodes();
    for (const NodeId id : nodes) {
      RLC_RETURN_IF_ERROR(ConvertBodies(id));
      const Node& node = graph_.node(id);
      if (!node.domain.empty() || model_.IsFunctionCall(node) || SameSchema(node.op, from_, target_)) continue;
      if (KeepsItsForm(node, from_)) continue;
      const std::string where = NodeLabel(graph_, node);
      if (node.HasBody()) {
        return MakeError(kUnavailable, "{}: cannot be converted from opset {} to {}", where, from_, target_);
      }
      RLC_RETURN_IF_ERROR(ConvertNode(id, where));
    }
    graph_.SetOpset("", target_);
    return {};
  }

 private:
  Expected<void> ConvertBodies(NodeId id) {
    const std::vector<Attribute> attributes = graph_.node(id).attributes;
    for (const Attribute& attribute : attributes) {
      const auto* body = std::get_if<Body>(&attribute.value);
      if (!body) continue;
      Graph converted(**body);
      RLC_RETURN_IF_ERROR(GraphConverter(model_, converted, target_).Run());
      graph_.SetAttribute(
          id, Attribute{attribute.name, std::make_shared<const Graph>(std::move(converted)), attribute.extra});
    }
    return {};
  }

  // The node alone, its small constants as initializers, everything else as inputs.
  onnx::ModelProto SingleNodeModel(const Node& node) const {
    onnx::ModelProto proto;
    proto.set_ir_version(std::max<int64_t>(model_.ir_version, 4));
    auto* import = proto.add_opset_import();
    import->set_domain("");
    import->set_version(from_);
    auto* graph = proto.mutable_graph();
    graph->set_name("node");
    NodeToProto(graph_, node, model_.ir_version, Detail::kFull, *graph->add_node());
    std::vector<ValueId> seen;
    for (const ValueId id : node.inputs) {
      if (id == ValueId::kNone || std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
      seen.push_back(id);
      const Value& value = graph_.value(id);
      const Tensor* constant = graph_.constant(id);
      const bool plain =
          constant && constant->size() <= kMaxConstantElements &&
          (IsInteger(constant->dtype()) || IsFloat(constant->dtype()) || constant->dtype() == DType::kBool);
      if (plain) {
        auto* tensor = graph->add_initializer();
        TensorToProto(*constant, true, *tensor);
        tensor->set_name(value.name);
      } else {
        AddEntry(value, *graph->add_input());
      }
    }
    for (const ValueId id : node.outputs) {
      if (id != ValueId::kNone) AddEntry(graph_.value(id), *graph->add_output());
    }
    return proto;
  }

  static void AddEntry(const Value& value, onnx::ValueInfoProto& entry) {
    entry.set_name(value.name);
    TypeToProto(value.type, *entry.mutable_type());
    if (value.type.kind == Type::Kind::kUnknown) entry.mutable_type()->mutable_tensor_type();
  }

  Expected<void> ConvertNode(NodeId id, const std::string& where) {
    const onnx::ModelProto before = SingleNodeModel(graph_.node(id));
    onnx::ModelProto after;
    const std::string place = fmt::format("{}: cannot be converted from opset {} to {}", where, from_, target_);
    RLC_RETURN_IF_ERROR(
        Guarded(kUnavailable, place, [&] { after = onnx::version_conversion::ConvertVersion(before, target_); }));
    if (after.graph().node_size() == 0) return MakeError(kUnavailable, "{}", place);
    if (after.graph().node_size() == 1 && SameNode(before.graph().node(0), after.graph().node(0))) return {};
    return Splice(id, *after.mutable_graph(), place);
  }

  // Puts the converted nodes in the place of the old one.
  Expected<void> Splice(NodeId old, onnx::GraphProto& converted, const std::string& place) {
    const Node original = graph_.node(old);
    std::map<std::string, ValueId> known;  // name in `converted`
    for (const ValueId id : original.inputs) {
      if (id != ValueId::kNone) known.emplace(graph_.value(id).name, id);
    }
    std::map<std::string, size_t> results;  // output name -> index
    for (size_t i = 0; i < original.outputs.size(); ++i) {
      if (original.outputs[i] != ValueId::kNone) results.emplace(graph_.value(original.outputs[i]).name, i);
    }
    ExternalData none("");
    for (auto& tensor : *converted.mutable_initializer()) {
      const std::string name = tensor.name();
      if (known.count(name) > 0) continue;
      RLC_ASSIGN_OR_RETURN(Tensor constant, TakeTensor(tensor, none, place));
      known.emplace(name, graph_.AddInitializer(graph_.UniqueName(original.op), std::move(constant)));
    }
    for (auto& proto : *converted.mutable_node()) {
      RLC_ASSIGN_OR_RETURN(Node node, TakeNode(proto, known, place));
      bool main = false;
      for (const std::string& name : proto.output()) main = main || results.count(name) > 0;
      if (main) {
        node.name = original.name;
        node.extra = original.extra;
        node.layer = original.layer;
      }
      for (const std::string& name : proto.output()) {
        const ValueId value = name.empty() ? ValueId::kNone : graph_.AddValue(graph_.UniqueName(original.op));
        node.outputs.push_back(value);
        if (value != ValueId::kNone) known.insert_or_assign(name, value);
      }
      const NodeId added = graph_.AddNode(std::move(node), old);
      for (int i = 0; i < proto.output_size(); ++i) {
        const auto result = results.find(proto.output(i));
        if (result == results.end()) continue;
        const ValueId value = original.outputs[result->second];
        graph_.TakeOverOutput(added, static_cast<size_t>(i), value);
        known.insert_or_assign(proto.output(i), value);
        results.erase(result);
      }
    }
    if (!results.empty()) return MakeError(kUnavailable, "{}: output \"{}\" got lost", place, results.begin()->first);
    graph_.RemoveNode(old);
    return {};
  }

  static Expected<Node> TakeNode(onnx::NodeProto& proto, const std::map<std::string, ValueId>& known,
                                 const std::string& place) {
    Node node;
    node.op = proto.op_type();
    for (const std::string& name : proto.input()) {
      const auto value = known.find(name);
      if (value == known.end() && !name.empty())
        return MakeError(kUnavailable, "{}: input \"{}\" got lost", place, name);
      node.inputs.push_back(name.empty() ? ValueId::kNone : value->second);
    }
    ExternalData none("");
    const auto no_bodies = [&](onnx::GraphProto&) -> Expected<Body> { return MakeError(kUnavailable, "{}", place); };
    for (auto& attribute : *proto.mutable_attribute()) {
      RLC_ASSIGN_OR_RETURN(Attribute taken, TakeAttribute(attribute, none, no_bodies, place));
      node.attributes.push_back(std::move(taken));
    }
    return node;
  }

  const Model& model_;
  Graph& graph_;
  const int from_;
  const int target_;
};

// A function's body is inlined into the model by some runtimes, so its operator set follows, when nothing in it
// changes.
Expected<void> RaiseFunction(Function& function, int target) {
  onnx::FunctionProto proto;
  proto.ParseFromString(function.bytes);
  for (auto& import : *proto.mutable_opset_import()) {
    if (!import.domain().empty() && import.domain() != "ai.onnx") continue;
    for (const auto& node : proto.node()) {
      const bool ours = node.domain().empty() || node.domain() == "ai.onnx";
      if (!ours || SameSchema(node.op_type(), static_cast<int>(import.version()), target)) continue;
      return MakeError(kUnavailable,
                       "function {}.{}: its {} node changes between opset {} and {}; inline the function first",
                       function.domain, function.name, node.op_type(), import.version(), target);
    }
    import.set_version(target);
  }
  function.bytes = proto.SerializeAsString();
  return {};
}

}  // namespace

Expected<Model> ConvertOpset(const Model& model, int target) {
  Model converted = model;
  const int from = model.graph.opset();
  if (from == 0 || from >= target) return converted;
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  if (const int newest = known.at("").second; target > newest) {
    return MakeError(kUnavailable, "opset {} is newer than {}, the newest that rlc knows", target, newest);
  }
  RLC_RETURN_IF_ERROR(GraphConverter(model, converted.graph, target).Run());
  for (Function& function : converted.functions) RLC_RETURN_IF_ERROR(RaiseFunction(function, target));
  RLC_RETURN_IF_ERROR(OnnxTypeInference(converted).InferTypes(converted.graph));
  return converted;
}

void RaiseIrVersion(Model& model, int64_t version) { model.ir_version = std::max(model.ir_version, version); }

}  // namespace rlc
