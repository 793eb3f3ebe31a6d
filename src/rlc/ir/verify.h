// Is this graph what the IR promises? Run after every rewrite in tests, and by whoever builds graphs by hand.
#ifndef RLC_IR_VERIFY_H_
#define RLC_IR_VERIFY_H_

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/ir/model.h"

namespace rlc {

// Checks, bodies included:
// - every value has a name that no other value in its graph or an enclosing one has, and one origin: the interface, an
//   initializer, or one output of one node;
// - producers come before readers; nothing reads or returns a value that does not exist;
// - the use lists say exactly what the nodes and the interface say;
// - every name that a body captures is a value of an enclosing graph; the outermost graph captures nothing;
// - constants have the element type and shape of their value.
// Linear in the size of the graph. Operators are not looked at (rlc/onnx/check.h does that).
// Error, kInternal: what is wrong and at which node or value.
Expected<void> VerifyGraph(const Graph& graph);

// The same for a model's graph; also: each operator's domain is imported or that of a function, and layers are numbered
// once each.
Expected<void> VerifyModel(const Model& model);

}  // namespace rlc

#endif  // RLC_IR_VERIFY_H_
