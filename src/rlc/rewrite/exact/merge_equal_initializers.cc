// Initializers with the same type, dims and bytes become one.
//
// Safe because no rule edits a shared tensor: it is copied. One that is an output of the graph is the one that stays.
// Sparse and overridable initializers are left alone.
#include <map>
#include <tuple>

#include "rlc/base/hash.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

using Kind = std::pair<DType, std::vector<int64_t>>;

std::string HashOf(const Tensor& tensor) {
  Hasher hasher;
  hasher.Add(tensor.bytes());
  for (const std::string& text : tensor.strings()) hasher.AddText(text);
  return hasher.Hex();
}

Outcome At(const Graph& graph, NodeId, const RewriteContext&) {
  std::map<Kind, std::vector<ValueId>> kinds;
  for (const ValueId id : graph.initializers()) {
    const Tensor* tensor = graph.constant(id);
    if (tensor != nullptr) kinds[{tensor->dtype(), tensor->dims()}].push_back(id);
  }
  std::vector<std::pair<ValueId, ValueId>> merges;  // dropped, kept
  for (const auto& [kind, ids] : kinds) {
    if (ids.size() < 2) continue;
    std::map<std::string, ValueId> kept;
    // Outputs first: they cannot go.
    for (const bool outputs : {true, false}) {
      for (const ValueId id : ids) {
        if (graph.is_output(id) != outputs) continue;
        const auto [place, fresh] = kept.emplace(HashOf(*graph.constant(id)), id);
        if (fresh || outputs || !graph.constant(place->second)->SameAs(*graph.constant(id))) continue;
        merges.emplace_back(id, place->second);
      }
    }
  }
  if (merges.empty()) return NoMatch{};
  return Edit([=](Graph& changed) {
    for (const auto& [dropped, kept] : merges) {
      changed.ReplaceUses(dropped, kept);
      EraseIfUnread(changed, dropped);
    }
  });
}

}  // namespace

std::unique_ptr<Rewrite> MergeEqualInitializers() {
  return MakeExactGraphRule("merge-equal-initializers", "initializers with equal contents become one", &At);
}

}  // namespace rlc
