#include "rlc/rewrite/inferred_types.h"

namespace rlc {
namespace {

Type WithoutShape(const Type& type) { return type.is_tensor() ? Type::Tensor(type.elem) : type; }

// Names that exporters write for "not known", one for all: PaddlePaddle's models have [?,3,?,?] with height 48 and
// width 192.
bool IsNoName(const Dim& dim) {
  return !dim.known() && (dim.symbol == "?" || dim.symbol == "-1" || dim.symbol == "None" || dim.symbol == "unknown");
}

Type WithoutNoNames(Type type) {
  if (!type.is_tensor() || !type.shape) return type;
  for (Dim& dim : *type.shape) {
    if (IsNoName(dim)) dim.symbol.clear();
  }
  return type;
}

}  // namespace

InferredTypes::InferredTypes(Graph& graph, bool body) {
  for (const ValueId id : graph.values()) {
    const Value& value = graph.value(id);
    const bool output = value.output_uses > 0 && value.kind == Value::Kind::kNode;
    const bool input = body && (value.kind == Value::Kind::kInput || value.kind == Value::Kind::kOverridable);
    if (output || input) {
      declared_[id] = value.type;
      graph.SetType(id, WithoutShape(value.type));
    } else if (value.kind == Value::Kind::kInput && WithoutNoNames(value.type) != value.type) {
      declared_[id] = value.type;
      graph.SetType(id, WithoutNoNames(value.type));
    } else if (value.recorded && value.kind == Value::Kind::kNode && value.producer != NodeId::kNone &&
               graph.node(value.producer).domain.empty() && value.type.is_tensor()) {
      recorded_[id] = value.type;
      graph.SetType(id, WithoutShape(value.type));
    }
  }
}

Expected<void> InferredTypes::Refresh(Graph& graph, TypeInference* types) {
  if (types == nullptr) return {};
  return types->InferTypes(graph);
}

void InferredTypes::Restore(Graph& graph) const {
  for (const auto& [id, type] : declared_) {
    if (graph.alive(id)) graph.SetType(id, type);
  }
  for (const auto& [id, type] : recorded_) {
    if (graph.alive(id) && !graph.type(id).is_tensor()) graph.SetType(id, type);
  }
}

}  // namespace rlc
