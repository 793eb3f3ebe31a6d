#include "rlc/ir/verify.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace rlc {
namespace {

template <typename... Args>
Unexpected Broken(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorKind::kInternal, format, std::forward<Args>(args)...);
}

// "Conv 'conv_1' (output c)": whatever names the node has.
std::string Describe(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::string text = node.domain.empty() ? node.op : node.domain + "::" + node.op;
  if (!node.name.empty()) text += " '" + node.name + "'";
  for (const ValueId output : node.outputs) {
    if (!graph.alive(output)) continue;
    return text + " (output " + graph.value(output).name + ")";
  }
  return text;
}

class Verifier {
 public:
  Verifier(const Graph& graph, std::vector<const Graph*> enclosing)
      : graph_(graph),
        enclosing_(std::move(enclosing)),
        uses_(graph.value_limit()),
        output_uses_(graph.value_limit()) {}

  Expected<void> Verify();

 private:
  Expected<void> CheckOrder();
  Expected<void> CheckNode(NodeId id);
  Expected<void> CheckRead(NodeId reader, ValueId read);
  Expected<void> CheckBodies(NodeId id);
  Expected<void> CheckInterface();
  Expected<void> CheckInitializers();
  Expected<void> CheckValue(ValueId id);
  Expected<void> CheckOrigin(ValueId id);
  Expected<void> CheckUses(ValueId id);
  bool InEnclosing(const std::string& name) const {
    return std::any_of(enclosing_.begin(), enclosing_.end(),
                       [&](const Graph* graph) { return graph->Find(name) != ValueId::kNone; });
  }

  const Graph& graph_;
  std::vector<const Graph*> enclosing_;
  std::vector<std::vector<Use>> uses_;  // as the nodes say
  std::vector<int> output_uses_;
  std::unordered_set<ValueId> inputs_, initializers_;
};

size_t Index(ValueId id) { return static_cast<size_t>(static_cast<int32_t>(id)); }

Expected<void> Verifier::Verify() {
  RLC_RETURN_IF_ERROR(CheckOrder());
  for (const NodeId id : graph_.nodes()) RLC_RETURN_IF_ERROR(CheckNode(id));
  RLC_RETURN_IF_ERROR(CheckInterface());
  RLC_RETURN_IF_ERROR(CheckInitializers());
  for (const ValueId id : graph_.values()) RLC_RETURN_IF_ERROR(CheckValue(id));
  for (const NodeId id : graph_.nodes()) RLC_RETURN_IF_ERROR(CheckBodies(id));
  return {};
}

Expected<void> Verifier::CheckOrder() {
  size_t alive = 0;
  for (size_t i = 0; i < graph_.node_limit(); ++i) alive += graph_.alive(static_cast<NodeId>(i)) ? 1 : 0;
  if (alive != graph_.nodes().size())
    return Broken("{} nodes are alive, {} are in order", alive, graph_.nodes().size());
  for (size_t i = 0; i < graph_.nodes().size(); ++i) {
    const NodeId id = graph_.nodes()[i];
    if (!graph_.alive(id)) return Broken("a removed node is still in the order, at {}", i);
    if (i > 0 && !graph_.Before(graph_.nodes()[i - 1], id)) {
      return Broken("{}: the order of nodes disagrees with their labels", Describe(graph_, id));
    }
  }
  return {};
}

Expected<void> Verifier::CheckRead(NodeId reader, ValueId read) {
  if (!graph_.alive(read)) return Broken("{}: reads a value that does not exist", Describe(graph_, reader));
  const Value& value = graph_.value(read);
  if (value.producer != NodeId::kNone && graph_.alive(value.producer) && !graph_.Before(value.producer, reader)) {
    return Broken("{}: reads {} before {} computes it", Describe(graph_, reader), value.name,
                  Describe(graph_, value.producer));
  }
  return {};
}

