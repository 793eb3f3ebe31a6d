#include "rlc/optimize/diff_job.h"

#include <map>
#include <utility>

#include "rlc/base/hash.h"
#include "rlc/ir/hash.h"
#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"

namespace rlc {
namespace {

// Name and description, in the order of the model.
using Items = std::vector<std::pair<std::string, std::string>>;

std::vector<Difference> Compare(const Items& before, const Items& after) {
  const std::map<std::string, std::string> old_items(before.begin(), before.end());
  const std::map<std::string, std::string> new_items(after.begin(), after.end());
  std::vector<Difference> differences;
  for (const auto& [name, text] : before) {
    const auto other = new_items.find(name);
    if (other == new_items.end()) {
      differences.push_back({name, text, ""});
    } else if (other->second != text) {
      differences.push_back({name, text, other->second});
    }
  }
  for (const auto& [name, text] : after) {
    if (old_items.count(name) == 0) differences.push_back({name, "", text});
  }
  return differences;
}

Items ModelItems(const Model& model) {
  Items items = {{"IR version", std::to_string(model.ir_version)}};
  for (const auto& [domain, version] : model.graph.opsets()) {
    items.emplace_back(domain.empty() ? "opset" : "opset of " + domain, std::to_string(version));
  }
  for (const Function& function : model.functions) {
    items.emplace_back(fmt::format("function {}::{}{}", function.domain, function.name,
                                   function.overload.empty() ? "" : " overload " + function.overload),
                       ContentHash(function.bytes).substr(0, 8));
  }
  items.emplace_back("header (producer, metadata, doc string)", ContentHash(SerializeHeader(model)).substr(0, 8));
  return items;
}

Items InterfaceItems(const Graph& graph) {
  Items items;
  const auto add = [&](const char* what, const std::vector<ValueId>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) {
      const Value& value = graph.value(ids[i]);
      items.emplace_back(fmt::format("{} {}", what, i), fmt::format("{} {}", value.name, ToString(value.type)));
    }
  };
  add("input", graph.inputs());
  add("output", graph.outputs());
  return items;
}

// A node as one line without its name, its layer's number, or types; bodies as hashes.
std::string NodeText(Graph& graph, NodeId id) {
  graph.SetLayer(id, -1);
  graph.SetNodeName(id, "");
  std::string text = PrintNode(graph, id, {.types = false});
  for (const Attribute& attribute : graph.node(id).attributes) {
    for (const Body& body : BodiesOf(attribute.value)) {
      text += fmt::format(" {} {}", attribute.name, StructuralHash(*body).substr(0, 8));
    }
  }
  return text;
}

Items NodeItems(Graph graph) {
  Items items;
  for (const NodeId id : graph.nodes()) {
    std::string name;
    for (const ValueId output : graph.node(id).outputs) {
      if (name.empty() && output != ValueId::kNone) name = graph.value(output).name;
    }
    items.emplace_back(name, NodeText(graph, id));
  }
  return items;
}

std::string ContentsOf(const Value& constant) {
  if (!constant.tensor) return ContentHash(constant.sparse);
  Hasher hasher;
  hasher.Add(constant.tensor->bytes());
  for (const std::string& text : constant.tensor->strings()) hasher.AddText(text);
  return hasher.Hex();
}

Items ConstantItems(const Graph& graph) {
  Items items;
  for (const ValueId id : graph.initializers()) {
    const Value& value = graph.value(id);
    items.emplace_back(value.name, fmt::format("{} {}", ToString(value.type), ContentsOf(value).substr(0, 8)));
  }
  return items;
}

Json ToJson(const std::vector<Difference>& differences) {
  Json list = Json::array();
  for (const Difference& difference : differences) {
    Json row = {{"name", difference.name}};
    if (!difference.before.empty()) row["before"] = difference.before;
    if (!difference.after.empty()) row["after"] = difference.after;
    list.push_back(std::move(row));
  }
  return list;
}

// `named`: the texts do not begin with the name.
std::string Lines(const std::string& title, const std::vector<Difference>& differences, bool named) {
  if (differences.empty()) return "";
  std::string text = title + ":\n";
  for (const Difference& difference : differences) {
    const std::string name = named ? difference.name + ": " : "";
    if (!difference.before.empty()) text += fmt::format("- {}{}\n", name, difference.before);
    if (!difference.after.empty()) text += fmt::format("+ {}{}\n", name, difference.after);
  }
  return text + "\n";
}

}  // namespace

DiffResult Diff(const Model& before, const Model& after) {
  return {Summarize(before),
          Summarize(after),
          Compare(ModelItems(before), ModelItems(after)),
          Compare(InterfaceItems(before.graph), InterfaceItems(after.graph)),
          Compare(NodeItems(before.graph), NodeItems(after.graph)),
          Compare(ConstantItems(before.graph), ConstantItems(after.graph))};
}

Expected<DiffResult> DiffFiles(const std::string& before, const std::string& after) {
  RLC_ASSIGN_OR_RETURN(const Model first, ReadModel(before));
  RLC_ASSIGN_OR_RETURN(const Model second, ReadModel(after));
  return Diff(first, second);
}

Json ToJson(const DiffResult& result) {
  return {{"same", result.same()},
          {"before", ToJson(result.before)},
          {"after", ToJson(result.after)},
          {"model", ToJson(result.model)},
          {"interface", ToJson(result.interface)},
          {"nodes", ToJson(result.nodes)},
          {"constants", ToJson(result.constants)}};
}

std::string ToText(const DiffResult& result) {
  if (result.same()) return "no difference\n";
  return Lines("model", result.model, true) + Lines("interface", result.interface, true) +
         Lines("nodes", result.nodes, false) + Lines("constants", result.constants, true) +
         CompareTable(result.before, result.after);
}

}  // namespace rlc
