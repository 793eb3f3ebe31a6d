// What a graph computes, as a hash.
#ifndef RLC_IR_HASH_H_
#define RLC_IR_HASH_H_

#include <string>

#include "rlc/ir/graph.h"
#include "rlc/ir/model.h"

namespace rlc {

// 32 hex digits. Sees: operators, attributes (in any order), how nodes are connected, constants' contents, the
// interface's names and types, opsets, bodies. Does not see: names of nodes and inner values, initializers' names, the
// order of independent nodes, inferred types, layer numbers, dead nodes and initializers, `extra` bytes. Equal hashes
// of graphs mean the same computation; two graphs that compute the same may hash differently.
std::string StructuralHash(const Graph& graph);
// Sees the model's functions, too, and the IR version.
std::string StructuralHash(const Model& model);

}  // namespace rlc

#endif  // RLC_IR_HASH_H_
