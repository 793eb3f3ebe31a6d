// The catalogue: every action that a search may choose for one model, resolved and numbered once.
//
// Searches, environments and evaluators speak of candidates, lists of catalogue numbers, so that trying one costs
// nothing. A candidate becomes a plan (with its scales and channels) only when it is measured or written.
#ifndef RLC_COST_CATALOGUE_H_
#define RLC_COST_CATALOGUE_H_

#include <string>
#include <vector>

#include "rlc/base/error.h"
#include "rlc/base/json.h"
#include "rlc/ir/layers.h"
#include "rlc/rewrite/plan.h"

namespace rlc {

// In the order in which a plan applies them to one layer.
enum class ActionType { kFuseConvBn, kPrune, kQuantize };
std::string_view ActionTypeName(ActionType type);  // "fuse_conv_bn", "prune", "quantize"

// What pruning leaves of a layer's work: of the pruned layer itself, of depthwise ones behind it, of its readers.
struct Shrink {
  int layer = -1;
  double factor = 1;  // of the multiply-accumulates that remain
};

struct CatalogueEntry {
  Action action;
  ActionType type = ActionType::kQuantize;
  int layer = -1;               // the layer it is chosen for
  double sparsity = 0;          // kPrune
  std::vector<Shrink> shrinks;  // kPrune
  std::string name;             // "quantize layer3 u8s7", what is shown
};

struct LayerEntry {
  int number = -1;
  std::string name;  // node name, or the name of its output
  std::string op;
  std::string signature;     // key of the latency tables (rlc/ir/layers.h)
  bool has_bn = false;       // a BatchNormalization follows that must be folded before the layer is quantized
  std::vector<int> readers;  // layers that read its output, directly or through activations, pools and sums
};

struct Catalogue {
  std::vector<CatalogueEntry> entries;
  std::vector<LayerEntry> layers;  // by number, all of them
  // Part of every plan: before the candidate's actions, and after them.
  std::vector<Action> prologue, epilogue;
  struct Refused {
    ActionType type = ActionType::kQuantize;
    int layer = -1;
    std::string reason;
  };
  std::vector<Refused> refusals;

  // Entry of that type for that layer, -1 when there is none; `refusals` may say why.
  int Find(ActionType type, int layer) const;
};

// Catalogue numbers; no number twice. The order is the search's; plans have an order of their own (ToPlan).
using Candidate = std::vector<int>;

// The fold that `entry` needs before it, -1: none.
int RequiredEntry(const Catalogue& catalogue, int entry);

// True if `entry` may be added: not in it yet, and what it needs is there (quantize after fuse_conv_bn, where there is
// a BatchNormalization).
bool CanAdd(const Catalogue& catalogue, const Candidate& candidate, int entry);

// Sorted and without duplicates, and with the folds that its quantizations need: equal sets give equal plans.
Candidate Normalized(const Catalogue& catalogue, const Candidate& candidate);

// Prologue, then fuse, prune, quantize, each by layer, then epilogue. Without entries the operator set is not raised.
Plan ToPlan(const Catalogue& catalogue, const Candidate& candidate, const std::string& model_hash);

// "quantize layer3 u8s7, prune layer5 0.5"; "nothing" for the empty candidate.
std::string Describe(const Catalogue& catalogue, const Candidate& candidate);

// For another process that only plays with the surrogate: everything but the actions' parameters, the prologue and the
// epilogue.
Json ToJson(const Catalogue& catalogue);
// Bounded and checked: layers and factors are in range, at most kMostCatalogueRows layers and entries.
inline constexpr size_t kMostCatalogueRows = 10'000;
Expected<Catalogue> CatalogueFromJson(const Json& json);

}  // namespace rlc

#endif  // RLC_COST_CATALOGUE_H_
