// Laws that hold for any graph and any sequence of edits, on random networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "rlc/base/rng.h"
#include "rlc/ir/graph.h"
#include "rlc/ir/hash.h"
#include "rlc/ir/text.h"
#include "rlc/ir/verify.h"
#include "rlc/testing/ir.h"
#include "rlc/testing/random_graph.h"

namespace rlc {
namespace {

using ::testing::Not;

constexpr uint64_t kSeeds = 200;

ValueId PickValue(const Graph& graph, Rng& rng) {
  const std::vector<ValueId> values = graph.values();
  return values[static_cast<size_t>(rng.UniformInt(values.size()))];
}

// True if `value` exists where `node` stands.
bool ExistsBefore(const Graph& graph, ValueId value, NodeId node) {
  const NodeId producer = graph.value(value).producer;
  return producer == NodeId::kNone || graph.Before(producer, node);
}

bool NodesReadIt(const Graph& graph, const Node& node) {
  for (const ValueId output : node.outputs) {
    if (output != ValueId::kNone && graph.HasReaders(output)) return true;
  }
  return false;
}

// One random change that keeps the graph meaningful as a structure (types are not looked at).
void Edit(Graph& graph, Rng& rng) {
  if (graph.nodes().empty()) return;
  const NodeId id = graph.nodes()[static_cast<size_t>(rng.UniformInt(graph.nodes().size()))];
  const Node& node = graph.node(id);
  const ValueId other = PickValue(graph, rng);
  switch (rng.UniformInt(7)) {
    case 0:  // bypass
      if (!ExistsBefore(graph, other, id) || node.output(0) == ValueId::kNone) return;
      graph.ReplaceUses(node.output(0), other);
      return;
    case 1:
      if (!NodesReadIt(graph, node)) graph.RemoveNode(id);
      return;
    case 2: {
      Node relu;
      relu.op = "Relu";
      if (!ExistsBefore(graph, other, id)) return;
      relu.inputs = {other};
      relu.outputs = {graph.AddValue(graph.UniqueName(graph.value(other).name))};
      graph.AddNode(std::move(relu), id);
      return;
    }
    case 3:
      if (ExistsBefore(graph, other, id)) graph.SetInput(id, static_cast<size_t>(rng.UniformInt(3)), other);
      return;
    case 4:
      graph.TruncateInputs(id, static_cast<size_t>(rng.UniformInt(3)));
      return;
    case 5: {  // a new node takes over
      if (node.HasBody()) return;
      Node twin;
      twin.op = node.op;
      twin.inputs = node.inputs;
      twin.attributes = node.attributes;
      twin.outputs = {graph.AddValue(graph.UniqueName("twin"))};
      const ValueId taken = node.output(0);
      graph.TakeOverOutput(graph.AddNode(std::move(twin), id), 0, taken);
      return;
    }
    default:
      if (graph.value(other).kind == Value::Kind::kInitializer && !graph.HasReaders(other)) {
        graph.RemoveInitializer(other);
      }
  }
}

TEST(IrLaws, RandomGraphsAreValidAndVaried) {
  size_t nodes = 0;
  size_t bodies = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Graph graph = RandomGraph(seed);
    ASSERT_THAT(graph, IsValid()) << seed;
    ASSERT_THAT(RandomGraph(seed), HasTextOf(graph)) << seed;
    nodes += graph.nodes().size();
    for (const NodeId id : graph.nodes()) bodies += graph.node(id).HasBody() ? 1 : 0;
  }
  EXPECT_GT(nodes, 8 * kSeeds);
  EXPECT_GT(bodies, kSeeds / 10);
  EXPECT_THAT(RandomGraph(1), Not(HasTextOf(RandomGraph(2))));
}

TEST(IrLaws, TextKeepsWhatTheGraphIs) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Graph graph = RandomGraph(seed);
    const Graph again = Parse(PrintGraph(graph, {std::nullopt, true}));
    ASSERT_THAT(again, HasTextOf(graph)) << seed;
    ASSERT_EQ(StructuralHash(again), StructuralHash(graph)) << seed;
  }
}

TEST(IrLaws, EditsKeepGraphsValidAndCopiesUntouched) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rng rng(seed);
    const Graph original = RandomGraph(seed);
    const std::string before = PrintGraph(original, {std::nullopt, true});
    Graph graph = original;
    for (int edit = 0; edit < 60; ++edit) {
      Edit(graph, rng);
      ASSERT_THAT(graph, IsValid()) << "seed " << seed << ", edit " << edit;
    }
    ASSERT_THAT(graph, HasInterfaceOf(original)) << seed;
    ASSERT_TRUE(graph.SortTopologically());
    ASSERT_EQ(PrintGraph(original, {std::nullopt, true}), before) << seed;
    ASSERT_THAT(Parse(PrintGraph(graph, {std::nullopt, true})), HasTextOf(graph)) << seed;
  }
}

TEST(IrMatchers, SayNoWhenTheyShould) {
  const Graph graph = Parse("graph (float[2] x) => (z) { y = Relu(x) z = Add(y, %w float[2] = {1, 2}) }");
  EXPECT_THAT(graph, OpsAre({"Relu", "Add"}));
  EXPECT_THAT(graph, Not(OpsAre({"Add", "Relu"})));
  EXPECT_THAT(graph, Not(HasInterfaceOf(Parse("graph (float[3] x) => (z) { z = Relu(x) }"))));
  EXPECT_THAT(graph, Not(HasTextOf(Parse("graph (float[2] x) => (z) { z = Relu(x) }"))));
  EXPECT_THAT(ConstantNamed(graph, "w"), ::testing::ElementsAre(1, 2));
  EXPECT_EQ(graph.node(NodeOf(graph, "y")).op, "Relu");
  EXPECT_THROW(NodeOf(graph, "x"), std::invalid_argument);
  EXPECT_THROW(ConstantNamed(graph, "y"), std::invalid_argument);
  EXPECT_THROW(Parse("graph"), std::invalid_argument);
  Graph broken = graph;
  broken.AddOutput(broken.AddValue("ghost"));
  EXPECT_THAT(broken, Not(IsValid()));
  EXPECT_THAT(*graph.constant(graph.Find("w")), SameTensor(Tensor::Of<float>({2}, {1, 2})));
  EXPECT_THAT(*graph.constant(graph.Find("w")), Not(SameTensor(Tensor::Of<float>({2}, {1, 3}))));
}

TEST(ExpectedMatchers, TellValuesFromErrors) {
  const Expected<int> seven = 7;
  const Expected<int> error = MakeError(ErrorKind::kUsage, "a {} message", "clear");
  EXPECT_THAT(seven, IsOk());
  EXPECT_THAT(error, Not(IsOk()));
  EXPECT_THAT(seven, IsOkAndHolds(7));
  EXPECT_THAT(seven, Not(IsOkAndHolds(8)));
  EXPECT_THAT(error, Not(IsOkAndHolds(7)));
  EXPECT_THAT(error, IsError(::testing::HasSubstr("clear")));
  EXPECT_THAT(error, Not(IsError(::testing::HasSubstr("other"))));
  EXPECT_THAT(seven, Not(IsError(::testing::_)));
  EXPECT_THAT(error, IsErrorOf(ErrorKind::kUsage, ::testing::_));
  EXPECT_THAT(error, Not(IsErrorOf(ErrorKind::kInternal, ::testing::_)));
}

}  // namespace
}  // namespace rlc
