#include "rlc/ir/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Adds a node with one new output called `output`.
ValueId Add(Graph& graph, std::string op, std::vector<ValueId> inputs, std::string output,
            NodeId before = NodeId::kNone) {
  const ValueId result = graph.AddValue(std::move(output));
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = {result};
  graph.AddNode(std::move(node), before);
  return result;
}

NodeId ProducerOf(const Graph& graph, ValueId value) { return graph.value(value).producer; }

std::vector<std::string> Ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const NodeId id : graph.nodes()) ops.push_back(graph.node(id).op);
  return ops;
}

// y = Op(name), name captured from outside.
Body CapturingBody(const std::string& name) {
  Graph body;
  const ValueId captured = body.AddCaptured(name);
  body.AddOutput(Add(body, "Relu", {captured}, "body_" + name));
  return std::make_shared<const Graph>(std::move(body));
}

NodeId AddIf(Graph& graph, ValueId condition, Body then_branch, Body else_branch, std::string output) {
  Node node;
  node.op = "If";
  node.inputs = {condition};
  node.outputs = {graph.AddValue(std::move(output))};
  node.attributes = {{"then_branch", std::move(then_branch), ""}, {"else_branch", std::move(else_branch), ""}};
  return graph.AddNode(std::move(node));
}

const Graph& BodyOf(const Graph& graph, NodeId node, std::string_view attribute) {
  return *std::get<Body>(graph.node(node).FindAttribute(attribute)->value);
}

TEST(Graph, TracksReadersOfEveryInputPosition) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Add", {x, x}, "y");
  graph.AddOutput(y);
  const NodeId add = ProducerOf(graph, y);
  EXPECT_THAT(graph.value(x).uses, UnorderedElementsAre(Use{add, 0}, Use{add, 1}));
  EXPECT_EQ(graph.SingleReader(x), NodeId::kNone);
  const ValueId z = graph.AddInput("z", {});
  graph.SetInput(add, 1, z);
  EXPECT_EQ(graph.SingleReader(x), add);
  EXPECT_EQ(graph.SingleReader(z), add);
  EXPECT_TRUE(graph.is_output(y));
  EXPECT_EQ(graph.SingleReader(y), NodeId::kNone);
  graph.TruncateInputs(add, 1);
  EXPECT_FALSE(graph.HasReaders(z));
}

TEST(Graph, AbsentInputsHaveNoUse) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Clip", {x}, "y");
  const NodeId clip = ProducerOf(graph, y);
  graph.SetInput(clip, 2, x);
  EXPECT_THAT(graph.node(clip).inputs, ElementsAre(x, ValueId::kNone, x));
  EXPECT_EQ(graph.node(clip).input(1), ValueId::kNone);
  EXPECT_EQ(graph.node(clip).input(9), ValueId::kNone);
}

TEST(Graph, InsertsBeforeAndKeepsTheOrder) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId c = Add(graph, "C", {x}, "c");
  const NodeId last = ProducerOf(graph, c);
  // More often than the gap between two labels can be halved.
  for (int i = 0; i < 100; ++i) Add(graph, "B", {x}, "b" + std::to_string(i), last);
  const ValueId a = Add(graph, "A", {x}, "a", graph.nodes().front());
  EXPECT_EQ(graph.nodes().size(), 102U);
  EXPECT_EQ(graph.nodes().front(), ProducerOf(graph, a));
  EXPECT_EQ(graph.nodes().back(), last);
  for (size_t i = 1; i < graph.nodes().size(); ++i) EXPECT_TRUE(graph.Before(graph.nodes()[i - 1], graph.nodes()[i]));
  EXPECT_EQ(graph.value(graph.node(graph.nodes()[1]).output(0)).name, "b0");
}

