// Edits that most rules are made of. All of them clean up after themselves: what nothing reads any more goes.
#ifndef RLC_REWRITE_EDIT_H_
#define RLC_REWRITE_EDIT_H_

#include <string_view>
#include <vector>

#include "rlc/ir/graph.h"

namespace rlc {

// True if dropping the node when nothing reads it is invisible. Foreign ops may have effects that nobody knows.
bool IsPure(const Node& node);

// Removes what computes or holds `value` if nothing reads it: its producer (when none of the producer's other outputs
// is read either) or the initializer, then in turn what only fed that.
void EraseIfUnread(Graph& graph, ValueId value);

// Removes a node whose outputs nothing reads, and what only fed it.
void EraseNode(Graph& graph, NodeId node);

// Sets an input and cleans up behind the old one.
void ReplaceInput(Graph& graph, NodeId node, size_t input, ValueId value);

// A new initializer; its name is made from `hint`.
ValueId AddConstant(Graph& graph, std::string_view hint, Tensor tensor);

// True when Bypass has something to do: always, unless the node is an Identity between the graph's interface on both
// sides, which only a copy can connect.
bool CanBypass(const Graph& graph, NodeId node, ValueId value);
// The first output of `node` is equal to `value` (computed before `node`): its readers read `value` from now on and the
// node goes. Where the output is one of the graph's and cannot be renamed, the node becomes an Identity of `value`.
// Precondition: CanBypass, and nothing reads the node's other outputs.
void Bypass(Graph& graph, NodeId node, ValueId value);

// `node` computes what `last`, its reader, gave as first output; `last` goes. `node`'s own output must have no other
// reader than `last`, nor `last`'s other outputs any.
void TakeOver(Graph& graph, NodeId node, NodeId last);

// `node` becomes op(inputs) with these attributes; its outputs, its name and its layer number stay.
void Rebuild(Graph& graph, NodeId node, std::string_view op, const std::vector<ValueId>& inputs,
             const std::vector<Attribute>& attributes);

// A new node with one output before `before`, in ONNX's own domain; the output's name is made from `hint`.
ValueId Insert(Graph& graph, NodeId before, std::string_view op, const std::vector<ValueId>& inputs,
               const std::vector<Attribute>& attributes, std::string_view hint, Type type);

}  // namespace rlc

#endif  // RLC_REWRITE_EDIT_H_
