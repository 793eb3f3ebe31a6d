#include "rlc/region/program.h"

#include "rlc/ir/text.h"
#include "rlc/ir/verify.h"
#include "rlc/kernels/conv_form.h"

namespace rlc {
namespace {

constexpr std::string_view kHeader = "rlc-region 1\n";

Expected<void> CheckNode(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.HasBody()) return MakeError(ErrorKind::kInvalidInput, "region program: {} has a body", node.op);
  const Attribute* form = node.FindAttribute(kFormAttribute);
  if (form == nullptr) return {};
  const auto* name = std::get_if<std::string>(&form->value);
  if (name == nullptr || !ParseConvForm(*name)) {
    return MakeError(ErrorKind::kInvalidInput,
                     "region program: {} has an unknown form{}; the file may be from a newer version", node.op,
                     name == nullptr ? "" : " '" + *name + "'");
  }
  return {};
}

}  // namespace

std::string WriteProgram(const Graph& body) {
  return std::string(kHeader) + PrintGraph(body, {.max_elements = 0, .types = true});
}

Expected<Graph> ReadProgram(std::string_view text, const ProgramLimits& limits) {
  if (text.size() > limits.bytes) {
    return MakeError(ErrorKind::kInvalidInput, "region program: {} bytes, more than the {} allowed", text.size(),
                     limits.bytes);
  }
  if (!text.starts_with(kHeader)) {
    return MakeError(ErrorKind::kInvalidInput,
                     "region program: it does not begin with 'rlc-region 1'; the file may be from a newer version");
  }
  ParseOptions options;
  options.max_generated_bytes = 0;
  options.max_depth = 1;
  auto graph = ParseGraphText(text.substr(kHeader.size()), options);
  if (!graph) return WithContext(graph.error(), "region program");
  if (!graph->initializers().empty()) {
    return MakeError(ErrorKind::kInvalidInput, "region program: it holds constants; they are given by the call");
  }
  if (graph->nodes().size() > limits.nodes) {
    return MakeError(ErrorKind::kInvalidInput, "region program: {} nodes, more than the {} allowed",
                     graph->nodes().size(), limits.nodes);
  }
  if (const auto sound = VerifyGraph(*graph); !sound) {
    return MakeError(ErrorKind::kInvalidInput, "region program: {}", sound.error().message);
  }
  for (const NodeId node : graph->nodes()) RLC_RETURN_IF_ERROR(CheckNode(*graph, node));
  return graph;
}

}  // namespace rlc
