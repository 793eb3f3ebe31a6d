#include "rlc/ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "rlc/ir/text.h"
#include "rlc/testing/ir.h"

namespace rlc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Verdict(const Graph& graph) {
  const auto verified = VerifyGraph(graph);
  if (verified) return "fine";
  EXPECT_EQ(verified.error().kind, ErrorKind::kInternal);
  return verified.error().message;
}

Graph Chain() {
  return Parse(R"(graph (float[2] x, float[2] d = {1, 2}) => (z) {
    y = Add(x, %w float[2]) @"adder"
    z = If<then_branch=graph () => (t) { t = Relu(y) }, else_branch=graph () => (t) { t = Add(y, w) }>(x)
  })");
}

TEST(Verify, AcceptsBodiesThatShareNamesWithEachOther) { EXPECT_EQ(Verdict(Chain()), "fine"); }

TEST(Verify, FindsReadersBeforeProducers) {
  Graph graph = Parse("graph (x) => (z) { y = Relu(x) @\"first\" z = Neg(y) @\"second\" }");
  graph.SetInput(graph.nodes()[0], 0, graph.Find("z"));
  EXPECT_THAT(Verdict(graph), AllOf(HasSubstr("Relu 'first' (output y): reads z before Neg 'second'")));
}

TEST(Verify, FindsBodiesThatReadWhatComesLater) {
  Graph graph = Parse(R"(graph (x) => (y) {
    y = Relu(x)
    z = If<then_branch=graph () => (t) { t = Relu(y) }>(x)
  })");
  const Attribute late = *graph.node(graph.nodes()[1]).FindAttribute("then_branch");
  graph.SetAttribute(graph.nodes()[0], late);
  EXPECT_THAT(Verdict(graph), HasSubstr("reads y before"));
}

TEST(Verify, FindsValuesWithoutProducer) {
  Graph graph = Chain();
  graph.AddOutput(graph.AddValue("ghost"));
  EXPECT_EQ(Verdict(graph), "ghost: no node produces it");
}

TEST(Verify, FindsCapturesOfNothing) {
  Graph graph = Chain();
  auto body = std::make_shared<Graph>();
  body->AddOutput(body->AddCaptured("nowhere"));
  graph.SetAttribute(graph.nodes()[1], {"then_branch", Body(body), ""});
  EXPECT_THAT(Verdict(graph), HasSubstr("nowhere: read, but no node"));
}

TEST(Verify, FindsBodiesThatHideOuterNames) {
  Graph graph = Chain();
  auto body = std::make_shared<Graph>();
  body->AddOutput(body->AddInput("y", {}));
  graph.SetAttribute(graph.nodes()[1], {"then_branch", Body(body), ""});
  EXPECT_THAT(Verdict(graph), AllOf(HasSubstr("If (output z): in then_branch"), HasSubstr("y: hides")));
}

TEST(Verify, FindsCyclesThroughTheNodeItself) {
  Graph graph = Parse("graph (x) => (y) { y = Relu(x) }");
  graph.SetInput(graph.nodes()[0], 0, graph.Find("y"));
  EXPECT_THAT(Verdict(graph), HasSubstr("reads y before"));
}

TEST(Verify, FindsConstantsOfAnotherType) {
  Graph graph = Chain();
  graph.SetType(graph.Find("w"), Type::Tensor(DType::kFloat, Shape{Dim::Of(3)}));
  EXPECT_EQ(Verdict(graph), "w: typed float[3], but its constant is float[2]");
}

TEST(Verify, ModelsImportWhatTheyUse) {
  auto model = ParseModelText("graph (x) => (y) { y = com.example::Relu(x) }");
  ASSERT_TRUE(model);
  const auto verified = VerifyModel(*model);
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message, HasSubstr("imports no operator set 'com.example'"));
  model->functions.push_back({"com.example", "Relu", "", ""});
  EXPECT_TRUE(VerifyModel(*model));
}

TEST(Verify, LayersAreNumberedOnce) {
  const auto model = ParseModelText("graph (x) => (z) { y = Relu(x) layer 1 z = Relu(y) layer 1 }");
  ASSERT_TRUE(model);
  const auto verified = VerifyModel(*model);
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message, HasSubstr("two nodes carry layer 1"));
}

}  // namespace
}  // namespace rlc
