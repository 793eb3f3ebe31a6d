#include "rlc/optimize/optimize_run.h"

#include "rlc/data/npz.h"
#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"
#include "rlc/testing/expected.h"

namespace rlc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Model ParseText(const std::string& text) {
  auto model = ParseModelText(text);
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

constexpr char kAddOne[] = "graph (float[1,3] x) => (float[1,3] y) { y = Add(x, %one float[3] = {1, 1, 1}) }";

// A run whose only candidate is the exact model. What the evaluator makes of the model is `optimized`.
class OptimizeRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.input = JoinPath(folder_.path(), "in.onnx");
    request_.output = JoinPath(folder_.path(), "out.onnx");
    request_.clock = SteadyClock();
  }

  void Make(OptimizeRun& run, const std::string& optimized) {
    run.model = ParseText(kAddOne);
    auto data = SetUpData(run.model, {});
    ASSERT_THAT(data, IsOk());
    run.data = *std::move(data);
    optimized_ = ParseText(optimized);
    MeasuredSetup setup;
    setup.model = &optimized_;
    setup.catalogue = &run.catalogue;
    setup.wall_clock = SystemClock();
    auto evaluator = MeasuredEvaluator::Create(std::move(setup));
    ASSERT_THAT(evaluator, IsOk());
    run.evaluator = std::make_unique<MeasuredEvaluator>(*std::move(evaluator));
  }

  TempDir folder_ = TempDir::Create().value();
  OptimizeRequest request_;
  Model optimized_;
};

TEST_F(OptimizeRunTest, KeepBestWritesTheBestSoFar) {
  OptimizeRun run(request_);
  Make(run, kAddOne);
  ASSERT_THAT(KeepBest(run, {}), IsOk());
  EXPECT_THAT(ReadFile(request_.output), IsOkAndHolds(SerializeModel(optimized_).value()));
}

TEST_F(OptimizeRunTest, KeepBestLeavesAnOutputAloneThatIsNoModel) {
  OptimizeRun run(request_);
  Make(run, kAddOne);
  ASSERT_THAT(WriteFileAtomically(request_.output, "a policy"), IsOk());
  run.writes_model = false;
  ASSERT_THAT(KeepBest(run, {}), IsOk());
  EXPECT_THAT(ReadFile(request_.output), IsOkAndHolds("a policy"));
}

// What train and compare begin with: they have a policy, or nothing, to write.
TEST_F(OptimizeRunTest, LearningAloneWritesNoModel) {
  OptimizeRun run(request_);
  EXPECT_THAT(PrepareTables(run), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("in.onnx")));  // there is none
  EXPECT_FALSE(run.writes_model);
}

TEST_F(OptimizeRunTest, ExactOutputsAreTheOriginalsUpToRounding) {
  OptimizeRun run(request_);
  Make(run, "graph (float[1,3] x) => (float[1,3] y) { y = Sub(x, %one float[3] = {-1, -1, -1.00001}) }");
  EXPECT_TRUE(ExactOutputsAreSame(run));
  EXPECT_THAT(run.warnings, IsEmpty());
  ASSERT_TRUE(run.exact_deviation);
  EXPECT_GT(run.exact_deviation->relative_rms, 0);
}

TEST_F(OptimizeRunTest, SaysOnceWhichExactOutputIsAnother) {
  OptimizeRun run(request_);
  Make(run, "graph (float[1,3] x) => (float[1,3] y) { y = Add(x, %one float[3] = {1, 1, 1.01}) }");
  EXPECT_FALSE(ExactOutputsAreSame(run));
  EXPECT_FALSE(ExactOutputsAreSame(run));
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("output 'y' deviates by")));
}

TEST_F(OptimizeRunTest, ExactOutputsThatCannotBeComparedAreNotTheSame) {
  OptimizeRun run(request_);
  Make(run, "graph (float[1,4] x) => (float[1,4] y) { y = Neg(x) }");
  EXPECT_FALSE(ExactOutputsAreSame(run));
  EXPECT_FALSE(run.exact_deviation);
  EXPECT_THAT(run.warnings, ElementsAre(HasSubstr("could not be compared")));
}

TEST_F(OptimizeRunTest, ComparesOnSamplesOfTheData) {
  OptimizeRun run(request_);
  Make(run, "graph (float[1,3] x) => (float[1,3] y) { y = Add(x, %one float[3] = {1, 1, 1}) }");
  const std::string path = JoinPath(folder_.path(), "data.npz");
  const std::vector<NamedArray> arrays = {{"x", Array::Of<float>({5, 3}, std::vector<float>(15, 0.5F))}};
  ASSERT_THAT(WriteNpz(path, arrays), IsOk());
  auto data = SetUpData(run.model, {.path = path});
  ASSERT_THAT(data, IsOk());
  run.data = *std::move(data);
  EXPECT_TRUE(ExactOutputsAreSame(run));
  EXPECT_THAT(run.warnings, IsEmpty());
}

}  // namespace
}  // namespace rlc
