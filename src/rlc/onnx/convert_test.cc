#include "rlc/onnx/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "rlc/onnx/check.h"
#include "rlc/onnx/export.h"
#include "rlc/onnx/import.h"
#include "rlc/onnx/test_models.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const NodeId id : graph.nodes()) ops.push_back(graph.node(id).op);
  return ops;
}

constexpr char kOld[] = R"(
  <ir_version: 7, opset_import: ["" : 11]>
  g (float[N,1,4] x, bool c) => (float[a,b] y, float[e,f] z)
  <float[4,2] w = {1,2,3,4,5,6,7,8}>
  {
    [squeeze] s = Squeeze<axes = [1]>(x)
    [product] p = MatMul(s, w)
    [softmax] y = Softmax<axis = 1>(p)
    [branch] z = If (c) <
      then_branch = t () => (float[N,4] r) { r = Squeeze<axes = [1]>(x) },
      else_branch = e () => (float[N,4] q) { q = Neg(s) }>
  })";

TEST(ConvertOpset, ConvertsWhatChangedAndKeepsTheRest) {
  const Model old = ModelOf(kOld);
  const auto raised = ConvertOpset(old, 13);
  ASSERT_TRUE(raised) << raised.error().message;
  const Graph& graph = raised->graph;
  EXPECT_EQ(graph.opset(), 13);
  const Node& squeeze = *graph.producer(graph.Find("s"));
  EXPECT_EQ(squeeze.op, "Squeeze");
  EXPECT_EQ(squeeze.name, "squeeze");
  EXPECT_EQ(squeeze.attributes.size(), 0u);
  ASSERT_EQ(squeeze.inputs.size(), 2u);
  ASSERT_NE(graph.constant(squeeze.inputs[1]), nullptr);
  EXPECT_EQ(graph.constant(squeeze.inputs[1])->data<int64_t>()[0], 1);
  EXPECT_EQ(graph.producer(graph.Find("p"))->layer, 0);
  // Inside the branch, too.
  const Body body = std::get<Body>(graph.producer(graph.Find("z"))->FindAttribute("then_branch")->value);
  EXPECT_EQ(body->producer(body->Find("r"))->inputs.size(), 2u);
  EXPECT_EQ(body->opset(), 13);
  // What comes out is a valid model.
  EXPECT_TRUE(CheckModel(*raised));
  const auto again = ParseModel(*SerializeModel(*raised), "m", "");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ToString(again->graph.type(again->graph.Find("p"))), "float[N,2]");
  // The original is as it was.
  EXPECT_EQ(*SerializeModel(old), *SerializeModel(ModelOf(kOld)));
}

TEST(ConvertOpset, NeverLowers) {
  const Model model = ModelOf(kOld);
  EXPECT_EQ(*SerializeModel(*ConvertOpset(model, 9)), *SerializeModel(model));
  EXPECT_THAT(ConvertOpset(model, 4000).error().message, HasSubstr("newer"));
}

TEST(ConvertOpset, FunctionsFollowWhenTheyCan) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 12, "local" : 1]>
      g (float[2] x) => (float[a] y) { y = local.F(x) }
      <domain: "local", opset_import: ["" : 12]>
      F (a) => (b) { b = Squeeze<axes = [0]>(a) })");
  EXPECT_TRUE(ConvertOpset(model, 12));
  const auto raised = ConvertOpset(model, 13);
  ASSERT_FALSE(raised);
  EXPECT_EQ(raised.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(raised.error().message, HasSubstr("function local.F: its Squeeze node changes"));
}

TEST(RaiseIrVersion, ConstantsStayConstant) {
  onnx::ModelProto proto = ProtoOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Mul(x, w) })");
  proto.set_ir_version(3);
  Model model = *ParseModel(proto.SerializeAsString(), "m", "");
  RaiseIrVersion(model, 8);
  const Model again = *ParseModel(*SerializeModel(model), "m", "");
  EXPECT_EQ(again.ir_version, 8);
  EXPECT_EQ(again.graph.inputs().size(), 1u);
  EXPECT_NE(again.graph.constant(again.graph.Find("w")), nullptr);
  RaiseIrVersion(model, 4);
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_THAT(Ops(again.graph), ElementsAre("Mul"));
}

}  // namespace
}  // namespace rlc
