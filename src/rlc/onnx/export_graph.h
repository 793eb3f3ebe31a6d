// IR graphs into ONNX messages: the reverse of import_graph.h. Internal to the onnx layer.
#ifndef RLC_ONNX_EXPORT_GRAPH_H_
#define RLC_ONNX_EXPORT_GRAPH_H_

#include "rlc/ir/graph.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace rlc {

// What of an attribute's value is wanted.
enum class Detail {
  kFull,
  kOutline,  // tensors without elements, bodies with the names of their inputs and outputs only: for checks
};

void AttributeToProto(const Attribute& attribute, int64_t ir_version, Detail detail, onnx::AttributeProto& proto);
void NodeToProto(const Graph& graph, const Node& node, int64_t ir_version, Detail detail, onnx::NodeProto& proto);

enum class Weights {
  kInside,   // initializers are part of the message
  kOutside,  // dense initializers are left out: the caller writes them (InitializerToProto)
};

// `body`: not the model's main graph.
void GraphToProto(const Graph& graph, int64_t ir_version, bool body, Weights weights, onnx::GraphProto& proto);

// Name, dims, type, doc string of a dense initializer, and its elements if wanted.
void InitializerToProto(const Value& value, bool with_elements, onnx::TensorProto& proto);

}  // namespace rlc

#endif  // RLC_ONNX_EXPORT_GRAPH_H_
