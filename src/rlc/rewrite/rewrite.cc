#include "rlc/rewrite/rewrite.h"

#include <algorithm>

namespace rlc {

// Each row of rules.inc is a function defined in the file of its name under exact/ or approximate/.
#define RLC_REWRITE(function) std::unique_ptr<Rewrite> function();
#include "rlc/rewrite/rules.inc"
#undef RLC_REWRITE

namespace {

constexpr std::string_view kWholeGraph = "graph";

std::vector<std::unique_ptr<Rewrite>> MakeAll() {
  std::vector<std::unique_ptr<Rewrite>> all;
#define RLC_REWRITE(function) all.push_back(function());
#include "rlc/rewrite/rules.inc"
#undef RLC_REWRITE
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->info().id < b->info().id; });
  for (size_t i = 1; i < all.size(); ++i) RLC_CHECK(all[i - 1]->info().id != all[i]->info().id);
  return all;
}

class FunctionRule : public Rewrite {
 public:
  FunctionRule(RewriteInfo info, MatchFunction match) : info_(info), match_(match) {}
  const RewriteInfo& info() const override { return info_; }
  Outcome At(const Graph& graph, NodeId anchor, const Params&, const RewriteContext& context) const override {
    return match_(graph, anchor, context);
  }

 private:
  RewriteInfo info_;
  MatchFunction match_;
};

}  // namespace

std::vector<Site> Rewrite::Sites(const Graph& graph, const RewriteContext& context) const {
  std::vector<Site> sites;
  const auto consider = [&](NodeId anchor, std::string id) {
    if (std::holds_alternative<Edit>(At(graph, anchor, {}, context))) sites.push_back({std::move(id), anchor});
  };
  if (info().whole_graph) {
    consider(NodeId::kNone, std::string(kWholeGraph));
    return sites;
  }
  for (const NodeId node : graph.nodes()) consider(node, SiteId(graph, node));
  return sites;
}

NodeId Rewrite::FindAnchor(const Graph& graph, std::string_view site) const {
  const ValueId value = graph.Find(site);
  return value == ValueId::kNone ? NodeId::kNone : graph.value(value).producer;
}

std::string SiteId(const Graph& graph, NodeId anchor) {
  if (anchor == NodeId::kNone) return std::string(kWholeGraph);
  for (const ValueId output : graph.node(anchor).outputs) {
    if (output != ValueId::kNone) return graph.value(output).name;
  }
  return "";
}

std::unique_ptr<Rewrite> MakeExactRule(std::string_view id, std::string_view summary, MatchFunction match) {
  return std::make_unique<FunctionRule>(RewriteInfo{id, Exactness::kExact, summary}, match);
}

std::unique_ptr<Rewrite> MakeExactGraphRule(std::string_view id, std::string_view summary, MatchFunction match) {
  return std::make_unique<FunctionRule>(RewriteInfo{id, Exactness::kExact, summary, /*whole_graph=*/true}, match);
}

const std::vector<std::unique_ptr<Rewrite>>& AllRewrites() {
  static const auto& all = *new std::vector<std::unique_ptr<Rewrite>>(MakeAll());
  return all;
}

const Rewrite* FindRewrite(std::string_view id) {
  for (const auto& rewrite : AllRewrites()) {
    if (rewrite->info().id == id) return rewrite.get();
  }
  return nullptr;
}

}  // namespace rlc
