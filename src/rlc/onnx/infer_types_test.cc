#include "rlc/onnx/infer_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <string>

#include "rlc/onnx/import.h"
#include "rlc/onnx/test_models.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

std::string TypeOf(const Model& model, const char* name) {
  const ValueId id = model.graph.Find(name);
  return id == ValueId::kNone ? "no such value" : ToString(model.graph.type(id));
}

std::string ErrorOf(const char* text) {
  const auto model = ParseModel(ProtoOf(text).SerializeAsString(), "m", "");
  return model ? "no error" : model.error().message;
}

TEST(InferTypes, CarriesSymbolsThroughShapeArithmetic) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[N,3,H,4] x) => (float[A,B] y)
      <int64[1] zero = {0}, int64[1] two = {2}, int64[1] twelve = {12}>
      {
        s = Shape(x)
        n = Gather(s, zero)
        h = Gather(s, two)
        nh = Concat<axis = 0>(n, h, twelve)
        r = Reshape(x, nh)
        l = Relu(r)
        y = ReduceSum<keepdims = 0>(l, two)
      })");
  EXPECT_EQ(TypeOf(model, "s"), "int64[4]");
  EXPECT_EQ(TypeOf(model, "l"), "float[N,H,12]");
  EXPECT_EQ(TypeOf(model, "y"), "float[A,B]");  // the interface stays as declared
}

TEST(InferTypes, ComputedListsAreAsGoodAsConstants) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[6,8] x) => (float[a,b] y)
      <int64[1] zero = {0}, int64[1] one = {1}>
      {
        s = Shape(x)
        end = Gather(s, zero)
        c = Slice(x, zero, end, one)
        y = Relu(c)
      })");
  EXPECT_EQ(TypeOf(model, "c"), "float[6,6]");
}

TEST(InferTypes, StaleRecordsAreNotBelieved) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[N,4] x, int64[2] s) => (float[a,b] y)
      <float[1,4] a1, float[1,9] b1>
      { a1 = Relu(x)  b1 = Reshape(a1, s)  y = Neg(b1) })");
  EXPECT_EQ(TypeOf(model, "a1"), "float[N,4]");
  EXPECT_EQ(TypeOf(model, "b1"), "float[?,?]");  // nothing contradicts it, but it stands beside a stale one
}

TEST(InferTypes, RecordsFillWhatInferenceLeavesOpen) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17, "com.foreign" : 1]>
      g (float[N,4] x, int64[2] s) => (float[a,b] y)
      <float[N,9] r, int64[M] f>
      { r = Reshape(x, s)  f = com.foreign.Count(r)  c = Cast<to = 1>(f)  y = Mul(r, c) })");
  EXPECT_EQ(TypeOf(model, "r"), "float[N,9]");
  EXPECT_EQ(TypeOf(model, "f"), "int64[M]");
  EXPECT_EQ(TypeOf(model, "c"), "float[M]");
}

TEST(InferTypes, UnknownTypesAreNoError) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17, "com.foreign" : 1]>
      g (float[2] x) => (float[a] y, int64[b] z)
      { f = com.foreign.Gadget(x)  n = Neg(f)  s = Shape(n)  y = Relu(n)  z = Identity(s) })");
  EXPECT_EQ(TypeOf(model, "n"), "?");
  EXPECT_EQ(TypeOf(model, "s"), "int64[*]");
}

TEST(InferTypes, TakesListsOfOneForTheScalarsOfRange) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (int64[1] n, float[3] x) => (int64[a] y, float[3] z)
      <int64[1] zero = {0}, int64[1] one = {1}>
      {
        y = Range(zero, n, one)
        r = Relu(x)
        z = Neg(r)
      })");
  EXPECT_EQ(TypeOf(model, "r"), "float[3]");
}

