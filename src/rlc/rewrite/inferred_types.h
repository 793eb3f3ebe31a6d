// Types that rewrites may rely on.
#ifndef RLC_REWRITE_INFERRED_TYPES_H_
#define RLC_REWRITE_INFERRED_TYPES_H_

#include <map>

#include "rlc/ir/graph.h"
#include "rlc/ir/services.h"

namespace rlc {

// While rules run, a graph's values carry inferred types only: what the file records for the results of ONNX operators
// and declares for outputs (and, in bodies, for inputs) may be stale, so it is put aside, except for element types.
class InferredTypes {
 public:
  // Puts declarations and records of `graph` aside. `body`: its inputs are no promise of a caller either.
  InferredTypes(Graph& graph, bool body);
  // Infers the types of `graph` (the same one, changed or not).
  Expected<void> Refresh(Graph& graph, TypeInference* types);
  // Gives the interface its declared types back, and values without an inferred type their record.
  void Restore(Graph& graph) const;

 private:
  std::map<ValueId, Type> declared_, recorded_;
};

}  // namespace rlc

#endif  // RLC_REWRITE_INFERRED_TYPES_H_