TEST(Graph, RemovedNodesTakeTheirOutputsAlong) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Relu", {x}, "y");
  const NodeId relu = ProducerOf(graph, y);
  graph.RemoveNode(relu);
  EXPECT_FALSE(graph.alive(relu));
  EXPECT_FALSE(graph.alive(y));
  EXPECT_FALSE(graph.HasReaders(x));
  EXPECT_EQ(graph.Find("y"), ValueId::kNone);
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST(Graph, CopiesAreIndependentAndKeepIds) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId w = graph.AddInitializer("w", Tensor::Of<float>({2}, {1, 2}));
  const ValueId y = Add(graph, "Add", {x, w}, "y");
  Graph copy = graph;
  copy.SetInput(ProducerOf(copy, y), 1, x);
  copy.RemoveInitializer(w);
  EXPECT_TRUE(graph.HasReaders(w));
  EXPECT_FALSE(copy.alive(w));
  EXPECT_EQ(Graph(graph).constant(w)->bytes().data(), graph.constant(w)->bytes().data());
}

TEST(Graph, OnlyTrueConstantsAreConstant) {
  Graph graph;
  const ValueId fixed = graph.AddInitializer("fixed", Tensor::Scalar<int64_t>(3));
  const ValueId overridable = graph.AddOverridable("default", {}, Tensor::Scalar<int64_t>(4));
  const ValueId result = graph.AddValue("made");
  Node node;
  node.op = "Constant";
  node.outputs = {result};
  node.attributes = {{"value_ints", std::vector<int64_t>{1, 2}, ""}};
  const NodeId made = graph.AddNode(std::move(node));
  ASSERT_NE(graph.constant(fixed), nullptr);
  EXPECT_EQ(graph.constant(overridable), nullptr);
  EXPECT_THAT(graph.inputs(), ElementsAre(overridable));
  EXPECT_THAT(graph.initializers(), ElementsAre(fixed, overridable));
  ASSERT_NE(graph.constant(result), nullptr);
  EXPECT_THAT(graph.constant(result)->data<int64_t>(), ElementsAre(1, 2));
  EXPECT_EQ(ToString(graph.type(result)), "int64[2]");
  graph.SetOp(made, "Mystery", "com.example");
  EXPECT_EQ(graph.constant(result), nullptr);
  EXPECT_EQ(graph.constant(ValueId::kNone), nullptr);
}

TEST(Graph, ReplaceUsesLeavesTheInterfaceAlone) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Identity", {x}, "y");
  const ValueId z = Add(graph, "Relu", {y}, "z");
  graph.AddOutput(y);
  graph.ReplaceUses(y, x);
  EXPECT_EQ(graph.node(ProducerOf(graph, z)).input(0), x);
  EXPECT_THAT(graph.outputs(), ElementsAre(y));
  EXPECT_TRUE(graph.is_output(y));
  EXPECT_THAT(graph.value(y).uses, IsEmpty());
  EXPECT_EQ(graph.value(x).uses.size(), 2U);
}

TEST(Graph, CapturesAreReaders) {
  Graph graph;
  const ValueId c = graph.AddInput("c", {});
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Relu", {x}, "y");
  const NodeId branch = AddIf(graph, c, CapturingBody("y"), CapturingBody("y"), "out");
  EXPECT_THAT(graph.node(branch).captures, ElementsAre(y));
  EXPECT_THAT(graph.value(y).uses, ElementsAre(Use{branch, Use::kCapture}));
  EXPECT_EQ(graph.SingleReader(y), NodeId::kNone);
  graph.SetAttribute(branch, {"then_branch", CapturingBody("x"), ""});
  EXPECT_THAT(graph.node(branch).captures, ElementsAre(x, y));
  graph.RemoveAttribute(branch, "else_branch");
  EXPECT_FALSE(graph.HasReaders(y));
}

TEST(Graph, ReplaceUsesReachesIntoNestedBodiesWithoutTouchingSharedOnes) {
  Graph outer_body;
  const ValueId condition = outer_body.AddCaptured("c");
  outer_body.AddOutput(
      outer_body.node(AddIf(outer_body, condition, CapturingBody("y"), CapturingBody("x"), "inner")).output(0));
  EXPECT_THAT(outer_body.CapturedNames(), UnorderedElementsAre("c", "x", "y"));

  Graph graph;
  const ValueId c = graph.AddInput("c", {});
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Identity", {x}, "y");
  const NodeId branch =
      AddIf(graph, c, std::make_shared<const Graph>(outer_body), std::make_shared<const Graph>(outer_body), "out");
  const Graph before = graph;
  graph.ReplaceUses(y, x);
  EXPECT_FALSE(graph.HasReaders(y));
  EXPECT_THAT(graph.node(branch).captures, UnorderedElementsAre(c, x));
  const Graph& body = BodyOf(graph, branch, "then_branch");
  EXPECT_THAT(body.CapturedNames(), UnorderedElementsAre("c", "x"));
  const Graph& nested = BodyOf(body, body.nodes().front(), "then_branch");
  EXPECT_THAT(nested.CapturedNames(), ElementsAre("x"));
  EXPECT_THAT(BodyOf(before, branch, "then_branch").CapturedNames(), UnorderedElementsAre("c", "x", "y"));
}