TEST(InferTypes, RefusesContradictions) {
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x, float[4,5] b) => (float[2,5] y) { [mm] y = MatMul(x, b) })"),
              HasSubstr("node \"mm\" (MatMul)"));
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x, int64[2] b) => (float[2] y) { y = Add(x, b) })"),
              HasSubstr("input B is tensor(int64) where tensor(float) is needed"));
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x) => (float[2,6] y) { y = Concat<axis = 5>(x, x) })"),
              HasSubstr("axis"));
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x) => (int64[2,3] y) { y = Relu(x) })"),
              HasSubstr("declared as int64[2,3] but is float[2,3]"));
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[1,2,3] x) => (float[a,b,c] y) { y = MaxPool<kernel_shape = [2, 2]>(x) })"),
              HasSubstr("kernel_shape has 2 numbers, 1 are needed"));
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[1,2,3,3] x) => (float[a,b,c,d] y) { y = MaxPool<kernel_shape = [2, 2], strides = [1, 0]>(x) })"),
              HasSubstr("strides holds 0"));
}

TEST(InferTypes, SurvivesWhatTheLibraryDoesNot) {
  // Never returned: a space was skipped without being passed.
  const Model model = ModelOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x, float[3,N] b) => (float[p,q] y) { e = Einsum<equation = "ij, jk -> ik">(x, b)  y = Relu(e) })");
  EXPECT_EQ(TypeOf(model, "e"), "float[2,N]");
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x) => (float[p,q] y) { y = Einsum<equation = "i?j">(x) })"),
              HasSubstr("no Einsum equation"));
  // Crashed: a negative axis after a cast.
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x, float[3] s) => (float[p,q] y, float[r,t] m) {
        y, m = LayerNormalization<axis = 4294967295>(x, s) })"),
              HasSubstr("axis is 4294967295"));
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x, int64[2,1] i) => (float[p,q] y) { y = GatherND<batch_dims = -3>(x, i) })"),
              HasSubstr("batch_dims is -3"));
  // Made one dimension for each of 2^40 elements.
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2,3] x, int64[1099511627776] s) => (float[] y) { y = Expand(x, s) })"),
              HasSubstr("1099511627776 elements"));
}

TEST(InferTypes, BranchesAgreeOnWhatTheyReturn) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (float[N,4] x, bool c) => (float[a,b] y)
      {
        i = If (c) <
          then_branch = t () => (p) { p = Neg(x) },
          else_branch = e () => (q) <int64[1] one = {1}> { z = Shape(x)  q = Concat<axis = 0>(x, x) }>
        y = Relu(i)
      })");
  EXPECT_EQ(TypeOf(model, "i"), "float[?,4]");
  const Body body = std::get<Body>(model.graph.node(model.graph.nodes()[0]).FindAttribute("else_branch")->value);
  EXPECT_EQ(ToString(body->type(body->Find("z"))), "int64[2]");
  EXPECT_EQ(ToString(body->type(body->Find("x"))), "float[N,4]");     // captured
  EXPECT_EQ(body->type(body->Find("q")).kind, Type::Kind::kUnknown);  // an interface, and undeclared

  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x, bool c) => (float[2] y) { y = If (c) <
          then_branch = t () => (p) { p = Neg(x) }, else_branch = e () => (q) { q = Shape(x) }> })"),
              HasSubstr("its branches return"));
  EXPECT_THAT(ErrorOf(R"(<ir_version: 8, opset_import: ["" : 17]>
      g (float[2] x, bool c) => (float[2] y) { y = If (c) <
          then_branch = t () => (p, r) { p = Neg(x)  r = Abs(x) }, else_branch = e () => (q) { q = Abs(x) }> })"),
              HasSubstr("its branches return 2 and 1"));
}

