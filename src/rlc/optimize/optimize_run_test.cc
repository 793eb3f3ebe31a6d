#include "rlc/optimize/optimize_run.h"

#include "rlc/ir/text.h"
#include "rlc/onnx/export.h"
#include "rlc/testing/expected.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

Model ParseText(const std::string& text) {
  auto model = ParseModelText(text);
  EXPECT_TRUE(model) << model.error().message;
  return *std::move(model);
}

// A run whose only candidate is the exact model. What the evaluator makes of the model is `optimized`.
class OptimizeRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.input = JoinPath(folder_.path(), "in.onnx");
    request_.output = JoinPath(folder_.path(), "out.onnx");
    request_.clock = SteadyClock();
  }

  void Make(OptimizeRun& run, const std::string& optimized) {
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

constexpr char kAddOne[] = "graph (float[1,3] x) => (float[1,3] y) { y = Add(x, %one float[3] = {1, 1, 1}) }";

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

}  // namespace
}  // namespace rlc
