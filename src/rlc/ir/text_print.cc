#include <algorithm>
#include <unordered_set>
#include <utility>

#include "rlc/ir/text.h"
#include "rlc/ir/text_lexer.h"
#include "rlc/ir/text_values.h"

namespace rlc {
namespace {

constexpr int kDefaultOpset = 17;

std::string SpellType(const Type& type) {
  if (type.kind == Type::Kind::kUnknown) return "";
  if (type.kind == Type::Kind::kOpaque) return "opaque \"" + ToHex(type.opaque) + "\" ";
  if (!type.shape) return DTypeName(type.elem) + "[*] ";
  std::string text = DTypeName(type.elem) + "[";
  for (size_t i = 0; i < type.shape->size(); ++i) {
    const Dim& dim = (*type.shape)[i];
    if (i > 0) text += ',';
    text += dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : SpellName(dim.symbol);
  }
  return text + "] ";
}

std::string SpellTensorType(const Tensor& tensor) {
  return fmt::format("{}[{}]", DTypeName(tensor.dtype()), fmt::join(tensor.dims(), ","));
}

std::string SpellOp(const Node& node) {
  // A plain name is cut at its last "::", so an operator with colons of its own must be quoted, and one behind a quoted
  // domain, too.
  const bool plain = node.op.find(':') == std::string::npos && (node.domain.empty() || IsPlainName(node.domain));
  std::string op = plain ? SpellName(node.op) : Quote(node.op);
  if (!node.domain.empty()) op = SpellName(node.domain) + "::" + op;
  if (!node.overload.empty()) op += " overload " + Quote(node.overload);
  return op;
}

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options, int indent, bool bodies)
      : graph_(graph), options_(options), indent_(indent), bodies_(bodies) {}

  std::string PrintAll();
  std::string Statement(const Node& node);

 private:
  std::string Line(const std::string& text) const { return std::string(2 * static_cast<size_t>(indent_), ' ') + text; }
  std::string Values(const Tensor& tensor) const;
  std::string Declaration(const Value& value) const;
  std::string Input(ValueId id);
  std::string Attributes(const Node& node) const;
  std::string AttributeText(const AttributeValue& value) const;
  std::string BodyText(const Body& body) const;
  std::vector<ValueId> DeclaredInFront() const;

  const Graph& graph_;
  const PrintOptions& options_;
  int indent_;
  bool bodies_;
  std::unordered_set<int32_t> declared_;
};

std::string Printer::Values(const Tensor& tensor) const {
  if (options_.max_elements && tensor.size() > *options_.max_elements) return "";
  return " = " + SpellElements(tensor);
}

std::string Printer::Declaration(const Value& value) const {
  std::string text = "%" + SpellName(value.name);
  if (!value.tensor) return text + " sparse \"" + ToHex(value.sparse) + "\"";
  return text + " " + SpellTensorType(*value.tensor) + Values(*value.tensor);
}

std::string Printer::Input(ValueId id) {
  if (id == ValueId::kNone) return "_";
  const Value& value = graph_.value(id);
  if (value.kind != Value::Kind::kInitializer) return SpellName(value.name);
  return declared_.insert(static_cast<int32_t>(id)).second ? Declaration(value) : "%" + SpellName(value.name);
}

std::string Printer::BodyText(const Body& body) const {
  if (!bodies_) return "graph ...";
  return Printer(*body, options_, indent_, bodies_).PrintAll();
}

std::string Printer::AttributeText(const AttributeValue& value) const {
  std::vector<std::string> words;
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<float>(&value)) return SpellFloat(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return Quote(*text);
  if (const auto* tensor = std::get_if<Tensor>(&value)) return SpellTensorType(*tensor) + Values(*tensor);
  if (const auto* body = std::get_if<Body>(&value)) return BodyText(*body);
  if (const auto* opaque = std::get_if<OpaqueAttribute>(&value)) return "opaque \"" + ToHex(opaque->bytes) + "\"";
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) return fmt::format("[{}]", fmt::join(*list, ","));
  if (const auto* list = std::get_if<std::vector<float>>(&value)) {
    for (const float element : *list) words.push_back(SpellFloat(element));
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& element : *texts) words.push_back(Quote(element));
  } else if (const auto* tensors = std::get_if<std::vector<Tensor>>(&value)) {
    for (const Tensor& element : *tensors) words.push_back(SpellTensorType(element) + Values(element));
  } else if (const auto* bodies = std::get_if<std::vector<Body>>(&value)) {
    for (const Body& element : *bodies) words.push_back(BodyText(element));
  }
  if (words.empty()) return KindName(value) + "[]";
  return fmt::format("[{}]", fmt::join(words, ", "));
}

