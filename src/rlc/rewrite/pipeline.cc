#include "rlc/rewrite/pipeline.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "rlc/rewrite/inferred_types.h"

namespace rlc {
namespace {

// Far beyond what any model needs (real ones take 3 to 6 rounds): the end of a pair of rules that undo each other.
constexpr int kMaxRounds = 60;
constexpr int kMaxBodyDepth = 64;
// A name and a header in the file, the same for each tensor.
constexpr int64_t kRecordBytes = 64;

int64_t ConstantBytes(const Graph& graph) {
  int64_t sum = 0;
  const auto add = [&](const Tensor& tensor) { sum += static_cast<int64_t>(tensor.bytes().size()) + kRecordBytes; };
  for (const ValueId id : graph.initializers()) {
    if (graph.value(id).tensor) add(*graph.value(id).tensor);
  }
  for (const NodeId id : graph.nodes()) {
    for (const Attribute& attribute : graph.node(id).attributes) {
      if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) add(*tensor);
    }
  }
  return sum;
}

// One graph, main or body, on its way to the fixed point.
class Scope {
 public:
  Scope(const std::vector<const Rewrite*>& rules, const Services& services, const PipelineOptions& options, int depth)
      : rules_(rules), services_(services), options_(options), depth_(depth) {}

  Expected<void> Run(Graph& graph, PipelineReport& report) {
    InferredTypes types(graph, depth_ > 0);
    const int64_t constants = ConstantBytes(graph);
    allowed_bytes_ = constants + (options_.growth_limit >= 0 ? options_.growth_limit : constants / 16 + 2048);
    constant_bytes_ = constants;
    const Expected<void> done = RunRounds(graph, types, report);
    types.Restore(graph);
    return done;
  }

 private:
  Expected<void> RunRounds(Graph& graph, InferredTypes& types, PipelineReport& report) {
    for (int round = 0; round < kMaxRounds; ++round) {
      RLC_RETURN_IF_ERROR(types.Refresh(graph, services_.types));
      refusals_.clear();
      report.rounds = std::max(report.rounds, round + 1);
      bool changed = RunRound(graph, report);
      if (!changed) {
        RLC_ASSIGN_OR_RETURN(changed, RunBodies(graph, report));
      }
      if (!changed) break;
    }
    report.refused.insert(report.refused.end(), refusals_.begin(), refusals_.end());
    return {};
  }

  bool RunRound(Graph& graph, PipelineReport& report) {
    bool changed = false;
    for (const Rewrite* rule : rules_) {
      if (rule->info().whole_graph) changed = Try(graph, *rule, NodeId::kNone, report) || changed;
    }
    const std::vector<NodeId> nodes = graph.nodes();
    for (const NodeId node : nodes) {
      for (const Rewrite* rule : rules_) {
        if (!graph.alive(node)) break;
        if (!rule->info().whole_graph) changed = Try(graph, *rule, node, report) || changed;
      }
    }
    return changed;
  }

  bool Try(Graph& graph, const Rewrite& rule, NodeId anchor, PipelineReport& report) {
    RewriteContext context;
    context.evaluator = services_.evaluator;
    context.fold_limit = std::min(options_.fold_limit, allowed_bytes_ - constant_bytes_);
    const Outcome outcome = rule.At(graph, anchor, {}, context);
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
      refusals_.push_back({std::string(rule.info().id), SiteId(graph, anchor), refusal->reason});
    }
    const auto* edit = std::get_if<Edit>(&outcome);
    if (edit == nullptr) return false;
    report.applied.push_back({std::string(rule.info().id), SiteId(graph, anchor), ""});
    (*edit)(graph);
    constant_bytes_ = ConstantBytes(graph);
    return true;
  }