TEST(Graph, ReplaceUsesRenamesWhatBodiesOfBodiesCapture) {
  Graph body;
  const ValueId condition = body.AddCaptured("x");
  body.AddOutput(body.node(AddIf(body, condition, CapturingBody("y"), CapturingBody("y"), "inner")).output(0));
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Identity", {x}, "y");
  const ValueId z = Add(graph, "Neg", {x}, "z");
  const NodeId branch = AddIf(graph, x, std::make_shared<const Graph>(body), CapturingBody("x"), "out");
  graph.ReplaceUses(y, z);
  const Graph& changed = BodyOf(graph, branch, "then_branch");
  EXPECT_THAT(changed.CapturedNames(), UnorderedElementsAre("x", "z"));
  const NodeId inner = changed.nodes().front();
  EXPECT_THAT(BodyOf(changed, inner, "then_branch").CapturedNames(), ElementsAre("z"));
  EXPECT_THAT(BodyOf(changed, inner, "else_branch").CapturedNames(), ElementsAre("z"));
}

TEST(Graph, ReplaceUsesRenamesABodysOwnValueThatWouldHideTheNewOne) {
  Graph body;
  const ValueId captured = body.AddCaptured("y");
  const ValueId own = Add(body, "Relu", {captured}, "z");  // "z" is a name of the outer graph as well
  body.AddOutput(own);
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Identity", {x}, "y");
  const ValueId z = Add(graph, "Neg", {x}, "z");
  const NodeId branch = AddIf(graph, x, std::make_shared<const Graph>(body), CapturingBody("x"), "out");
  graph.ReplaceUses(y, z);
  const Graph& changed = BodyOf(graph, branch, "then_branch");
  EXPECT_THAT(changed.CapturedNames(), ElementsAre("z"));
  EXPECT_EQ(changed.value(changed.outputs()[0]).name, "z_rlc0");
  EXPECT_EQ(changed.node(changed.nodes().front()).input(0), changed.Find("z"));
}

TEST(Graph, TakeOverOutputMovesNameAndReaders) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId conv = Add(graph, "Conv", {x}, "conv");
  const ValueId y = Add(graph, "Relu", {conv}, "y");
  const ValueId z = Add(graph, "Neg", {y}, "z");
  graph.AddOutput(y);
  graph.AddOutput(z);
  const NodeId relu = ProducerOf(graph, y);
  graph.SetInput(relu, 0, x);
  const NodeId fused = ProducerOf(graph, conv);
  graph.TakeOverOutput(fused, 0, y);
  EXPECT_FALSE(graph.alive(conv));
  EXPECT_EQ(ProducerOf(graph, y), fused);
  EXPECT_EQ(graph.value(graph.node(relu).output(0)).name, "y_rlc0");
  EXPECT_FALSE(graph.HasReaders(graph.node(relu).output(0)));
  graph.RemoveNode(relu);
  EXPECT_THAT(Ops(graph), ElementsAre("Conv", "Neg"));
  EXPECT_THAT(graph.outputs(), ElementsAre(y, z));
}

TEST(Graph, DropOutputTrimsTheList) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  Node node;
  node.op = "MaxPool";
  node.inputs = {x};
  node.outputs = {graph.AddValue("y"), graph.AddValue("indices")};
  const NodeId pool = graph.AddNode(std::move(node));
  graph.DropOutput(pool, 1);
  EXPECT_EQ(graph.node(pool).outputs.size(), 1U);
  EXPECT_EQ(graph.Find("indices"), ValueId::kNone);
}

