#include "rlc/measure/accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "rlc/data/npz.h"
#include "rlc/measure/tensor_array.h"
#include "rlc/measure/test_models.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

// The scores are the inputs: class = largest of three.
constexpr char kPass[] = "graph (float[N,3] x) => (float[N,3] y) { y = Mul(x, %one float[1] = {1}) }";
// The third class can never win.
constexpr char kBlind[] = "graph (float[N,3] x) => (float[N,3] y) { y = Add(x, %b float[3] = {0, 0, -100}) }";
constexpr char kFixedBatch[] = "graph (float[1,3] x) => (float[1,3] y) { y = Mul(x, %one float[1] = {1}) }";
// Says that the batch is free, but works for one row only.
constexpr char kFalselyFree[] = R"(
    graph (float[N,3] x) => (float[N,3] y) { y = Reshape(x, %s int64[2] = {1, 3}) })";

class AccuracyTest : public ::testing::Test {
 protected:
  // 30 rows; row i has its largest score at i % 3, which is also its label.
  AccuracyTest() : folder_(TempDir::Create().value()) {
    std::vector<float> x(90, 0.0f);
    std::vector<int64_t> labels;
    for (size_t row = 0; row < 30; ++row) {
      x[row * 3 + row % 3] = 1;
      labels.push_back(static_cast<int64_t>(row % 3));
    }
    path_ = JoinPath(folder_.path(), "data.npz");
    EXPECT_TRUE(WriteNpz(path_, std::vector<NamedArray>{{"x", Array::Of<float>({30, 3}, x)},
                                                        {"labels", Array::Of<int64_t>({30}, labels)}}));
  }

  Dataset Open(int64_t batch = -1) const {
    const std::vector<InputSpec> inputs = {{"x", ElementType::kFloat32, {batch, 3}}};
    auto data = Dataset::Open(path_, inputs);
    EXPECT_TRUE(data) << (data ? "" : data.error().message);
    return *data;
  }
  std::string Model(const std::string& name, std::string_view text) const {
    return WriteTestModel(folder_.path(), name, text);
  }
  static std::vector<size_t> Rows(size_t count) {
    std::vector<size_t> rows(count);
    std::iota(rows.begin(), rows.end(), size_t{0});
    return rows;
  }
  AccuracyJudge Judge(const std::string& baseline, const Dataset& data, const AccuracyOptions& options = {}) const {
    auto judge = AccuracyJudge::Create(baseline, data, Rows(30), data.ClassLabels().value(), options);
    EXPECT_TRUE(judge) << (judge ? "" : judge.error().message);
    return *std::move(judge);
  }

  TempDir folder_;
  std::string path_;
};

TEST_F(AccuracyTest, CountsTheRowsThatTheCandidateLoses) {
  const AccuracyJudge judge = Judge(Model("base.onnx", kPass), Open());
  EXPECT_EQ(judge.metric(), "top1");
  EXPECT_EQ(judge.baseline().value, 1);
  const auto same = judge.Judge(Model("same.onnx", kPass));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->drop.value, 0);
  const auto blind = judge.Judge(Model("blind.onnx", kBlind));
  ASSERT_TRUE(blind) << blind.error().message;
  EXPECT_NEAR(blind->drop.value, 1.0 / 3, 1e-9);
  EXPECT_LT(blind->drop.low, 1.0 / 3);
  EXPECT_GT(blind->drop.low, 0);
  EXPECT_GT(blind->drop.high, 1.0 / 3);
  EXPECT_EQ(blind->scores.rows.size(), 30u);
  EXPECT_GT(blind->peak_rss_bytes, 0u);
}

TEST_F(AccuracyTest, SegmentsAndBatchesChangeNothing) {
  AccuracyOptions options;
  options.segment_bytes = 60;  // five rows
  options.kept_bytes = 120;
  options.batch_rows = 4;
  const AccuracyJudge judge = Judge(Model("base.onnx", kPass), Open(), options);
  const auto blind = judge.Judge(Model("blind.onnx", kBlind));
  ASSERT_TRUE(blind) << blind.error().message;
  EXPECT_NEAR(blind->drop.value, 1.0 / 3, 1e-9);
}

TEST_F(AccuracyTest, RunsRowByRowWhereTheModelAsksForIt) {
  EXPECT_EQ(Judge(Model("fixed.onnx", kFixedBatch), Open(1)).baseline().value, 1);
  EXPECT_EQ(Judge(Model("free.onnx", kFalselyFree), Open()).baseline().value, 1);
}

TEST_F(AccuracyTest, WithoutLabelsItAsksForAgreement) {
  auto judge = AccuracyJudge::Create(Model("base.onnx", kPass), Open(), Rows(30), {}, {});
  ASSERT_TRUE(judge) << judge.error().message;
  EXPECT_EQ(judge->metric(), "agreement");
  EXPECT_NEAR(judge->Judge(Model("blind.onnx", kBlind))->drop.value, 1.0 / 3, 1e-9);
}

TEST_F(AccuracyTest, TheKeyNamesDataRowsAndMetric) {
  const std::string base = Model("base.onnx", kPass);
  const auto key = [&](size_t rows, const std::string& metric) {
    AccuracyOptions options;
    options.metric = metric;
    return AccuracyJudge::Create(base, Open(), Rows(rows), Open().ClassLabels().value(), options)->key();
  };
  EXPECT_EQ(key(10, "top1"), key(10, "top1"));
  EXPECT_NE(key(10, "top1"), key(11, "top1"));
  EXPECT_NE(key(10, "top1"), key(10, "rms"));
}

TEST_F(AccuracyTest, RefusesWithAReason) {
  const std::string base = Model("base.onnx", kPass);
  AccuracyOptions options;
  options.metric = "beauty";
  EXPECT_EQ(AccuracyJudge::Create(base, Open(), Rows(3), {}, options).error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(AccuracyJudge::Create(base, Open(), {}, {}, {}));
  options.metric = "rms";
  const AccuracyJudge judge = Judge(base, Open(), options);
  EXPECT_FALSE(judge.Judge("/nowhere/candidate.onnx"));
  const std::string other =
      Model("other.onnx", "graph (float[N,3] x) => (float[N,1] y) { y = ReduceSum(x, %a int64[1] = {1}) }");
  const auto shape = judge.Judge(other);
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().kind, ErrorKind::kInvalidInput);
}

}  // namespace
}  // namespace rlc
