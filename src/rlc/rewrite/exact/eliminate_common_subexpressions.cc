// Nodes with the same op, inputs and attributes become one; found in one pass, so that equal chains collapse at once.
//
// Where only the later one is an output of the graph, the earlier one takes its name. Refuses (stays two nodes): both
// are outputs; random ops and training-mode Dropout (two draws differ); foreign ops; nodes with bodies; QuantizeLinear
// and DequantizeLinear (the runtime's integer kernels want one pair for each reader).
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "rlc/base/hash.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

bool IsCandidate(const Graph& graph, const Node& node) {
  return node.domain.empty() && !node.outputs.empty() && !node.HasBody() && !IsRandom(graph, node) &&
         !node.Is("QuantizeLinear") && !node.Is("DequantizeLinear") && !node.Is("Constant");
}

bool SameAttributes(const Node& a, const Node& b) {
  if (a.attributes.size() != b.attributes.size()) return false;
  return std::all_of(a.attributes.begin(), a.attributes.end(), [&](const Attribute& attribute) {
    const Attribute* other = b.FindAttribute(attribute.name);
    return other != nullptr && SameValue(attribute.value, other->value);
  });
}

bool IsOutput(const Graph& graph, ValueId value) { return value != ValueId::kNone && graph.is_output(value); }

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph) {}

  // Pairs (kept, dropped), in order.
  std::vector<std::pair<NodeId, NodeId>> Find() {
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      if (!IsCandidate(graph_, node)) continue;
      std::vector<ValueId> inputs;
      for (const ValueId input : node.inputs) inputs.push_back(Leader(input));
      uint64_t key = Hash64(node.op);
      for (const ValueId input : inputs) key = HashCombine(key, static_cast<uint64_t>(static_cast<int32_t>(input)));
      std::vector<NodeId>& seen = by_key_[key];
      const auto twin = std::find_if(seen.begin(), seen.end(), [&](NodeId earlier) {
        return inputs_[earlier] == inputs && SameAttributes(graph_.node(earlier), node) &&
               graph_.node(earlier).op == node.op && CanMerge(earlier, node);
      });
      if (twin == seen.end()) {
        seen.push_back(id);
        inputs_[id] = std::move(inputs);
        continue;
      }
      pairs_.emplace_back(*twin, id);
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] == ValueId::kNone) continue;
        leaders_[node.outputs[i]] = graph_.node(*twin).outputs[i];
        if (IsOutput(graph_, node.outputs[i])) claimed_.insert({*twin, i});
      }
    }
    return pairs_;
  }

 private:
  ValueId Leader(ValueId value) const {
    const auto found = leaders_.find(value);
    return found == leaders_.end() ? value : found->second;
  }

  bool CanMerge(NodeId earlier, const Node& node) const {
    const Node& kept = graph_.node(earlier);
    if (kept.outputs.size() != node.outputs.size()) return false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if ((kept.outputs[i] == ValueId::kNone) != (node.outputs[i] == ValueId::kNone)) return false;
      const bool taken = IsOutput(graph_, kept.outputs[i]) || claimed_.contains({earlier, i});
      if (taken && IsOutput(graph_, node.outputs[i])) return false;
    }
    return true;
  }

  const Graph& graph_;
  std::unordered_map<uint64_t, std::vector<NodeId>> by_key_;
  std::map<NodeId, std::vector<ValueId>> inputs_;
  std::map<ValueId, ValueId> leaders_;
  std::set<std::pair<NodeId, size_t>> claimed_;  // outputs that take over the name of a graph output
  std::vector<std::pair<NodeId, NodeId>> pairs_;
};

void Merge(Graph& graph, NodeId kept, NodeId dropped) {
  for (size_t i = 0; i < graph.node(dropped).outputs.size(); ++i) {
    const ValueId old = graph.node(dropped).outputs[i];
    if (old == ValueId::kNone) continue;
    const ValueId now = graph.node(kept).outputs[i];
    if (graph.is_output(old)) {
      graph.ReplaceUses(now, old);
      graph.TakeOverOutput(kept, i, old);
    } else {
      graph.ReplaceUses(old, now);
    }
  }
  EraseNode(graph, dropped);
}

Outcome At(const Graph& graph, NodeId, const RewriteContext&) {
  const auto pairs = Finder(graph).Find();
  if (pairs.empty()) return NoMatch{};
  return Edit([=](Graph& changed) {
    for (const auto& [kept, dropped] : pairs) Merge(changed, kept, dropped);
  });
}

}  // namespace

std::unique_ptr<Rewrite> EliminateCommonSubexpressions() {
  return MakeExactGraphRule("eliminate-common-subexpressions", "nodes that compute the same become one", &At);
}

}  // namespace rlc
