#include "rlc/rewrite/approximate/layer_site.h"

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "rlc/ir/layers.h"

namespace rlc {

std::string LayerSiteName(int layer) { return fmt::format("layer{}", layer); }

std::vector<Site> LayerRewrite::Sites(const Graph& graph, const RewriteContext&) const {
  std::vector<Site> sites;
  for (const NodeId id : graph.nodes()) {
    const int layer = graph.node(id).layer;
    if (layer >= 0 && CanChange(graph, id)) sites.push_back({LayerSiteName(layer), id});
  }
  return sites;
}

NodeId LayerRewrite::FindAnchor(const Graph& graph, std::string_view site) const {
  constexpr std::string_view kPrefix = "layer";
  if (!site.starts_with(kPrefix)) return NodeId::kNone;
  const std::string_view digits = site.substr(kPrefix.size());
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0) return NodeId::kNone;
  return FindLayer(graph, number);
}

}  // namespace rlc
