//   y = Transpose_q(f(Transpose_p(x), Transpose_p(z), c))   ->   y = Transpose_pq(f(x, z, c'))
//
// f: element-wise ops with one or two operands, in a tree whose leaves are Transposes with the same permutation or
// constants with at most one axis that is not 1 (c' is c along the axis that it meets before p). What the two
// permutations leave may be nothing: then the last Transpose goes too.
//
// Refuses nothing by itself: intermediate results with other readers (which want the old order), leaves of another
// kind, operands of different ranks and unknown ranks are no match.
#include <algorithm>
#include <map>

#include "rlc/rewrite/edit.h"
#include "rlc/rewrite/match.h"
#include "rlc/rewrite/op_forms.h"
#include "rlc/rewrite/rewrite.h"

namespace rlc {
namespace {

constexpr int kMaxNodes = 32;

bool IsUnary(const Node& node) {
  static constexpr std::string_view kOps[] = {
      "Abs",      "Ceil", "Clip",        "Elu",  "Erf",       "Exp",   "Floor", "Gelu",       "Log",
      "Neg",      "Relu", "Sigmoid",     "Sqrt", "LeakyRelu", "Round", "Sign",  "Tanh",       "Softplus",
      "Softsign", "Selu", "HardSigmoid", "Cast", "Not",       "Sin",   "Cos",   "Reciprocal", "HardSwish"};
  return node.domain.empty() && std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

bool IsBinary(const Node& node) {
  static constexpr std::string_view kOps[] = {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max"};
  return node.inputs.size() == 2 && node.domain.empty() &&
         std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

// One input of the tree that changes: the Transpose's source, or a constant in the other order.
struct Leaf {
  NodeId node = NodeId::kNone;
  size_t input = 0;
  ValueId source = ValueId::kNone;
  std::optional<Tensor> constant;
};

class Tree {
 public:
  explicit Tree(const Graph& graph) : graph_(graph) {}

  // Takes the operand `input` of `reader` into the tree.
  bool Add(NodeId reader, size_t input) {
    const ValueId value = graph_.node(reader).input(input);
    if (value == ValueId::kNone) return false;
    if (const Tensor* constant = graph_.constant(value)) {
      leaves_.push_back({reader, input, ValueId::kNone, *constant});
      return true;
    }
    if (const Node* transpose = ProducerIs(graph_, value, "Transpose")) return AddTranspose(reader, input, *transpose);
    const NodeId id = ProducerId(graph_, value);
    if (id == NodeId::kNone || !OnlyReaderIs(graph_, value, reader) || ++nodes_ > kMaxNodes) return false;
    const Node& node = graph_.node(id);
    if (graph_.value(value).output != 0 || graph_.opset() < 7) return false;
    if (!IsUnary(node) && !IsBinary(node)) return false;
    inner_.push_back(value);
    return Add(id, 0) && (!IsBinary(node) || Add(id, 1));
  }

  // Finds the constants' place in the other order. False when one has none.
  bool Finish() {
    if (perm_.empty() || inner_.empty()) return false;
    for (Leaf& leaf : leaves_) {
      if (leaf.constant && !Reorder(leaf)) return false;
    }
    return true;
  }

  const std::vector<int64_t>& perm() const { return perm_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  const std::vector<ValueId>& inner() const { return inner_; }

 private:
  bool AddTranspose(NodeId reader, size_t input, const Node& transpose) {
    const auto perm = ReadPermutation(graph_, transpose);
    if (!perm || perm->empty() || transpose.input(0) == ValueId::kNone) return false;
    if (!OnlyReaderIs(graph_, transpose.output(0), reader)) return false;
    if (!perm_.empty() && perm_ != *perm) return false;
    perm_ = *perm;
    leaves_.push_back({reader, input, transpose.input(0), std::nullopt});
    return true;
  }

  bool Reorder(Leaf& leaf) const {
    const std::vector<int64_t>& dims = leaf.constant->dims();
    const size_t rank = perm_.size();
    if (dims.size() > rank || std::count(dims.begin(), dims.end(), 1) + 1 < static_cast<int64_t>(dims.size()))
      return false;
    std::vector<int64_t> moved(rank, 1);
    for (size_t i = 0; i < dims.size(); ++i) moved[static_cast<size_t>(perm_[rank - dims.size() + i])] = dims[i];
    if (leaf.constant->size() == 1) {
      leaf.constant.reset();  // stays as it is
      return true;
    }
    leaf.constant = leaf.constant->Reshaped(moved);
    return true;
  }

  const Graph& graph_;
  std::vector<int64_t> perm_;
  std::vector<Leaf> leaves_;
  std::vector<ValueId> inner_;
  int nodes_ = 0;
};

Type Reordered(const Type& type, const std::vector<int64_t>& perm) {
  Type result = type;
  if (type.rank() != static_cast<int>(perm.size())) return Type::Tensor(type.elem);
  for (size_t i = 0; i < perm.size(); ++i) {
    (*result.shape)[static_cast<size_t>(perm[i])] = (*type.shape)[i];
  }
  return result;
}

Outcome At(const Graph& graph, NodeId anchor, const RewriteContext&) {
  const Node& outer = graph.node(anchor);
  if (!outer.Is("Transpose") || outer.input(0) == ValueId::kNone) return NoMatch{};
  Tree tree(graph);
  if (!tree.Add(anchor, 0) || !tree.Finish()) return NoMatch{};
  const auto last = ReadPermutation(graph, outer);
  const std::vector<int64_t>& first = tree.perm();
  if (!last || last->size() != first.size()) return NoMatch{};
  std::vector<int64_t> combined;
  for (const int64_t axis : *last) combined.push_back(first[static_cast<size_t>(axis)]);
  const std::vector<Leaf> leaves = tree.leaves();
  const std::vector<ValueId> inner = tree.inner();
  return Edit([=](Graph& changed) {
    for (const ValueId value : inner) changed.SetType(value, Reordered(changed.type(value), first));
    for (const Leaf& leaf : leaves) {
      if (leaf.source != ValueId::kNone) {
        ReplaceInput(changed, leaf.node, leaf.input, leaf.source);
      } else if (leaf.constant) {
        const std::string stem = changed.value(changed.node(leaf.node).input(leaf.input)).name;
        ReplaceInput(changed, leaf.node, leaf.input, AddConstant(changed, stem, *leaf.constant));
      }
    }
    changed.SetAttribute(anchor, {"perm", combined, ""});
  });
}

}  // namespace

std::unique_ptr<Rewrite> SinkTransposes() {
  return MakeExactRule("sink-transposes", "Transpose(f(Transpose(x), c)) -> Transpose(f(x, c')) for element-wise f",
                       &At);
}

}  // namespace rlc
