#include "rlc/ort/constant_evaluator.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "rlc/base/format.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/infer_types.h"
#include "rlc/ort/session.h"

namespace rlc {
namespace {

// Inputs up to this size are written into the model as constants: some kernels insist on constant scales, axes or
// shapes, and constants let the runtime infer the output's shape. Larger ones are handed over in place.
constexpr size_t kInlineBytes = 1024;

bool IsRandom(const Node& node) {
  static const std::set<std::string> kOps = {"Bernoulli",     "Multinomial",       "RandomNormal", "RandomNormalLike",
                                             "RandomUniform", "RandomUniformLike", "Dropout"};
  return kOps.contains(node.op);
}

// Outputs whose size depends on data, but never exceeds a small multiple of the inputs.
bool IsBoundedByInputs(const Node& node) {
  static const std::set<std::string> kOps = {"NonZero", "Compress", "Unique", "NonMaxSuppression", "StringSplit"};
  return kOps.contains(node.op);
}

std::string NameOf(const Graph& graph, const Node& node) {
  if (!node.name.empty()) return node.name;
  return node.output(0) == ValueId::kNone ? node.op : graph.value(node.output(0)).name;
}

std::optional<int64_t> BytesOf(const Type& type) {
  if (!type.is_tensor() || !type.shape) return std::nullopt;
  const auto dims = StaticDims(*type.shape);
  return dims ? ByteSize(type.elem, *dims) : std::nullopt;
}

struct OneNode {
  Model model;
  std::vector<NamedTensor> inputs;   // those that are not constants of the model
  std::vector<std::string> outputs;  // one for each present output; not yet outputs of the graph
};

OneNode BuildModel(const Graph& graph, const Node& node, std::span<const Tensor* const> inputs) {
  OneNode built;
  built.model.ir_version = 10;  // the newest that ONNX Runtime 1.21 takes; 4-bit types need it
  Graph& one = built.model.graph;
  one.SetName("constant");
  for (const auto& [domain, version] : graph.opsets()) {
    if (domain == node.domain || domain.empty()) one.SetOpset(domain, version);
  }
  Node copy;
  copy.op = node.op;
  copy.domain = node.domain;
  copy.overload = node.overload;
  copy.attributes = node.attributes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) {
      copy.inputs.push_back(ValueId::kNone);
      continue;
    }
    const Tensor& tensor = *inputs[i];
    const std::string name = "in" + std::to_string(i);
    if (tensor.bytes().size() <= kInlineBytes && tensor.dtype() != DType::kString) {
      copy.inputs.push_back(one.AddInitializer(name, tensor));
      continue;
    }
    Shape shape;
    for (const int64_t dim : tensor.dims()) shape.push_back(Dim::Of(dim));
    copy.inputs.push_back(one.AddInput(name, Type::Tensor(tensor.dtype(), std::move(shape))));
    built.inputs.push_back({name, tensor});
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ValueId::kNone) {
      copy.outputs.push_back(ValueId::kNone);
      continue;
    }
    const std::string name = "out" + std::to_string(i);
    // The element type only: a recorded shape may be wrong.
    const Type& type = graph.type(node.outputs[i]);
    copy.outputs.push_back(one.AddValue(name, type.is_tensor() ? Type::Tensor(type.elem) : Type{}));
    built.outputs.push_back(name);
  }
  one.AddNode(std::move(copy));
  return built;
}

}  // namespace

Expected<std::vector<Tensor>> OrtConstantEvaluator::Evaluate(const Graph& graph, const Node& node,
                                                             std::span<const Tensor* const> inputs) {
  const std::string what = NameOf(graph, node);
  const auto unknown = [&](std::string_view why) {
    return MakeError(ErrorKind::kUnavailable, "{}: {} is not evaluated: {}", what, node.op, why);
  };
  if (!node.domain.empty()) return unknown("its domain is " + node.domain);
  if (node.HasBody()) return unknown("it has a subgraph");
  if (IsRandom(node)) return unknown("its result is random");
  int64_t input_bytes = 0;
  for (const Tensor* input : inputs) {
    if (input == nullptr) continue;
    if (BitsOf(input->dtype()) == 0 && input->dtype() != DType::kString)
      return unknown("it reads " + DTypeName(input->dtype()));
    input_bytes += static_cast<int64_t>(input->bytes().size());
  }
  if (input_bytes > limits_.input_bytes)
    return unknown("its inputs have " + FormatBytes(static_cast<double>(input_bytes)));

  OneNode built = BuildModel(graph, node, inputs);
  Graph& one = built.model.graph;
  if (built.outputs.empty()) return unknown("it has no outputs");
  // A few bytes of input can ask for terabytes of output (Expand, Tile, Range ...): know the size before running.
  if (auto inferred = OnnxTypeInference(built.model).InferTypes(one); !inferred) {
    return WithContext(inferred.error(), what);
  }
  int64_t output_bytes = 0;
  for (const std::string& name : built.outputs) {
    const ValueId output = one.Find(name);
    const Type& type = one.type(output);
    const auto size = BytesOf(type);
    if (!size && !IsBoundedByInputs(node) && type.elem != DType::kString) {
      return unknown("the size of its output is not known beforehand");
    }
    if (size && *size > limits_.output_bytes - output_bytes) {
      return unknown("an output would have " + FormatBytes(static_cast<double>(*size)));
    }
    output_bytes += size.value_or(0);
    one.AddOutput(output);
  }

  RLC_ASSIGN_OR_RETURN(const std::string bytes, SerializeModel(built.model));
  SessionOptions options;
  options.level = OptLevel::kNone;
  options.flush_denormals = false;
  options.arena = false;
  RLC_ASSIGN_OR_RETURN(const Session session, Session::FromBytes(bytes, what, options));
  RLC_ASSIGN_OR_RETURN(std::vector<Tensor> results, session.Run(built.inputs, built.outputs));
  std::vector<Tensor> all;
  size_t next = 0;
  for (const ValueId output : node.outputs) {
    all.push_back(output == ValueId::kNone ? Tensor() : std::move(results[next++]));
  }
  return all;
}

}  // namespace rlc
