// A node whose inputs are all constant becomes the constant that it computes.
//
// Shape arithmetic is evaluated here (rlc/ir/evaluate.h), everything else by the context's evaluator, with
// optimizations off. An output of the graph stays one: a Constant node holds it.
//
// Refuses: random ops; foreign ops; nodes with bodies (a constant loop need not end); DequantizeLinear (an 8-bit weight
// stays 8-bit); results that would make the model larger than the context's limit allows, counting as gone only those
// inputs that have no other reader: a filled or tiled tensor, or a table that is read both as it is and transposed,
// stays computed. Sizes come from inferred types, so that nothing large is ever evaluated.
#include <algorithm>

#include "rlc/ir/evaluate.h"
#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

// A name and a header in the file; the same for each tensor.
constexpr int64_t kRecordBytes = 64;

// Results of unknown size are evaluated only when the inputs are this small and the op does not multiply them.
constexpr int64_t kSmallInputs = 1 << 16;

int64_t StoredBytes(const Tensor& tensor) {
  int64_t bytes = static_cast<int64_t>(tensor.bytes().size());
  for (const std::string& text : tensor.strings()) bytes += static_cast<int64_t>(text.size()) + 4;
  return bytes;
}

bool IsFoldableOp(const Graph& graph, const Node& node) {
  static constexpr std::string_view kKept[] = {"Constant",           "DequantizeLinear",   "DynamicQuantizeLinear",
                                               "OptionalHasElement", "OptionalGetElement", "Optional"};
  if (!node.domain.empty() || node.HasBody() || node.outputs.empty() || IsRandom(graph, node)) return false;
  if (node.op.starts_with("Sequence") || node.op == "SplitToSequence" || node.op == "ConcatFromSequence") return false;

  return std::find(std::begin(kKept), std::end(kKept), node.op) == std::end(kKept);
}

// Ops whose result can be far larger than their inputs.
bool Multiplies(const Node& node) {
  static constexpr std::string_view kOps[] = {"ConstantOfShape", "Expand", "Tile",    "Range", "EyeLike", "Pad",
                                              "Resize",          "OneHot", "Upsample"};
  return std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

// Bytes of all outputs by their inferred types; nothing when one is not known.
std::optional<int64_t> InferredBytes(const Graph& graph, const Node& node) {
  int64_t sum = 0;
  for (const ValueId output : node.outputs) {
    if (output == ValueId::kNone) continue;
    const auto dims = StaticShape(graph, output);
    if (!dims) return std::nullopt;
    const auto bytes = ByteSize(graph.type(output).elem, *dims);
    if (!bytes || __builtin_add_overflow(sum, *bytes, &sum)) return std::nullopt;
  }
  return sum;
}

struct Inputs {
  std::vector<const Tensor*> tensors;
  int64_t bytes = 0;  // all
  int64_t freed = 0;  // of those that nothing else reads
};

std::optional<Inputs> ConstantInputs(const Graph& graph, NodeId id) {
  Inputs inputs;
  for (const ValueId value : graph.node(id).inputs) {
    const Tensor* tensor = graph.constant(value);
    if (value != ValueId::kNone && tensor == nullptr) return std::nullopt;
    inputs.tensors.push_back(tensor);
    if (tensor == nullptr) continue;
    inputs.bytes += StoredBytes(*tensor);
    if (OnlyReaderIs(graph, value, id)) inputs.freed += StoredBytes(*tensor) + kRecordBytes;
  }
  return inputs;
}

Expected<std::vector<Tensor>> Evaluate(const Graph& graph, const Node& node, const Inputs& inputs,
                                       const RewriteContext& context) {
  BuiltinEvaluator builtin;
  auto results = builtin.Evaluate(graph, node, inputs.tensors);
  if (results || results.error().kind != ErrorKind::kUnavailable || context.evaluator == nullptr) return results;
  return context.evaluator->Evaluate(graph, node, inputs.tensors);
}

void Install(Graph& graph, NodeId anchor, const std::vector<Tensor>& results) {
  const std::vector<ValueId> outputs = graph.node(anchor).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId output = outputs[i];
    if (output == ValueId::kNone || !graph.HasReaders(output)) continue;
    if (!graph.is_output(output)) {
      graph.ReplaceUses(output, AddConstant(graph, graph.value(output).name, results[i]));
      continue;
    }
    Node constant;
    constant.op = "Constant";
    constant.outputs = {graph.AddValue(graph.UniqueName(graph.value(output).name), graph.type(output))};
    constant.attributes = {{"value", results[i], ""}};
    const NodeId holder = graph.AddNode(std::move(constant), anchor);
    graph.TakeOverOutput(holder, 0, output);
  }
  EraseNode(graph, anchor);
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext& context) {
  const Node& node = graph.node(anchor);
  const auto inputs = ConstantInputs(graph, anchor);
  if (!inputs || !IsFoldableOp(graph, node)) return NoMatch{};
  const auto inferred = InferredBytes(graph, node);
  const int64_t limit = context.fold_limit + inputs->freed;
  if (inferred && *inferred + kRecordBytes > limit) return Refuse("the constant would take {} bytes", *inferred);
  if (!inferred && (Multiplies(node) || inputs->bytes > kSmallInputs)) {
    return Refuse("the size of the constant is not known");
  }
  auto results = Evaluate(graph, node, *inputs, context);
  if (!results) return Refusal{results.error().message};
  if (results->size() != node.outputs.size()) return Refuse("it has {} results", results->size());
  int64_t bytes = kRecordBytes;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == ValueId::kNone || !graph.HasReaders(node.outputs[i])) continue;
    if ((*results)[i].dtype() == DType::kUndefined) return Refuse("a result is no tensor");
    bytes += StoredBytes((*results)[i]);
  }
  if (bytes > limit) return Refuse("the constant would take {} bytes", bytes);
  return Edit([=, results = *std::move(results)](Graph& changed) { Install(changed, anchor, results); });
}

}  // namespace

std::unique_ptr<Rewrite> FoldConstants() {
  return MakeExactRule("fold-constants", "nodes over constants become the constant they compute", &At);
}

}  // namespace rlc
