// rlc's intermediate representation: a graph of nodes over values.
//
// A Graph is a value: copying it copies tables and shares weights and bodies, and ids stay valid in the copy. Nodes and
// values are named by small ids that are never reused. Nodes are kept in a topological order, which is the file's order
// until something is inserted.
//
// Everything is read through const references; changes go through Graph's methods, which keep the use lists right. So
// `readers(v)` is always the whole truth: nodes, nodes whose bodies capture v, and (is_output) the graph's interface.
#ifndef RLC_IR_GRAPH_H_
#define RLC_IR_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rlc/ir/attribute.h"
#include "rlc/ir/tensor.h"
#include "rlc/ir/type.h"

namespace rlc {

enum class NodeId : int32_t { kNone = -1 };
enum class ValueId : int32_t { kNone = -1 };  // kNone as a node's input or output: absent ("")

// One reader of a value. input == kCapture: a body of the node reads it.
struct Use {
  static constexpr int kCapture = -1;
  NodeId node = NodeId::kNone;
  int input = 0;
  bool operator==(const Use&) const = default;
};

struct Value {
  enum class Kind {
    kInput,        // of the graph
    kInitializer,  // a constant of the graph
    kOverridable,  // an initializer that is also an input (IR 4 and later): a default, not a constant
    kNode,         // output of a node
    kCaptured,     // in a body: a value of an enclosing graph, known there by the same name
  };
  Kind kind = Kind::kNode;
  std::string name;  // unique over all scopes of the model, never empty
  Type type;
  std::string extra;  // the rest of the ValueInfoProto or TensorProto (doc string, metadata), serialized
  // The constant behind the value: of an initializer, of an overridable default, or of a Constant node.
  std::optional<Tensor> tensor;
  std::string sparse;  // a SparseTensorProto initializer, serialized; then `tensor` is empty
  NodeId producer = NodeId::kNone;
  int output = 0;         // index among the producer's outputs
  std::vector<Use> uses;  // in no particular order; one entry for each input position
  int output_uses = 0;    // how many times it stands in the graph's outputs
  bool recorded = false;  // the file has a value_info for it
};

struct Node {
  std::string op;      // "Conv"
  std::string domain;  // "" for ONNX's own ("ai.onnx" is kept in `extra` spelling but normalised here)
  std::string name;    // may be empty, need not be unique
  std::string overload;
  std::vector<ValueId> inputs;   // kNone: absent
  std::vector<ValueId> outputs;  // kNone: absent
  std::vector<Attribute> attributes;
  std::vector<ValueId> captures;  // values of this graph that bodies of the node read; kept by Graph
  // Number of the layer (Conv, ConvTranspose, Gemm, MatMul with constant weights) in the imported graph, -1 for others.
  // Stays with the layer through all rewrites (see NumberLayers in ir/layers.h).
  int layer = -1;
  std::string extra;  // the rest of the NodeProto (doc string, metadata, unknown fields), serialized

  bool Is(std::string_view op_type) const { return domain.empty() && op == op_type; }
  const Attribute* FindAttribute(std::string_view attribute) const;
  // Typed look-ups: the default when the attribute is absent; nothing when it is there with another type.
  std::optional<int64_t> GetInt(std::string_view attribute, int64_t absent) const;
  std::optional<float> GetFloat(std::string_view attribute, float absent) const;
  std::optional<std::vector<int64_t>> GetInts(std::string_view attribute, std::vector<int64_t> absent = {}) const;
  std::optional<std::string> GetString(std::string_view attribute, std::string absent) const;
  bool HasBody() const;
  // inputs[index], kNone when there are fewer.
  ValueId input(size_t index) const { return index < inputs.size() ? inputs[index] : ValueId::kNone; }
  ValueId output(size_t index) const { return index < outputs.size() ? outputs[index] : ValueId::kNone; }
};

class Graph {
 public:
  // --- reading ---------------------------------------------------------------------------------------------------
  const std::string& name() const { return name_; }
  // Version of the operator set of `domain` ("" = ONNX's own); 0 when the model does not import it.
  int opset(std::string_view domain = "") const;
  const std::map<std::string, int>& opsets() const { return opsets_; }

  const std::vector<NodeId>& nodes() const { return order_; }  // alive, topologically ordered
  const Node& node(NodeId id) const;                           // precondition, checked: alive
  bool alive(NodeId id) const;
  const Value& value(ValueId id) const;  // precondition, checked: alive
  bool alive(ValueId id) const;
  // One past the largest id: for tables indexed by id.
  size_t node_limit() const { return nodes_.size(); }
  size_t value_limit() const { return values_.size(); }
  std::vector<ValueId> values() const;  // alive, by id

  const std::vector<ValueId>& inputs() const { return inputs_; }    // the interface, kOverridable ones included
  const std::vector<ValueId>& outputs() const { return outputs_; }  // duplicates possible
  // Dense, sparse and kOverridable ones, in the order in which they were added.
  const std::vector<ValueId>& initializers() const { return initializers_; }

  ValueId Find(std::string_view name) const;  // kNone when there is none

