// Optional outputs that nothing reads are dropped: Dropout's mask, MaxPool's indices, the statistics of
// LayerNormalization, the last states of LSTM, GRU and RNN. The node then computes less, and rules that want a single
// output see it.
//
// BatchNormalization keeps its statistics outputs: with them it may mean training mode.
#include <algorithm>

#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

// First output that may be absent.
size_t FirstOptional(const Node& node) {
  if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN") return 0;
  return 1;
}

bool HasOptionalOutputs(const Node& node) {
  static constexpr std::string_view kOps[] = {"Dropout", "MaxPool", "LayerNormalization", "LSTM", "GRU", "RNN"};
  return node.domain.empty() && std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& node = graph.node(anchor);
  if (!HasOptionalOutputs(node) || OutputsUnread(graph, node, 0)) return NoMatch{};
  std::vector<size_t> unread;
  for (size_t i = FirstOptional(node); i < node.outputs.size(); ++i) {
    if (node.outputs[i] != ValueId::kNone && !graph.HasReaders(node.outputs[i])) unread.push_back(i);
  }
  if (unread.empty()) return NoMatch{};
  return Edit([=](Graph& changed) {
    for (const size_t index : unread) changed.DropOutput(anchor, index);
  });
}

}  // namespace

std::unique_ptr<Rewrite> DropUnreadOutputs() {
  return MakeExactRule("drop-unread-outputs", "optional outputs that nothing reads", &At);
}

}  // namespace rlc
