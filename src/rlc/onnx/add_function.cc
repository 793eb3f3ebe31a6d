#include "rlc/onnx/add_function.h"

#include <onnx/onnx_pb.h>

#include "rlc/onnx/convert.h"
#include "rlc/onnx/export_graph.h"

namespace rlc {

Expected<void> AddFunction(Model& model, const std::string& domain, const std::string& name, const Graph& body,
                           const std::vector<std::string>& attributes) {
  RLC_CHECK(body.initializers().empty());
  for (const Function& function : model.functions) {
    if (function.domain == domain && function.name == name) {
      return MakeError(ErrorKind::kInvalidInput, "the model has a function {}.{} already", domain, name);
    }
  }
  RaiseIrVersion(model, 8);
  onnx::FunctionProto proto;
  proto.set_domain(domain);
  proto.set_name(name);
  for (const ValueId input : body.inputs()) proto.add_input(body.value(input).name);
  for (const ValueId output : body.outputs()) proto.add_output(body.value(output).name);
  for (const std::string& attribute : attributes) proto.add_attribute(attribute);
  for (const auto& [used, version] : body.opsets()) {
    auto* import = proto.add_opset_import();
    import->set_domain(used);
    import->set_version(version);
  }
  for (const NodeId node : body.nodes()) {
    NodeToProto(body, body.node(node), model.ir_version, Detail::kFull, *proto.add_node());
  }
  model.functions.push_back({domain, name, "", proto.SerializeAsString()});
  return {};
}

}  // namespace rlc
