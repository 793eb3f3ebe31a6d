#include "rlc/measure/measured_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "rlc/data/npz.h"
#include "rlc/measure/test_models.h"
#include "rlc/onnx/convert.h"
#include "rlc/onnx/infer_types.h"
#include "rlc/ort/constant_evaluator.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

constexpr char kConvBn[] = R"(
    graph (float[1,3] x) => (float[1,3] y) {
      i = Reshape(x, %shape int64[4] = {1, 3, 1, 1})
      c = Conv<kernel_shape=[1,1]>(i, %w float[3,3,1,1]) layer 0
      n = BatchNormalization(c, %s float[3], %b float[3], %m float[3], %var float[3])
      y = Flatten(n)
    })";

// One candidate that folds the BatchNormalization, one whose plan cannot be applied.
Catalogue SomeCatalogue() {
  Catalogue catalogue;
  LayerEntry layer;
  layer.number = 0;
  layer.name = "c";
  layer.has_bn = true;
  catalogue.layers.push_back(layer);
  CatalogueEntry fold;
  fold.type = ActionType::kFuseConvBn;
  fold.layer = 0;
  fold.action = {"fuse-bn-into-layer", "n", {}};
  fold.name = "fuse_conv_bn layer0";
  CatalogueEntry bad;
  bad.type = ActionType::kPrune;
  bad.layer = 0;
  bad.action = {"no-such-rewrite", "layer0", {}};
  bad.name = "prune layer0";
  catalogue.entries = {fold, bad};
  return catalogue;
}

class MeasuredEvaluatorTest : public ::testing::Test {
 protected:
  MeasuredEvaluatorTest()
      : folder_(TempDir::Create().value()),
        model_(TestModel(kConvBn)),
        types_(model_),
        catalogue_(SomeCatalogue()),
        store_(TrialStore::Open(JoinPath(folder_.path(), "trials")).value()) {}

  MeasuredSetup NewSetup() {
    MeasuredSetup setup;
    setup.model = &model_;
    setup.catalogue = &catalogue_;
    setup.store = &store_;
    setup.services = {&types_, &constants_, ConvertOpset};
    setup.model_path = WriteTestModel(folder_.path(), "original.onnx", kConvBn);
    setup.model_hash = "hash";
    setup.machine = "machine";
    setup.timing_inputs = {{"x", RandomTensor({1, 3})}};
    setup.timing.budget_seconds = 0.1;
    setup.timing.min_rounds = 5;
    setup.timing.control = false;
    setup.wall_clock = SystemClock();
    return setup;
  }
  static MeasuredEvaluator Make(MeasuredSetup setup) {
    auto evaluator = MeasuredEvaluator::Create(std::move(setup));
    EXPECT_TRUE(evaluator) << (evaluator ? "" : evaluator.error().message);
    return *std::move(evaluator);
  }

  TempDir folder_;
  Model model_;
  OnnxTypeInference types_;
  OrtConstantEvaluator constants_;
  Catalogue catalogue_;
  TrialStore store_;
};

TEST_F(MeasuredEvaluatorTest, MeasuresACandidateOnce) {
  MeasuredEvaluator evaluator = Make(NewSetup());
  EXPECT_EQ(evaluator.source(), CostSource::kMeasured);
  const auto costs = evaluator.Evaluate({0});
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_EQ(costs->source, CostSource::kMeasured);
  EXPECT_GT(costs->latency_ms.value, 0);
  EXPECT_GT(costs->ratio.value, 0);
  EXPECT_LE(costs->ratio.low, costs->ratio.high);
  EXPECT_FALSE(costs->drop) << "there is no data";
  EXPECT_EQ(costs->file_bytes, static_cast<int64_t>(evaluator.BytesOf({0})->size()));
  EXPECT_NE(evaluator.BytesOf({0}).value(), evaluator.BytesOf({}).value());
  EXPECT_EQ(evaluator.evaluations(), 1);
  EXPECT_EQ(evaluator.Evaluate({0})->latency_ms, costs->latency_ms);
  EXPECT_EQ(evaluator.evaluations(), 1);
  ASSERT_TRUE(evaluator.Evaluate({}));
  EXPECT_EQ(evaluator.evaluations(), 2);
  EXPECT_EQ(store_.OfModel("hash")->size(), 2u);
}