  // Simplifies the bodies of all nodes, each as a graph of its own.
  Expected<bool> RunBodies(Graph& graph, PipelineReport& report) {
    bool changed = false;
    if (depth_ >= kMaxBodyDepth) return changed;
    const std::vector<NodeId> nodes = graph.nodes();
    for (const NodeId id : nodes) {
      if (!graph.node(id).HasBody()) continue;
      const std::vector<Attribute> attributes = graph.node(id).attributes;
      for (Attribute attribute : attributes) {
        RLC_ASSIGN_OR_RETURN(const bool edited, RunAttribute(attribute.value, report));
        if (!edited) continue;
        changed = true;
        graph.SetAttribute(id, std::move(attribute));
      }
    }
    return changed;
  }

  Expected<bool> RunAttribute(AttributeValue& value, PipelineReport& report) {
    if (auto* body = std::get_if<Body>(&value)) return RunBody(*body, report);
    bool changed = false;
    if (auto* bodies = std::get_if<std::vector<Body>>(&value)) {
      for (Body& body : *bodies) {
        RLC_ASSIGN_OR_RETURN(const bool edited, RunBody(body, report));
        changed = changed || edited;
      }
    }
    return changed;
  }

  Expected<bool> RunBody(Body& body, PipelineReport& report) {
    auto copy = std::make_shared<Graph>(*body);
    PipelineReport inner;
    RLC_RETURN_IF_ERROR(Scope(rules_, services_, options_, depth_ + 1).Run(*copy, inner));
    const bool changed = inner.changed();
    report.applied.insert(report.applied.end(), inner.applied.begin(), inner.applied.end());
    refusals_.insert(refusals_.end(), inner.refused.begin(), inner.refused.end());
    if (changed) body = std::move(copy);
    return changed;
  }

  const std::vector<const Rewrite*>& rules_;
  const Services& services_;
  const PipelineOptions& options_;
  const int depth_;
  int64_t allowed_bytes_ = 0, constant_bytes_ = 0;
  std::vector<RewriteEvent> refusals_;  // of the last round
};

Expected<std::vector<const Rewrite*>> SelectRules(const PipelineOptions& options) {
  for (const std::vector<std::string>* names : {&options.only, &options.skip}) {
    for (const std::string& name : *names) {
      const Rewrite* rule = FindRewrite(name);
      if (rule == nullptr) return MakeError(ErrorKind::kUsage, "there is no rule '{}'; --list-rules shows all", name);
      if (rule->info().exactness != Exactness::kExact) {
        return MakeError(ErrorKind::kUsage, "rule '{}' changes the function; only exact rules simplify", name);
      }
    }
  }
  const auto names = [](const std::vector<std::string>& list, std::string_view id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  std::vector<const Rewrite*> rules;
  for (const auto& rule : AllRewrites()) {
    const RewriteInfo& info = rule->info();
    if (info.exactness != Exactness::kExact || names(options.skip, info.id)) continue;
    if (!options.only.empty() && !names(options.only, info.id)) continue;
    if (!options.fold && (info.id == "fold-constants" || info.id == "fold-shapes")) continue;
    rules.push_back(rule.get());
  }
  return rules;
}

}  // namespace

Expected<PipelineReport> Simplify(Graph& graph, const Services& services, const PipelineOptions& options) {
  RLC_ASSIGN_OR_RETURN(const std::vector<const Rewrite*> rules, SelectRules(options));
  PipelineReport report;
  RLC_RETURN_IF_ERROR(Scope(rules, services, options, 0).Run(graph, report));
  return report;
}

Expected<PipelineReport> Simplify(Model& model, const Services& services, const PipelineOptions& options) {
  const bool redefines = std::any_of(model.functions.begin(), model.functions.end(), [](const Function& function) {
    return function.domain.empty() || function.domain == "ai.onnx";
  });
  if (redefines) return PipelineReport{};
  return Simplify(model.graph, services, options);
}

Expected<PipelineReport> ApplyEverywhere(Graph& graph, const Rewrite& rule, const Services& services) {
  const std::vector<const Rewrite*> rules = {&rule};
  PipelineReport report;
  RLC_RETURN_IF_ERROR(Scope(rules, services, PipelineOptions(), 0).Run(graph, report));
  return report;
}

}  // namespace rlc