TEST(Graph, UniqueNamesAvoidAllScopesAndDoNotGrow) {
  Graph graph;
  graph.SetScope(
      std::make_shared<const std::unordered_set<std::string>>(std::unordered_set<std::string>{"w", "w_rlc0"}), "");
  EXPECT_EQ(graph.UniqueName("free"), "free");
  const std::string name = graph.UniqueName("w");
  EXPECT_EQ(name, "w_rlc1");
  graph.AddValue(name);
  EXPECT_EQ(graph.UniqueName(name), "w_rlc2");
  EXPECT_EQ(graph.UniqueName(""), "_rlc3");
  Graph body;
  body.SetScope(nullptr, "b3");
  EXPECT_EQ(body.UniqueName("free"), "free_rlc_b3_0");
}

TEST(Graph, SortsStablyAndFindsCycles) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId late = graph.AddValue("late");
  const ValueId a = Add(graph, "A", {late}, "a");
  Add(graph, "B", {x}, "b");
  Node node;
  node.op = "L";
  node.inputs = {x};
  node.outputs = {late};
  graph.AddNode(std::move(node));
  EXPECT_TRUE(graph.SortTopologically());
  EXPECT_THAT(Ops(graph), ElementsAre("B", "L", "A"));
  EXPECT_TRUE(graph.Before(ProducerOf(graph, late), ProducerOf(graph, a)));
  graph.SetInput(ProducerOf(graph, late), 0, a);
  EXPECT_FALSE(graph.SortTopologically());
}

TEST(Graph, SetTensorAndTypesFollow) {
  Graph graph;
  const ValueId w = graph.AddInitializer("w", Tensor::Of<float>({2}, {1, 2}));
  graph.SetTensor(w, Tensor::Of<int64_t>({1, 1}, {7}));
  EXPECT_EQ(ToString(graph.type(w)), "int64[1,1]");
  EXPECT_THAT(graph.constant(w)->data<int64_t>(), ElementsAre(7));
}

TEST(Graph, LongChainsStayCheap) {
  constexpr int kNodes = 20'000;
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId w = graph.AddInitializer("w", Tensor::Scalar(1.0F));
  ValueId last = x;
  for (int i = 0; i < kNodes; ++i) last = Add(graph, "Add", {last, w}, "v" + std::to_string(i));
  graph.AddOutput(last);
  EXPECT_TRUE(graph.SortTopologically());
  const Graph copy = graph;
  // From the front, where erasing is dearest: bypass and remove all but the last.
  while (graph.nodes().size() > 1) {
    const NodeId first = graph.nodes().front();
    graph.ReplaceUses(graph.node(first).output(0), x);
    graph.RemoveNode(first);
  }
  EXPECT_EQ(graph.value(x).uses.size(), 1U);
  EXPECT_EQ(copy.nodes().size(), static_cast<size_t>(kNodes));
}

TEST(Node, TypedLookUpsTellAbsentFromWrong) {
  Node node;
  node.attributes = {{"axis", int64_t{2}, ""}, {"alpha", 0.5F, ""}, {"pads", std::vector<int64_t>{1, 2}, ""}};
  EXPECT_EQ(node.GetInt("axis", 7), 2);
  EXPECT_EQ(node.GetInt("other", 7), 7);
  EXPECT_EQ(node.GetInt("alpha", 7), std::nullopt);
  EXPECT_EQ(node.GetFloat("alpha", 1), 0.5F);
  EXPECT_THAT(node.GetInts("pads").value_or(std::vector<int64_t>{}), ElementsAre(1, 2));
  EXPECT_EQ(node.GetString("mode", "constant"), "constant");
  EXPECT_FALSE(node.HasBody());
}

TEST(GraphDeathTest, ChecksItsPreconditions) {
  Graph graph;
  const ValueId x = graph.AddInput("x", {});
  const ValueId y = Add(graph, "Relu", {x}, "y");
  graph.AddOutput(y);
  EXPECT_DEATH(graph.AddValue("x"), "name is free");
  EXPECT_DEATH(graph.RemoveNode(ProducerOf(graph, y)), "HasReaders");
  EXPECT_DEATH(graph.RemoveInitializer(x), "kInitializer");
}

}  // namespace
}  // namespace rlc
