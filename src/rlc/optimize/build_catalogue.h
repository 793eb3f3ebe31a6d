// The catalogue of one model: every action that a search may choose, resolved from one calibration.
#ifndef RLC_OPTIMIZE_BUILD_CATALOGUE_H_
#define RLC_OPTIMIZE_BUILD_CATALOGUE_H_

#include <vector>

#include "rlc/base/error.h"
#include "rlc/cost/catalogue.h"
#include "rlc/ir/model.h"
#include "rlc/optimize/calibrate_model.h"

namespace rlc {

// Kinds of actions that are wanted (--actions).
struct ActionKinds {
  bool fuse = true;  // exact rewrites
  bool int8 = false;
  bool prune = false;
  bool region = false;    // compiled regions; they need librlc_ops.so where the model is used
  bool winograd = false;  // in regions: 3x3 convolutions by Winograd's algorithm
  bool bf16 = false;      // in regions: convolutions with operands rounded to bfloat16
  bool approximate() const { return int8 || prune; }  // in the plain graph: what is calibrated and searched
};

// "exact", "portable" (fuse, int8, prune: what any runtime runs), "all" (and region, winograd, bf16), or a comma list
// of these. Error, kUsage: an unknown word.
Expected<ActionKinds> ParseActionKinds(std::string_view text);

struct CatalogueOptions {
  ActionKinds kinds;
  Scheme scheme;
  double sparsity = 0.5;  // of one pruning action
};

// `prepared`: the model after `prologue`, on which `calibration` ran; `original_layers`: how many layers the imported
// model has (their numbers count, also of those that the prologue removed). What a layer refuses is kept with its
// reason.
Catalogue BuildCatalogue(const Model& prepared, int original_layers, std::vector<Action> prologue,
                         const CalibrationOutcome& calibration, const CatalogueOptions& options);

}  // namespace rlc

#endif  // RLC_OPTIMIZE_BUILD_CATALOGUE_H_
