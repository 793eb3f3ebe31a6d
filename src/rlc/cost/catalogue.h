// The catalogue: every action that a search may choose for one model, resolved and numbered once.
//
// Searches, environments and evaluators speak of candidates, lists of catalogue numbers, so that trying one costs nothing.
// A candidate becomes a plan (with its scales and channels) only when it is measured or written.
#ifndef RLC_COST_CATALOGUE_H_
#define RLC_COST_CATALOGUE_H_

#include <string>
#include <vector>

#include "rlc/ir/layers.h"
#include "rlc/rewrite/plan.h"

namespace rlc {

enum class ActionType { kQuantize, kPrune, kFuseConvBn, kExact };

struct CatalogueEntry {
  Action action;
  ActionType type = ActionType::kExact;
  int layer = -1;        // the layer it changes; -1: the whole graph
  double sparsity = 0;   // kPrune
  std::string name;      // "quantize layer3 u8s8", what is shown
};

struct LayerEntry {
  int number = -1;
  std::string name;       // node name, or the name of its output
  LayerShape shape;
  std::string signature;  // key of the latency tables
  bool has_bn = false;    // a BatchNormalization follows that can be folded
  std::vector<int> neighbours;  // layers that read its output (through activations, pools and adds)
};

struct Catalogue {
  std::vector<CatalogueEntry> entries;
  std::vector<LayerEntry> layers;  // by number
  // Applied before any candidate's actions, in every plan (empty, or "simplify@*" in the layers view's int8 form).
  std::vector<Action> prologue;
  // Entry of that type for that layer, -1 when the layer refuses it; `refusals` says why.
  int Find(ActionType type, int layer) const;
  struct Refused {
    ActionType type;
    int layer;
    std::string reason;
  };
  std::vector<Refused> refusals;
};

// Catalogue numbers in the order they are applied; no number twice.
using Candidate = std::vector<int>;

Plan ToPlan(const Catalogue& catalogue, const Candidate& candidate, const std::string& model_hash);

}  // namespace rlc

#endif  // RLC_COST_CATALOGUE_H_
