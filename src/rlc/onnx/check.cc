#include "rlc/onnx/check.h"

#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>
#include <vector>

#include "rlc/onnx/check_functions.h"
#include "rlc/onnx/export_graph.h"
#include "rlc/onnx/guard.h"
#include "rlc/onnx/import_graph.h"

namespace rlc {
namespace {

constexpr auto kInvalid = ErrorKind::kInvalidInput;

// Domains whose operators the onnx library knows completely: what it does not know does not exist.
bool IsOnnxDomain(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx.ml" || domain == "ai.onnx.training" ||
         domain == "ai.onnx.preview.training";
}

// ONNX Runtime's own domains: it reads files that do not import them, so such files exist.
bool IsRuntimeDomain(std::string_view domain) { return domain.starts_with("com.microsoft"); }

class Checker {
 public:
  explicit Checker(const Model& model) : model_(model) {}

  Expected<void> CheckGraph(const Graph& graph) const {
    for (const NodeId id : graph.nodes()) {
      const Node& node = graph.node(id);
      RLC_RETURN_IF_ERROR(CheckNode(graph, node));
      for (const Attribute& attribute : node.attributes) {
        if (const auto* body = std::get_if<Body>(&attribute.value)) RLC_RETURN_IF_ERROR(CheckGraph(**body));
        if (const auto* bodies = std::get_if<std::vector<Body>>(&attribute.value)) {
          for (const Body& body : *bodies) RLC_RETURN_IF_ERROR(CheckGraph(*body));
        }
      }
    }
    return {};
  }

 private:
  Expected<void> CheckNode(const Graph& graph, const Node& node) const {
    const std::string where = NodeLabel(graph, node);
    if (node.outputs.empty() && node.inputs.empty()) {
      return MakeError(kInvalid, "{}: has neither inputs nor outputs", where);
    }
    if (model_.IsFunctionCall(node)) return {};
    const int version = graph.opset(node.domain);
    if (version == 0) {
      if (IsRuntimeDomain(node.domain)) return {};
      return MakeError(kInvalid, "{}: the model imports no operator set {}", where,
                       node.domain.empty() ? "ai.onnx" : node.domain);
    }
    onnx::NodeProto proto;
    NodeToProto(graph, node, model_.ir_version, Detail::kOutline, proto);
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op, version, node.domain);
    if (!schema) {
      if (!IsOnnxDomain(node.domain) || onnx::checker::check_is_experimental_op(proto)) return {};
      return MakeError(kInvalid, "{}: operator {} does not exist in version {} of operator set {}", where, node.op,
                       version, node.domain.empty() ? "ai.onnx" : node.domain);
    }
    return Guarded(kInvalid, where, [&] { schema->Verify(proto); });
  }

  const Model& model_;
};

}  // namespace

Expected<void> CheckModel(const Model& model) {
  RLC_RETURN_IF_ERROR(CheckFunctions(model));
  return Checker(model).CheckGraph(model.graph);
}

}  // namespace rlc
