// ONNX graphs into IR graphs, scope by scope. Internal to the onnx layer.
//
// What the IR has no field for stays in messages with everything known cleared, serialized into `extra`:
//   Node, Attribute, Graph, Model   a message of the same kind (NodeProto, ...)
//   Value                           a GraphProto with what is left of the value's entries, under the list they stood in
//                                   (input, output, value_info, initializer); an entry has no name, and a type only
//                                   when the file's declaration is not the value's type
// A Graph of IR 3 or older keeps in `extra` the names of its inputs in the file's order, when that is unusual.
#ifndef RLC_ONNX_IMPORT_GRAPH_H_
#define RLC_ONNX_IMPORT_GRAPH_H_

#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include "rlc/base/error.h"
#include "rlc/ir/graph.h"
#include "rlc/onnx/proto_tensor.h"

namespace onnx {
class GraphProto;
}  // namespace onnx

namespace rlc {

// What all graphs of one model share while they are imported.
struct ImportContext {
  int64_t ir_version = 0;
  std::map<std::string, int> opsets;
  ExternalData external;
  std::shared_ptr<std::unordered_set<std::string>> names = std::make_shared<std::unordered_set<std::string>>();
  int next_body = 0;
  int next_rename = 0;
};

// Consumes `proto`. Nodes come out in topological order; bodies are imported with everything they capture declared.
// Recursion is bounded by the nesting that protobuf's parser lets through.
// Error, kInvalidInput: undefined and doubly defined names, cycles, malformed tensors and attributes.
Expected<Graph> ImportGraph(onnx::GraphProto& proto, ImportContext& context);

// "node \"conv1\" (Conv)", or with the first output for a node without a name.
std::string NodeLabel(const Graph& graph, const Node& node);

}  // namespace rlc

#endif  // RLC_ONNX_IMPORT_GRAPH_H_
