#include "rlc/ort/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Bytes(std::string_view text) {
  auto model = ParseModelText(text);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  auto bytes = SerializeModel(*model);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
  return *bytes;
}

Session Load(std::string_view text, SessionOptions options = {}) {
  auto session = Session::FromBytes(Bytes(text), "test.onnx", options);
  EXPECT_TRUE(session) << (session ? "" : session.error().message);
  return *session;
}

constexpr char kAffine[] = R"(
    graph (float[N,2] x) => (float[N,2] y) {
      two = Mul(x, %k float[1] = {2})
      y = Relu(two)
    })";

TEST(Session, RunsAndTellsItsInterface) {
  const Session session = Load(kAffine);
  ASSERT_EQ(session.inputs().size(), 1u);
  EXPECT_EQ(session.inputs()[0].name, "x");
  EXPECT_EQ(ToString(session.inputs()[0].type), "float[N,2]");
  const NamedTensor x{"x", Tensor::Of<float>({2, 2}, {1, -1, 3, 4})};
  auto outputs = session.Run({&x, 1});
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_THAT(outputs->front().dims(), ElementsAre(2, 2));
  EXPECT_THAT(outputs->front().data<float>(), ElementsAre(2, 0, 6, 8));
}

TEST(Session, OutputsOutliveTheSession) {
  Tensor result;
  {
    const Session session = Load(kAffine);
    const NamedTensor x{"x", Tensor::Of<float>({1, 2}, {5, 6})};
    result = session.Run({&x, 1})->front();
  }
  EXPECT_THAT(result.data<float>(), ElementsAre(10, 12));
}

TEST(Session, AnOutputThatIsAnInputOutlivesTheCallersTensor) {
  Tensor result;
  {
    const Session session = Load("graph (float[2] x) => (float[2] y) { y = Identity(x) }");
    const NamedTensor x{"x", Tensor::Of<float>({2}, {1, 2})};
    result = session.Run({&x, 1})->front();
  }
  EXPECT_THAT(result.data<float>(), ElementsAre(1, 2));
}

TEST(Session, RunsStringsAndEmptyTensors) {
  const Session strings = Load("graph (string[2] x) => (string[2] y) { y = Identity(x) }");
  const NamedTensor text{"x", Tensor::FromStrings({2}, {"a", ""})};
  auto copied = strings.Run({&text, 1});
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_THAT(copied->front().strings(), ElementsAre("a", ""));

  const Session affine = Load(kAffine);
  const NamedTensor none{"x", Tensor::Of<float>({0, 2}, {})};
  auto empty = affine.Run({&none, 1});
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_THAT(empty->front().dims(), ElementsAre(0, 2));
}

TEST(Session, TakesViewsThatAreNotAligned) {
  auto bytes = std::make_shared<std::string>(1 + 8, '\0');
  const float values[] = {1, 2};
  std::memcpy(bytes->data() + 1, values, 8);
  const std::span<const std::byte> view(reinterpret_cast<const std::byte*>(bytes->data()) + 1, 8);
  const NamedTensor x{"x", Tensor::FromView(DType::kFloat, {1, 2}, view, bytes)};
  auto outputs = Load(kAffine).Run({&x, 1});
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_THAT(outputs->front().data<float>(), ElementsAre(2, 4));
}

TEST(Session, GivesTheOutputsThatAreAskedFor) {
  const Session session = Load(R"(graph (float[2] x) => (float[2] a, float[2] b) { a = Neg(x) b = Abs(x) })");
  const NamedTensor x{"x", Tensor::Of<float>({2}, {1, -2})};
  const std::string wanted = "b";
  auto outputs = session.Run({&x, 1}, {&wanted, 1});
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_THAT(outputs->front().data<float>(), ElementsAre(1, 2));
  const std::string unknown = "c";
  EXPECT_THAT(session.Run({&x, 1}, {&unknown, 1}).error().message, HasSubstr("no output 'c'"));
}

TEST(Session, SaysWhichInputIsWrong) {
  const Session session = Load(kAffine);
  const auto error = [&](const std::vector<NamedTensor>& inputs) { return session.Run(inputs).error(); };
  EXPECT_THAT(error({}).message, HasSubstr("input 'x' (float[N,2]) is missing"));
  EXPECT_EQ(error({}).kind, ErrorKind::kInvalidInput);
  EXPECT_THAT(error({{"x", Tensor::Of<float>({1, 3}, {1, 2, 3})}}).message,
              HasSubstr("'x' is float[N,2], found float[1,3]"));
  EXPECT_THAT(error({{"x", Tensor::Of<double>({1, 2}, {1, 2})}}).message, HasSubstr("found double[1,2]"));
  const NamedTensor x{"x", Tensor::Of<float>({1, 2}, {1, 2})};
  EXPECT_THAT(error({x, {"z", x.tensor}}).message, HasSubstr("no input 'z'; its inputs: x"));
  EXPECT_THAT(error({x, x}).message, HasSubstr("given twice"));
}

TEST(Session, RefusesWhatIsNoModel) {
  auto garbage = Session::FromBytes("these are not the bytes of a model", "garbage.onnx");
  ASSERT_FALSE(garbage);
  EXPECT_EQ(garbage.error().kind, ErrorKind::kInvalidInput);
  EXPECT_THAT(garbage.error().message, HasSubstr("garbage.onnx: ONNX Runtime"));
  EXPECT_EQ(garbage.error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(Session::FromFile("/nowhere/model.onnx"));
}

TEST(Session, SaysWhenTheRuntimeHasNoKernel) {
  auto session = Session::FromBytes(
      Bytes("graph (double[1,1,4,4] x) => (double[1,1,4,4] y) { y = Conv(x, %w double[1,1,1,1]) }"), "m");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().kind, ErrorKind::kUnavailable) << session.error().message;
}

// The smallest normal float times a half is a denormal.
TEST(Session, FlushesDenormalsOnlyWhenTold) {
  const float smallest = std::numeric_limits<float>::min();
  const NamedTensor x{"x", Tensor::Of<float>({2}, {smallest, 1})};
  for (const bool flush : {true, false, true}) {
    SessionOptions options;
    options.flush_denormals = flush;
    const Session session = Load("graph (float[2] x) => (float[2] y) { y = Mul(x, %k float[1] = {0.5}) }", options);
    const auto outputs = session.Run({&x, 1});
    ASSERT_TRUE(outputs);
    EXPECT_EQ(outputs->front().data<float>()[0] == 0, flush);
    volatile float mine = smallest;
    mine = mine * 0.5f;
    EXPECT_GT(mine, 0) << "the caller's own arithmetic must not change";
  }
}

TEST(BoundRun, RepeatsARunAndKeepsItsInputs) {
  auto bound = BoundRun::Create(Load(kAffine), {{"x", Tensor::Of<float>({1, 2}, {1, 2})}});
  ASSERT_TRUE(bound) << bound.error().message;
  for (int i = 0; i < 3; ++i) {
    const auto run = bound->Run();
    EXPECT_TRUE(run) << run.error().message;
  }
  EXPECT_THAT(BoundRun::Create(Load(kAffine), {}).error().message, HasSubstr("input 'x'"));
}

TEST(OptLevel, NamesRoundTrip) {
  for (const OptLevel level : {OptLevel::kNone, OptLevel::kBasic, OptLevel::kExtended, OptLevel::kAll}) {
    EXPECT_EQ(ParseOptLevel(OptLevelName(level)).value(), level);
  }
  EXPECT_EQ(ParseOptLevel("fast").error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace rlc
