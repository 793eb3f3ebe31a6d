//   y = Conv(Pad(x, p), W, b)   ->   y = Conv(x, W, b), pads + p
//
// All forms of Pad: attributes before opset 11, inputs later, with `axes` from 18; auto_pad VALID becomes explicit
// pads.
//
// Refuses: other modes than constant; a padded value that is not 0; negative pads (a Conv cannot crop); padding of the
// batch or the channels; auto_pad SAME (its pads depend on the padded size).
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& conv = graph.node(anchor);
  if (!conv.Is("Conv")) return NoMatch{};
  const Node* pad = ProducerIs(graph, conv.input(0), "Pad");
  if (pad == nullptr) return NoMatch{};
  const auto form = ReadPad(graph, *pad);
  if (!form) return Refuse("the pads are not constant or the rank is not known");
  const size_t rank = form->begins.size();
  if (rank < 3) return NoMatch{};
  if (form->mode != "constant") return Refuse("the padding mode is {}", form->mode);
  if (form->value != 0) return Refuse("the padding is {} and not 0", form->value);
  for (size_t i = 0; i < rank; ++i) {
    if (form->begins[i] < 0 || form->ends[i] < 0) return Refuse("a negative pad crops");
    if (i < 2 && (form->begins[i] != 0 || form->ends[i] != 0)) return Refuse("it pads the batch or the channels");
  }
  auto pads = ReadExplicitPads(conv, rank - 2);
  if (!pads) return Refuse("auto_pad is {}", conv.GetString("auto_pad", "").value_or("invalid"));
  for (size_t i = 2; i < rank; ++i) {
    (*pads)[i - 2] += form->begins[i];
    (*pads)[rank - 2 + i - 2] += form->ends[i];
  }
  const ValueId source = pad->input(0);
  return Edit([=, pads = *std::move(pads)](Graph& changed) {
    changed.RemoveAttribute(anchor, "auto_pad");
    changed.SetAttribute(anchor, {"pads", pads, ""});
    ReplaceInput(changed, anchor, 0, source);
  });
}

}  // namespace

std::unique_ptr<Rewrite> FusePadIntoConv() {
  return MakeExactRule("fuse-pad-into-conv", "Conv(Pad(x, p), W) -> Conv(x, W) with larger pads", &At);
}

}  // namespace rlc