  // The constant behind a value: an initializer that no caller can override, or the output of a Constant node. Null
  // when there is none (also for sparse ones and kNone).
  const Tensor* constant(ValueId id) const;
  const Node* producer(ValueId id) const;  // null for inputs, initializers, captured values and kNone
  bool is_output(ValueId id) const { return value(id).output_uses > 0; }
  // The node that is the only reader of the value: exactly one use, not a capture, not a graph output. Else kNone.
  NodeId SingleReader(ValueId id) const;
  bool HasReaders(ValueId id) const { return is_output(id) || !value(id).uses.empty(); }
  const Type& type(ValueId id) const { return value(id).type; }
  // Names of values of enclosing graphs that this one (or a body in it) reads: its kCaptured values with readers.
  std::vector<std::string> CapturedNames() const;
  // True when a comes before b in nodes().
  bool Before(NodeId a, NodeId b) const;

  // --- building and changing -------------------------------------------------------------------------------------
  void SetName(std::string name) { name_ = std::move(name); }
  void SetOpset(std::string domain, int version) { opsets_[std::move(domain)] = version; }

  // `name` must be free (checked): take it from the file or from UniqueName.
  ValueId AddInput(std::string name, Type type);
  ValueId AddInitializer(std::string name, Tensor tensor);
  ValueId AddOverridable(std::string name, Type type, Tensor tensor);
  ValueId AddSparseInitializer(std::string name, std::string serialized);
  ValueId AddCaptured(std::string name, Type type = {});
  ValueId AddValue(std::string name, Type type = {});  // to become the output of a node
  void AddOutput(ValueId id);

  // `node.outputs` are values from AddValue that have no producer yet. Position: at the end, or just before `before`
  // (the producers of its inputs must come before that place; the verifier checks the order). `captures` is computed: a
  // name that a body captures and that this graph does not know becomes a kCaptured value of this graph (the verifier
  // refuses those in the main graph).
  NodeId AddNode(Node node, NodeId before = NodeId::kNone);
  // Precondition, checked: nothing reads its outputs. Its output values go with it.
  void RemoveNode(NodeId id);
  // Precondition, checked: an initializer without readers that is not an interface input.
  void RemoveInitializer(ValueId id);

  void SetInput(NodeId node, size_t input, ValueId value);  // grows the list with kNone when needed
  void TruncateInputs(NodeId node, size_t count);
  void SetAttribute(NodeId node, Attribute attribute);  // adds or replaces by name
  void RemoveAttribute(NodeId node, std::string_view attribute);
  void SetOp(NodeId node, std::string op, std::string domain = "");
  void SetNodeName(NodeId node, std::string name);
  void SetLayer(NodeId node, int layer);
  void SetType(ValueId value, Type type);
  void SetRecorded(ValueId value, bool recorded);
  void SetExtra(ValueId value, std::string extra);
  // Gives an initializer that has exactly the readers the caller thinks of a new tensor. For shared weights use a new
  // initializer. Precondition, checked: kInitializer. The type follows.
  void SetTensor(ValueId initializer, Tensor tensor);

  // All readers of `from`, bodies included, read `to` instead. Graph outputs are not touched.
  void ReplaceUses(ValueId from, ValueId to);
  // `node` produces `value` as its output `index` from now on, and the node that produced it before gets a fresh value
  // (without readers) in its place: how a fused node takes over a graph output with its name and its readers. A value
  // that `node` had there must have no readers (checked) and goes.
  void TakeOverOutput(NodeId node, size_t index, ValueId value);
  // Drops an optional output that nobody reads (checked): it becomes absent.
  void DropOutput(NodeId node, size_t index);

  // A name that no value in any scope of the model has: in the main graph `hint` itself if free; else hint + "_rlc" +
  // scope + number. The name is not reserved: use it at once. Depends only on the graph's history, so replaying the
  // same rewrites gives the same names.
  std::string UniqueName(std::string_view hint);

  // Set once by the importer: all value names of the model, all scopes, and a tag that keeps scopes apart.
  void SetScope(std::shared_ptr<const std::unordered_set<std::string>> names, std::string tag);
  const std::string& scope_tag() const { return scope_tag_; }

  // Orders nodes so that producers come first, as near to the present order as possible. False: there is a cycle.
  [[nodiscard]] bool SortTopologically();

  std::string extra;  // the rest of the GraphProto (doc string, quantization annotations, metadata), serialized

 private:
  Node& MutableNode(NodeId id);
  Value& MutableValue(ValueId id);
  ValueId NewValue(Value value);
  void EraseValue(ValueId id);
  void AddUse(ValueId value, Use use);
  void RemoveUse(ValueId value, Use use);
  void UpdateCaptures(NodeId id);   // after a body changed
  void UpdateConstants(NodeId id);  // after the op or an attribute changed
  void Rename(ValueId id, std::string name);
  // In a body: what was captured as `from` is captured as `to`.
  void RenameCaptured(const std::string& from, const std::string& to);
  void RenameInBodies(NodeId id, const std::string& from, const std::string& to);
  size_t Place(NodeId id) const;  // index in order_
  void RelabelAll();

  std::string name_;
  std::map<std::string, int> opsets_;
  std::vector<std::optional<Node>> nodes_;
  std::vector<std::optional<Value>> values_;
  std::vector<NodeId> order_;
  std::vector<int64_t> label_;  // of a node: increases along order_, with gaps for insertions
  std::vector<ValueId> inputs_, outputs_, initializers_;
  std::unordered_map<std::string, ValueId> by_name_;
  std::shared_ptr<const std::unordered_set<std::string>> scope_names_;
  std::string scope_tag_;
  int next_unique_ = 0;
};

}  // namespace rlc

#endif  // RLC_IR_GRAPH_H_