Expected<void> Verifier::CheckNode(NodeId id) {
  const Node& node = graph_.node(id);
  if (node.op.empty()) return Broken("{}: a node without an operator", Describe(graph_, id));
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == ValueId::kNone) continue;
    RLC_RETURN_IF_ERROR(CheckRead(id, node.inputs[i]));
    uses_[Index(node.inputs[i])].push_back(Use{id, static_cast<int>(i)});
  }
  for (const ValueId captured : node.captures) {
    RLC_RETURN_IF_ERROR(CheckRead(id, captured));
    uses_[Index(captured)].push_back(Use{id, Use::kCapture});
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId output = node.outputs[i];
    if (output == ValueId::kNone) continue;
    if (!graph_.alive(output)) return Broken("{}: output {} does not exist", Describe(graph_, id), i);
    const Value& value = graph_.value(output);
    if (value.kind != Value::Kind::kNode || value.producer != id || value.output != static_cast<int>(i)) {
      return Broken("{}: output {} is {}, which has another origin", Describe(graph_, id), i, value.name);
    }
  }
  std::set<std::string_view> names;
  for (const Attribute& attribute : node.attributes) {
    if (!names.insert(attribute.name).second) {
      return Broken("{}: attribute {} is there twice", Describe(graph_, id), attribute.name);
    }
  }
  return {};
}

Expected<void> Verifier::CheckBodies(NodeId id) {
  const Node& node = graph_.node(id);
  std::unordered_set<std::string> captured;
  for (const Attribute& attribute : node.attributes) {
    for (const Body& body : BodiesOf(attribute.value)) {
      if (body == nullptr) return Broken("{}: attribute {} has no body", Describe(graph_, id), attribute.name);
      for (const std::string& name : body->CapturedNames()) captured.insert(name);
      std::vector<const Graph*> scopes = enclosing_;
      scopes.push_back(&graph_);
      auto verified = Verifier(*body, std::move(scopes)).Verify();
      if (!verified) {
        return WithContext(verified.error(), fmt::format("{}: in {}", Describe(graph_, id), attribute.name));
      }
    }
  }
  if (captured.size() != node.captures.size()) {
    return Broken("{}: its bodies read {} outer values, it lists {}", Describe(graph_, id), captured.size(),
                  node.captures.size());
  }
  for (const ValueId value : node.captures) {
    if (!captured.contains(graph_.value(value).name)) {
      return Broken("{}: lists {} as read by its bodies, which do not", Describe(graph_, id), graph_.value(value).name);
    }
  }
  return {};
}

Expected<void> Verifier::CheckInterface() {
  for (const ValueId id : graph_.inputs()) {
    if (!graph_.alive(id)) return Broken("an input of the graph does not exist");
    const Value& value = graph_.value(id);
    const bool kind = value.kind == Value::Kind::kInput || value.kind == Value::Kind::kOverridable;
    if (!kind || !inputs_.insert(id).second) {
      return Broken("input {} of the graph is listed twice or computed inside", value.name);
    }
  }
  for (const ValueId id : graph_.outputs()) {
    if (!graph_.alive(id)) return Broken("an output of the graph does not exist");
    ++output_uses_[Index(id)];
  }
  return {};
}

Expected<void> Verifier::CheckInitializers() {
  for (const ValueId id : graph_.initializers()) {
    if (!graph_.alive(id)) return Broken("an initializer of the graph does not exist");
    const Value& value = graph_.value(id);
    const bool kind = value.kind == Value::Kind::kInitializer || value.kind == Value::Kind::kOverridable;
    if (!kind || !initializers_.insert(id).second) {
      return Broken("initializer {} is listed twice or has another origin", value.name);
    }
  }
  return {};
}