TEST(InferTypes, LoopsAndScans) {
  const Model model = ModelOf(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      g (int64 m, bool c, float[4] x, float[7,2] rows, float[2] start) => (float[a] y, float[b,e] z, float[2] w, float[7,3] v)
      {
        last, all = Loop (m, c, x) <body = b (int64 i, bool go, float[4] state) => (bool more, float[4] next, float[4] out) {
          more = Identity(go)  next = Neg(state)  out = Abs(state) }>
        sum, parts = Scan <num_scan_inputs = 1, body = s (float[2] acc, float[2] row) => (float[2] total, float[3] part) {
          total = Add(acc, row)  part = Constant<value = float[3] {1, 2, 3}>() }> (start, rows)
        y = Identity(last)  z = Identity(all)  w = Identity(sum)  v = Identity(parts)
      })");
  EXPECT_EQ(TypeOf(model, "last"), "float[4]");
  EXPECT_EQ(TypeOf(model, "all"), "float[?,4]");
  EXPECT_EQ(TypeOf(model, "sum"), "float[2]");
  EXPECT_EQ(TypeOf(model, "parts"), "float[7,3]");
}

TEST(InferTypes, BodiesGetWhatTheyAskFor) {
  const auto error = [](const std::string& inputs, const std::string& node) {
    const std::string text =
        "<ir_version: 8, opset_import: [\"\" : 17]> g (" + inputs + ") => (float[a] y) { " + node + " }";
    return ErrorOf(text.c_str());
  };
  const std::string branches = " <then_branch = t () => (p) { p = Neg(x) }, else_branch = e () => (q) { q = Abs(x) }>";
  EXPECT_THAT(error("float[2] x", "y = If (x)" + branches), HasSubstr("its condition is float[2], a single bool"));
  EXPECT_THAT(error("float[2] x, bool[3] c", "y = If (c)" + branches), HasSubstr("its condition is bool[3]"));
  EXPECT_THAT(error("float[2] x, bool c",
                    "y = If (c) <then_branch = t (float[2] u) => (p) { p = Neg(u) }, "
                    "else_branch = e () => (q) { q = Abs(x) }>"),
              HasSubstr("then_branch takes 1 inputs, but gets 0"));
  const std::string body =
      " <body = b (int64 i, bool go, float[2] s) => (bool more, float[2] t) "
      "{ more = Identity(go)  t = Neg(s) }>";
  EXPECT_THAT(error("float[2] x, bool c, float m", "y = Loop (m, c, x)" + body), HasSubstr("number of turns is float"));
  EXPECT_THAT(error("float[2] x, int64 c, int64 m", "y = Loop (m, c, x)" + body), HasSubstr("condition is int64"));
  EXPECT_THAT(error("float[2] x, bool c, int64 m", "y, z = Loop (m, c, x, x)" + body),
              HasSubstr("body takes 3 inputs, but gets 4"));
  EXPECT_THAT(error("float[2] x, bool c, int64 m", "y = Loop (m, c)" + body), HasSubstr("body takes 3 inputs"));
  EXPECT_THAT(error("float[2] x",
                    "y = Scan <num_scan_inputs = 1, body = b (float s, float r) => (float t) { t = Add(s, r) }> (x)"),
              HasSubstr("body takes 2 inputs, but gets 1"));
}

TEST(InferTypes, FunctionsWithAnOperatorsNameAreNotOperators) {
  const Model model = ModelOf(R"(
      <ir_version: 10, opset_import: ["" : 17, "local" : 1]>
      g (float[2] x) => (float[a] y) <float[5] f> { f = local.Relu(x)  y = Neg(f) }
      <domain: "local", opset_import: ["" : 17]>
      Relu (a) => (b) { c = Concat<axis = 0>(a, a)  b = Abs(c) })");
  EXPECT_EQ(TypeOf(model, "f"), "float[5]");
}

TEST(InferTypes, DoublingListsStayBounded) {
  std::string text = R"(<ir_version: 8, opset_import: ["" : 17]> g (float[N,3] x) => (int64[a] y) { s0 = Shape(x) )";
  for (int i = 0; i < 60; ++i) text += fmt::format("s{0} = Concat<axis = 0>(s{1}, s{1}) ", i + 1, i);
  text += "y = Identity(s60) }";
  const auto model = ParseModel(ProtoOf(text.c_str()).SerializeAsString(), "m", "");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(TypeOf(*model, "s30"), fmt::format("int64[{}]", int64_t{2} << 30));
}

}  // namespace
}  // namespace rlc