TEST_F(MeasuredEvaluatorTest, ReadsTheStoreUnlessToldToMeasureFresh) {
  const auto first = Make(NewSetup()).Evaluate({0});
  ASSERT_TRUE(first) << first.error().message;
  MeasuredEvaluator second = Make(NewSetup());
  EXPECT_EQ(second.Evaluate({0})->latency_ms, first->latency_ms);
  EXPECT_EQ(second.evaluations(), 0);
  MeasuredSetup fresh = NewSetup();
  fresh.reuse = false;
  MeasuredEvaluator third = Make(std::move(fresh));
  ASSERT_TRUE(third.Evaluate({0}));
  EXPECT_EQ(third.evaluations(), 1);
}

TEST_F(MeasuredEvaluatorTest, AFailureIsAnErrorAndARow) {
  MeasuredSetup setup = NewSetup();
  setup.model_path = JoinPath(folder_.path(), "gone.onnx");  // the baseline cannot be loaded
  MeasuredEvaluator evaluator = Make(std::move(setup));
  const auto failed = evaluator.Evaluate({0});
  ASSERT_FALSE(failed);
  EXPECT_EQ(evaluator.evaluations(), 1);
  EXPECT_FALSE(evaluator.Evaluate({0}));
  EXPECT_EQ(evaluator.evaluations(), 1) << "it failed once, that is enough";
  const auto trials = store_.OfModel("hash");
  ASSERT_TRUE(trials);
  ASSERT_EQ(trials->size(), 1u);
  EXPECT_FALSE(trials->front().costs);
  EXPECT_EQ(trials->front().failure, failed.error().message);
}

TEST_F(MeasuredEvaluatorTest, AFailureOfThePlanNeedsNoMeasurement) {
  MeasuredEvaluator evaluator = Make(NewSetup());
  const auto failed = evaluator.Evaluate({1});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("no-such-rewrite"));
  EXPECT_EQ(evaluator.evaluations(), 0);
}

TEST_F(MeasuredEvaluatorTest, InterruptsAreNoFailures) {
  std::atomic<bool> stop = true;
  MeasuredSetup setup = NewSetup();
  setup.stop = StopToken(&stop);
  MeasuredEvaluator evaluator = Make(std::move(setup));
  EXPECT_EQ(evaluator.Evaluate({0}).error().kind, ErrorKind::kInterrupted);
  EXPECT_EQ(evaluator.evaluations(), 0);
  EXPECT_EQ(store_.OfModel("hash")->size(), 0u);
  stop = false;
  EXPECT_TRUE(evaluator.Evaluate({0}));
}

TEST_F(MeasuredEvaluatorTest, StatesTheDropAndTheEnergyWhereItCan) {
  std::vector<float> rows(60);
  Rng rng(3);
  for (float& value : rows) value = static_cast<float>(rng.Normal());
  const std::string path = JoinPath(folder_.path(), "data.npz");
  ASSERT_TRUE(WriteNpz(path, std::vector<NamedArray>{{"x", Array::Of<float>({20, 3}, rows)}}));
  const std::vector<InputSpec> inputs = {{"x", ElementType::kFloat32, {1, 3}}};
  const auto data = Dataset::Open(path, inputs);
  ASSERT_TRUE(data) << data.error().message;
  MeasuredSetup setup = NewSetup();
  AccuracyOptions options;
  options.metric = "rms";
  const auto judge = AccuracyJudge::Create(setup.model_path, *data, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {}, options);
  ASSERT_TRUE(judge) << judge.error().message;
  setup.judge = &*judge;
  setup.energy = EnergyOptions{};
  setup.powercap = folder_.path();  // no counters there
  MeasuredEvaluator evaluator = Make(std::move(setup));
  const auto costs = evaluator.Evaluate({0});
  ASSERT_TRUE(costs) << costs.error().message;
  ASSERT_TRUE(costs->drop);
  EXPECT_NEAR(costs->drop->value, 0, 1e-5) << "folding is exact";
  EXPECT_TRUE(costs->peak_bytes);
  EXPECT_FALSE(costs->energy_mj) << "what cannot be measured is not a number";
  EXPECT_THAT(store_.OfModel("hash")->front().key.data, HasSubstr("rms"));
}

}  // namespace
}  // namespace rlc
