// The laws of section "rewrites" of the design, with numbers from ONNX Runtime, for every exact rule: on fixtures in
// which it applies, on random networks, in pairs, and all together.
#include "rlc/testing/rewrite_laws.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "rlc/base/clock.h"
#include "rlc/base/rng.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/infer_types.h"
#include "rlc/ort/constant_evaluator.h"
#include "rlc/ort/session.h"
#include "rlc/testing/random_graph.h"

namespace rlc {
namespace {

// Sizes that free dimensions take.
int64_t SizeFor(const Dim& dim) { return dim.known() ? dim.value : dim.symbol == "batch" ? 1 : 3; }

Expected<NamedTensor> RandomInput(const std::string& name, const Type& type, Rng& rng) {
  std::vector<int64_t> dims;
  for (const Dim& dim : *type.shape) dims.push_back(SizeFor(dim));
  std::vector<double> values(static_cast<size_t>(ElementCount(dims).value_or(0)));
  for (double& value : values) value = IsFloat(type.elem) ? rng.Normal(0, 2) : double(rng.UniformRange(0, 5));
  RLC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromDoubles(type.elem, dims, values));
  return NamedTensor{name, std::move(tensor)};
}

// Bodies written in the text form have no names; the runtime wants some.
void NameBodies(Graph& graph) {
  if (graph.name().empty()) graph.SetName("g");
  const std::vector<NodeId> nodes = graph.nodes();
  for (const NodeId id : nodes) {
    const std::vector<Attribute> attributes = graph.node(id).attributes;
    for (Attribute attribute : attributes) {
      Body* body = std::get_if<Body>(&attribute.value);
      if (body == nullptr) continue;
      auto named = std::make_shared<Graph>(**body);
      NameBodies(*named);
      *body = std::move(named);
      graph.SetAttribute(id, std::move(attribute));
    }
  }
}

Expected<std::vector<Tensor>> RunGraph(const Graph& graph, uint64_t seed) {
  Model model;
  model.ir_version = 8;
  model.graph = graph;
  NameBodies(model.graph);
  RLC_ASSIGN_OR_RETURN(const std::string bytes, SerializeModel(model));
  SessionOptions options;
  options.level = OptLevel::kNone;
  options.flush_denormals = false;
  RLC_ASSIGN_OR_RETURN(const Session session, Session::FromBytes(bytes, "law", options));
  Rng rng(seed);
  std::vector<NamedTensor> inputs;
  for (const ValueId id : graph.inputs()) {
    RLC_ASSIGN_OR_RETURN(NamedTensor input, RandomInput(graph.value(id).name, graph.type(id), rng));
    inputs.push_back(std::move(input));
  }
  return session.Run(inputs);
}

class RewriteLaws : public ::testing::Test {
 protected:
  RewriteLaws() {
    options_.services.types = &types_;
    options_.services.evaluator = &evaluator_;
    options_.run = RunGraph;
  }

  std::vector<const Rewrite*> ExactRules() const {
    std::vector<const Rewrite*> rules;
    for (const auto& rule : AllRewrites()) {
      if (rule->info().exactness == Exactness::kExact) rules.push_back(rule.get());
    }
    return rules;
  }

  Graph Typed(std::string_view text) {
    Graph graph = Parse(text);
    EXPECT_THAT(types_.InferTypes(graph), IsOk());
    return graph;
  }

  OnnxTypeInference types_;
  OrtConstantEvaluator evaluator_;
  LawOptions options_;
};

TEST_F(RewriteLaws, EveryExactRuleHasAFixtureInWhichItApplies) {
  std::set<std::string_view> covered;
  for (const RuleFixture& fixture : RuleFixtures()) {
    SCOPED_TRACE(fixture.rule);
    const Rewrite* rule = FindRewrite(fixture.rule);
    ASSERT_NE(rule, nullptr);
    Graph graph = Typed(fixture.text);
    const auto report = ApplyEverywhere(graph, *rule, options_.services);
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->changed());
    covered.insert(fixture.rule);
  }
  for (const Rewrite* rule : ExactRules()) EXPECT_TRUE(covered.contains(rule->info().id)) << rule->info().id;
}

