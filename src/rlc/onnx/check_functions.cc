#include "rlc/onnx/check_functions.h"

#include <onnx/onnx_pb.h>

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace rlc {
namespace {

using FunctionKey = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
using Names = std::unordered_set<std::string>;

FunctionKey KeyOf(const std::string& domain, const std::string& name, const std::string& overload) {
  return {domain == "ai.onnx" ? "" : domain, name, overload};
}

std::string LabelOf(const onnx::FunctionProto& function) {
  return fmt::format("function {}{}{}", function.domain(), function.domain().empty() ? "" : ".", function.name());
}

// Calls visit(node) for every node, those in bodies too. Depth is bounded by protobuf's parser.
template <typename Nodes>
void VisitNodes(const Nodes& nodes, const std::function<void(const onnx::NodeProto&)>& visit) {
  for (const auto& node : nodes) {
    visit(node);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) VisitNodes(attribute.g().node(), visit);
      for (const auto& body : attribute.graphs()) VisitNodes(body.node(), visit);
    }
  }
}

// The outermost level only: bodies also see names that are defined later, and the runtime checks them.
Expected<void> CheckNames(const onnx::FunctionProto& function) {
  Names defined(function.input().begin(), function.input().end());
  for (const auto& node : function.node()) {
    if (node.op_type().empty()) {
      return MakeError(ErrorKind::kInvalidInput, "{}: a node has no operator", LabelOf(function));
    }
    for (const std::string& name : node.input()) {
      if (name.empty() || defined.count(name) > 0) continue;
      return MakeError(ErrorKind::kInvalidInput, "{}: its {} node reads \"{}\", which nothing before it defines",
                       LabelOf(function), node.op_type(), name);
    }
    for (const std::string& name : node.output()) {
      if (name.empty() || defined.insert(name).second) continue;
      return MakeError(ErrorKind::kInvalidInput, "{}: \"{}\" is defined twice", LabelOf(function), name);
    }
  }
  for (const std::string& name : function.output()) {
    if (defined.count(name) > 0) continue;
    return MakeError(ErrorKind::kInvalidInput, "{}: nothing defines its output \"{}\"", LabelOf(function), name);
  }
  return {};
}

}  // namespace

Expected<void> CheckFunctions(const Model& model) {
  std::map<FunctionKey, size_t> index;
  std::vector<onnx::FunctionProto> functions(model.functions.size());
  for (size_t i = 0; i < functions.size(); ++i) {
    functions[i].ParseFromString(model.functions[i].bytes);
    const auto& function = functions[i];
    if (function.name().empty()) return MakeError(ErrorKind::kInvalidInput, "a model-local function has no name");
    if (!index.emplace(KeyOf(function.domain(), function.name(), function.overload()), i).second) {
      return MakeError(ErrorKind::kInvalidInput, "{}: is defined twice", LabelOf(function));
    }
    RLC_RETURN_IF_ERROR(CheckNames(function));
  }
  // Functions that call no unfinished one are taken away until none is left; what cannot be taken away is recursive.
  std::vector<std::vector<size_t>> callers(functions.size());
  std::vector<size_t> unfinished(functions.size(), 0), ready;
  for (size_t i = 0; i < functions.size(); ++i) {
    VisitNodes(functions[i].node(), [&](const onnx::NodeProto& node) {
      const auto callee = index.find(KeyOf(node.domain(), node.op_type(), node.overload()));
      if (callee == index.end()) return;
      callers[callee->second].push_back(i);
      ++unfinished[i];
    });
    if (unfinished[i] == 0) ready.push_back(i);
  }
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    const size_t callee = ready.back();
    ready.pop_back();
    for (const size_t caller : callers[callee]) {
      if (--unfinished[caller] == 0) ready.push_back(caller);
    }
  }
  if (done == functions.size()) return {};
  for (size_t i = 0; i < functions.size(); ++i) {
    if (unfinished[i] > 0) {
      return MakeError(ErrorKind::kInvalidInput, "{}: calls itself, directly or through other functions",
                       LabelOf(functions[i]));
    }
  }
  return {};
}

}  // namespace rlc
