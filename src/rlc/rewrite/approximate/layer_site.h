// Sites of rewrites that change one layer: "layer<N>".
#ifndef RLC_REWRITE_APPROXIMATE_LAYER_SITE_H_
#define RLC_REWRITE_APPROXIMATE_LAYER_SITE_H_

#include <string>
#include <string_view>
#include <vector>

#include "rlc/rewrite/rewrite.h"

namespace rlc {

std::string LayerSiteName(int layer);

// A rewrite whose anchor is the node that carries the layer.
class LayerRewrite : public Rewrite {
 public:
  // Layers that the rewrite could change, given parameters.
  std::vector<Site> Sites(const Graph& graph, const RewriteContext& context) const override;
  NodeId FindAnchor(const Graph& graph, std::string_view site) const override;

 protected:
  virtual bool CanChange(const Graph& graph, NodeId layer) const = 0;
};

}  // namespace rlc

#endif  // RLC_REWRITE_APPROXIMATE_LAYER_SITE_H_