TEST_F(RewriteLaws, HoldForEveryRuleOnEveryFixture) {
  for (const RuleFixture& fixture : RuleFixtures()) {
    const Graph graph = Typed(fixture.text);
    for (const Rewrite* rule : ExactRules()) {
      SCOPED_TRACE(std::string(rule->info().id) + " on the fixture of " + std::string(fixture.rule));
      ExpectLawsOfRule(*rule, graph, options_);
    }
  }
}

TEST_F(RewriteLaws, HoldForEveryRuleOnRandomGraphs) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Graph graph = RandomGraph(seed);
    ASSERT_THAT(types_.InferTypes(graph), IsOk());
    for (const Rewrite* rule : ExactRules()) {
      SCOPED_TRACE(fmt::format("{} on random graph {}", rule->info().id, seed));
      ExpectLawsOfRule(*rule, graph, options_);
      if (HasFailure()) return;
    }
  }
}

TEST_F(RewriteLaws, HoldForPairsOfRules) {
  const std::vector<const Rewrite*> rules = ExactRules();
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const Rewrite& first = *rules[rng.UniformInt(rules.size())];
    const Rewrite& second = *rules[rng.UniformInt(rules.size())];
    const Graph graph = RandomGraph(1000 + seed);
    SCOPED_TRACE(fmt::format("{}, then {} on random graph {}", first.info().id, second.info().id, 1000 + seed));
    PipelineOptions both;
    both.only = {std::string(first.info().id), std::string(second.info().id)};
    ExpectLaws(graph, [&](Graph& g) { return Simplify(g, options_.services, both); }, options_);
    if (HasFailure()) return;
  }
}

TEST_F(RewriteLaws, HoldForAllRulesTogether) {
  for (const RuleFixture& fixture : RuleFixtures()) {
    SCOPED_TRACE(fixture.rule);
    ExpectLaws(Typed(fixture.text), [&](Graph& g) { return Simplify(g, options_.services); }, options_);
  }
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(fmt::format("random graph {}", seed));
    ExpectLaws(RandomGraph(seed), [&](Graph& g) { return Simplify(g, options_.services); }, options_);
    if (HasFailure()) return;
  }
}

// Goes on for RLC_LAW_SECONDS with ever new graphs of all opsets and types; a failure names the seed.
TEST_F(RewriteLaws, HoldForAnyOpsetAndType) {
  const char* wanted = std::getenv("RLC_LAW_SECONDS");
  const double seconds = wanted ? std::atof(wanted) : 5;
  const char* from = std::getenv("RLC_LAW_SEED");
  const uint64_t first = from ? std::strtoull(from, nullptr, 10) : 1;
  const std::vector<const Rewrite*> rules = ExactRules();
  const Clock clock = SteadyClock();
  const double start = clock();
  uint64_t seed = first, compared = 0;
  for (; clock() - start < seconds && !HasFailure(); ++seed) {
    const RandomGraphOptions random = RandomOptions(seed);
    SCOPED_TRACE(fmt::format("RLC_LAW_SEED={}: opset {}, {}{}", seed, random.opset, DTypeName(random.type),
                             random.free_batch ? ", free batch" : ""));
    Graph graph = RandomGraph(seed, random);
    ASSERT_THAT(types_.InferTypes(graph), IsOk());
    LawOptions options = options_;
    if (random.type == DType::kFloat16) {
      // The runtime computes in float and rounds where it likes.
      options.tolerance = 2e-2;
      options.floor = 4;
    }
    // The runtime lacks some operators for some types and opsets; the other laws hold there, too.
    const bool runs = RunGraph(graph, 1).has_value();
    if (!runs) options.run = nullptr;
    compared += runs ? 1 : 0;
    ExpectLaws(graph, [&](Graph& g) { return Simplify(g, options.services); }, options);
    PipelineOptions pair;
    Rng rng(seed);
    for (int i = 0; i < 2; ++i) pair.only.emplace_back(rules[rng.UniformInt(rules.size())]->info().id);
    SCOPED_TRACE(fmt::format("{}, then {}", pair.only[0], pair.only[1]));
    ExpectLaws(graph, [&](Graph& g) { return Simplify(g, options.services, pair); }, options);
  }
  fmt::print("{} graphs, {} of them run\n", seed - first, compared);
  EXPECT_GT(3 * compared, 2 * (seed - first));
}

}  // namespace
}  // namespace rlc