Expected<void> Verifier::CheckOrigin(ValueId id) {
  const Value& value = graph_.value(id);
  if (value.kind != Value::Kind::kNode) {
    if (value.producer != NodeId::kNone) return Broken("{}: no node's output, but one produces it", value.name);
  } else {
    const bool produced =
        graph_.alive(value.producer) && graph_.node(value.producer).output(static_cast<size_t>(value.output)) == id;
    if (!produced) return Broken("{}: no node produces it", value.name);
  }
  const bool overridable = value.kind == Value::Kind::kOverridable;
  if ((value.kind == Value::Kind::kInput || overridable) != inputs_.contains(id)) {
    return Broken("{}: an input that the interface does not list", value.name);
  }
  const bool stored = value.kind == Value::Kind::kInitializer || overridable;
  if (stored != initializers_.contains(id)) return Broken("{}: missing among the initializers", value.name);
  if (value.kind == Value::Kind::kCaptured && graph_.HasReaders(id) && !InEnclosing(value.name)) {
    return Broken("{}: read, but no node, input or initializer of this or an enclosing graph has that name",
                  value.name);
  }
  if (stored && value.tensor.has_value() != value.sparse.empty()) {
    return Broken("{}: needs either a dense or a sparse value", value.name);
  }
  return {};
}

Expected<void> Verifier::CheckUses(ValueId id) {
  const Value& value = graph_.value(id);
  const auto sorted = [](std::vector<Use> uses) {
    std::sort(uses.begin(), uses.end(),
              [](const Use& a, const Use& b) { return std::pair(a.node, a.input) < std::pair(b.node, b.input); });
    return uses;
  };
  if (sorted(value.uses) != sorted(uses_[Index(id)])) {
    return Broken("{}: its use list has {} entries, nodes read it {} times or elsewhere", value.name, value.uses.size(),
                  uses_[Index(id)].size());
  }
  if (value.output_uses != output_uses_[Index(id)]) {
    return Broken("{}: counted {} times among the outputs, it is there {} times", value.name, value.output_uses,
                  output_uses_[Index(id)]);
  }
  return {};
}

Expected<void> Verifier::CheckValue(ValueId id) {
  const Value& value = graph_.value(id);
  if (value.name.empty() || graph_.Find(value.name) != id) return Broken("'{}': not found by this name", value.name);
  if (value.kind != Value::Kind::kCaptured && InEnclosing(value.name)) {
    return Broken("{}: hides the value of that name in an enclosing graph", value.name);
  }
  RLC_RETURN_IF_ERROR(CheckOrigin(id));
  RLC_RETURN_IF_ERROR(CheckUses(id));
  if (!value.tensor || !value.type.is_tensor()) return {};
  const bool elements = value.type.elem == DType::kUndefined || value.type.elem == value.tensor->dtype();
  bool dims = true;
  if (const auto& shape = value.type.shape) {
    dims = shape->size() == value.tensor->dims().size();
    for (size_t i = 0; dims && i < shape->size(); ++i) {
      dims = !(*shape)[i].known() || (*shape)[i].value == value.tensor->dims()[i];
    }
  }
  if (!elements || !dims) {
    return Broken("{}: typed {}, but its constant is {}[{}]", value.name, ToString(value.type),
                  DTypeName(value.tensor->dtype()), fmt::join(value.tensor->dims(), ","));
  }
  return {};
}

}  // namespace

Expected<void> VerifyGraph(const Graph& graph) { return Verifier(graph, {}).Verify(); }

Expected<void> VerifyModel(const Model& model) {
  RLC_RETURN_IF_ERROR(VerifyGraph(model.graph));
  std::unordered_set<int> layers;
  for (const NodeId id : model.graph.nodes()) {
    const Node& node = model.graph.node(id);
    if (!model.graph.opsets().contains(node.domain) && !model.IsFunctionCall(node)) {
      return Broken("{}: the model imports no operator set '{}'", Describe(model.graph, id), node.domain);
    }
    if (node.layer >= 0 && !layers.insert(node.layer).second) {
      return Broken("{}: two nodes carry layer {}", Describe(model.graph, id), node.layer);
    }
  }
  return {};
}

}  // namespace rlc
