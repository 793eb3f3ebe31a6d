// Refuses: everything that FindChannelGroup refuses; kept channels that are not ascending indices of this layer, or all
// of them.
#include "rlc/rewrite/approximate/prune_channels.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "rlc/ir/layers.h"
#include "rlc/prune/groups.h"
#include "rlc/prune/removal.h"
#include "rlc/rewrite/approximate/layer_site.h"

namespace rlc {
namespace {

Expected<std::vector<int64_t>> ReadKeep(const Params& params, int64_t channels) {
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> keep, GetInts(params.values, "keep"));
  if (keep.empty()) return MakeError(ErrorKind::kInvalidInput, "'keep' is empty, at least one channel must stay");
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i] < 0 || keep[i] >= channels) {
      return MakeError(ErrorKind::kInvalidInput, "'keep' names channel {}, the layer has {}", keep[i], channels);
    }
    if (i > 0 && keep[i] <= keep[i - 1]) {
      return MakeError(ErrorKind::kInvalidInput, "'keep' is not ascending at position {}", i);
    }
  }
  return keep;
}

class PruneChannelsRule : public LayerRewrite {
 public:
  const RewriteInfo& info() const override { return info_; }

  Outcome At(const Graph& graph, NodeId anchor, const Params& params, const RewriteContext&) const override {
    if (anchor == NodeId::kNone || !graph.node(anchor).Is("Conv") || !IsLayer(graph, graph.node(anchor)))
      return NoMatch{};
    auto group = FindChannelGroup(graph, anchor);
    if (!group) return Refusal{std::move(group).error().message};
    auto keep = ReadKeep(params, group->channels);
    if (!keep) return Refusal{std::move(keep).error().message};
    if (static_cast<int64_t>(keep->size()) == group->channels) return NoMatch{};
    return Edit(
        [group = *std::move(group), keep = *std::move(keep)](Graph& target) { RemoveChannels(target, group, keep); });
  }

 protected:
  bool CanChange(const Graph& graph, NodeId layer) const override {
    const auto group = FindChannelGroup(graph, layer);
    return group && group->channels > 1;
  }

 private:
  RewriteInfo info_{"prune-channels", Exactness::kApproximate, "takes output channels out of a Conv and its readers"};
};

}  // namespace

std::unique_ptr<Rewrite> PruneChannels() { return std::make_unique<PruneChannelsRule>(); }

}  // namespace rlc