std::string Printer::Attributes(const Node& node) const {
  if (node.attributes.empty()) return "";
  std::vector<std::string> words;
  for (const Attribute& attribute : node.attributes) {
    words.push_back(SpellName(attribute.name) + "=" + AttributeText(attribute.value));
  }
  return fmt::format("<{}>", fmt::join(words, ", "));
}

std::string Printer::Statement(const Node& node) {
  std::vector<std::string> outputs;
  for (const ValueId id : node.outputs) {
    if (id == ValueId::kNone) {
      outputs.emplace_back("_");
      continue;
    }
    const bool typed = options_.types && !graph_.is_output(id);
    outputs.push_back((typed ? SpellType(graph_.type(id)) : "") + SpellName(graph_.value(id).name));
  }
  std::vector<std::string> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(Input(id));
  std::string text = fmt::format("{} = {}{}({})", outputs.empty() ? "()" : fmt::format("{}", fmt::join(outputs, ", ")),
                                 SpellOp(node), Attributes(node), fmt::join(inputs, ", "));
  if (!node.name.empty()) text += " @" + Quote(node.name);
  if (node.layer >= 0) text += fmt::format(" layer {}", node.layer);
  return text;
}

// Initializers that no node reads as an input, and those that bodies read: a body may stand before the first node that
// reads them directly.
std::vector<ValueId> Printer::DeclaredInFront() const {
  std::vector<ValueId> ids;
  for (const ValueId id : graph_.initializers()) {
    const Value& value = graph_.value(id);
    if (value.kind != Value::Kind::kInitializer) continue;
    const bool captured =
        std::any_of(value.uses.begin(), value.uses.end(), [](const Use& use) { return use.input == Use::kCapture; });
    if (captured || value.uses.empty()) ids.push_back(id);
  }
  return ids;
}

std::string Printer::PrintAll() {
  std::vector<std::string> inputs;
  for (const ValueId id : graph_.inputs()) {
    const Value& value = graph_.value(id);
    inputs.push_back(SpellType(value.type) + SpellName(value.name));
    if (value.kind == Value::Kind::kOverridable) {
      inputs.back() += " = " + SpellElements(value.tensor.value_or(Tensor()));
    }
  }
  std::vector<std::string> outputs;
  for (const ValueId id : graph_.outputs()) {
    outputs.push_back(SpellType(graph_.type(id)) + SpellName(graph_.value(id).name));
  }
  std::string text = "graph ";
  if (!graph_.name().empty()) text += SpellName(graph_.name()) + " ";
  text += fmt::format("({}) => ({}) {{\n", fmt::join(inputs, ", "), fmt::join(outputs, ", "));
  ++indent_;
  for (const ValueId id : DeclaredInFront()) {
    declared_.insert(static_cast<int32_t>(id));
    text += Line(Declaration(graph_.value(id))) + "\n";
  }
  for (const NodeId id : graph_.nodes()) text += Line(Statement(graph_.node(id))) + "\n";
  --indent_;
  return text + Line("}");
}

std::vector<std::string> OpsetWords(const Graph& graph) {
  std::vector<std::string> words;
  if (graph.opset() != kDefaultOpset) words.push_back(fmt::format("opset {}", graph.opset()));
  for (const auto& [domain, version] : graph.opsets()) {
    if (!domain.empty()) words.push_back(fmt::format("opset {} {}", SpellName(domain), version));
  }
  return words;
}

}  // namespace

std::string PrintGraph(const Graph& graph, const PrintOptions& options) {
  const std::vector<std::string> words = OpsetWords(graph);
  const std::string header = words.empty() ? "" : fmt::format("<{}>\n", fmt::join(words, ", "));
  return header + Printer(graph, options, 0, true).PrintAll() + "\n";
}

std::string PrintModel(const Model& model, const PrintOptions& options) {
  std::vector<std::string> words = OpsetWords(model.graph);
  if (model.graph.opset() == kDefaultOpset) words.insert(words.begin(), fmt::format("opset {}", kDefaultOpset));
  words.insert(words.begin(), fmt::format("ir {}", model.ir_version));
  std::string text =
      fmt::format("<{}>\n{}\n", fmt::join(words, ", "), Printer(model.graph, options, 0, true).PrintAll());
  for (const Function& function : model.functions) {
    Node call;
    call.domain = function.domain;
    call.op = function.name;
    call.overload = function.overload;
    text += fmt::format("function {} \"{}\"\n", SpellOp(call), ToHex(function.bytes));
  }
  return text;
}

std::string PrintNode(const Graph& graph, NodeId node, const PrintOptions& options) {
  return Printer(graph, options, 0, false).Statement(graph.node(node));
}

}  // namespace rlc
