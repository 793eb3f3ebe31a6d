//   y = AveragePool(Pad(x, p))   ->   y = AveragePool(x), pads + p, count_include_pad = 1
//   y = MaxPool(Pad(x, p, -inf)) ->   y = MaxPool(x), pads + p
//
// The padded zeros count in an average, so the pool must count its own pads too: either it does already or it has none.
// A MaxPool's own pads never win, so only a padding of minus infinity is the same.
//
// Refuses: ceil_mode (which may drop windows that lie in the padding only); pads as large as the kernel (the runtime
// refuses those); other values, modes, negative pads, batch or channels; auto_pad SAME; before opset 7 (no
// count_include_pad).
#include <algorithm>
#include <cmath>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

// The value that padding must have to be the same as the pool's own.
Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& pool = graph.node(anchor);
  const bool average = pool.Is("AveragePool");
  if ((!average && !pool.Is("MaxPool")) || graph.opset() < 7) return NoMatch{};
  const Node* pad = ProducerIs(graph, pool.input(0), "Pad");
  if (pad == nullptr) return NoMatch{};
  const auto form = ReadPad(graph, *pad);
  if (!form) return Refuse("the pads are not constant or the rank is not known");
  const size_t rank = form->begins.size();
  const auto kernel = pool.GetInts("kernel_shape");
  const auto dilations = pool.GetInts("dilations");
  if (rank < 3 || !kernel || kernel->size() != rank - 2 || !dilations) return NoMatch{};
  if (form->mode != "constant") return Refuse("the padding mode is {}", form->mode);
  if (average && form->value != 0) return Refuse("the padding is {} and not 0", form->value);
  if (!average && !(std::isinf(form->value) && form->value < 0)) {
    return Refuse("a padding of {} can be the maximum", form->value);
  }
  if (!average && !OutputsUnread(graph, pool)) return Refuse("the indices are read");
  if (pool.GetInt("ceil_mode", 0) != 0) return Refuse("ceil_mode rounds with the padded size");
  auto pads = ReadExplicitPads(pool, rank - 2);
  if (!pads) return Refuse("auto_pad is {}", pool.GetString("auto_pad", "").value_or("invalid"));
  const bool counts = pool.GetInt("count_include_pad", 0) == 1;
  const bool own = std::any_of(pads->begin(), pads->end(), [](int64_t p) { return p != 0; });
  if (average && own && !counts) return Refuse("the pool does not count its own pads");
  for (size_t i = 0; i < rank; ++i) {
    if (form->begins[i] < 0 || form->ends[i] < 0) return Refuse("a negative pad crops");
    if (i < 2 && (form->begins[i] != 0 || form->ends[i] != 0)) return Refuse("it pads the batch or the channels");
  }
  for (size_t i = 2; i < rank; ++i) {
    (*pads)[i - 2] += form->begins[i];
    (*pads)[rank - 2 + i - 2] += form->ends[i];
    const int64_t most = std::max((*pads)[i - 2], (*pads)[rank - 2 + i - 2]);
    if (most >= (*kernel)[i - 2]) return Refuse("a pad would be as large as the kernel");
  }
  const ValueId source = pad->input(0);
  return Edit([=, pads = *std::move(pads)](Graph& changed) {
    changed.RemoveAttribute(anchor, "auto_pad");
    changed.SetAttribute(anchor, {"pads", pads, ""});
    if (average) changed.SetAttribute(anchor, {"count_include_pad", int64_t{1}, ""});
    ReplaceInput(changed, anchor, 0, source);
  });
}

}  // namespace

std::unique_ptr<Rewrite> FusePadIntoPool() {
  return MakeExactRule("fuse-pad-into-pool", "AveragePool(Pad(x, p)) -> AveragePool(x) counting larger pads", &At);
}

}  // namespace rlc
