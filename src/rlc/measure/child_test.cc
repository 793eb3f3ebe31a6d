#include "rlc/measure/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "rlc/base/file.h"
#include "rlc/measure/tensor_array.h"
#include "rlc/measure/test_models.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RLC_TEST_ASAN 1
#endif
#endif

namespace rlc {
namespace {

using ::testing::HasSubstr;

// The lock of all measurements lies in the cache folder: these tests have their own, so that they wait for nobody.
class OwnCache : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_.emplace(TempDir::Create().value());
    setenv("XDG_CACHE_HOME", folder_->path().c_str(), 1);
  }

 private:
  std::optional<TempDir> folder_;
};
const auto* const kOwnCache = ::testing::AddGlobalTestEnvironment(new OwnCache);

TEST(RunMeasureChild, HandsRequestAndReplyOver) {
  const Json request = {{"text", "a\n\"b\""}, {"numbers", {1, 2.5}}};
  const auto reply = RunMeasureChild("test-echo", request, "echo");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->result, request);
  EXPECT_GT(reply->peak_rss_bytes, 0u);
}

TEST(RunMeasureChild, HandsErrorsOver) {
  const auto failed = RunMeasureChild("test-fail", Json::object(), "model.onnx");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kInvalidInput);
  EXPECT_EQ(failed.error().message, "model.onnx: the test wants it so");
  EXPECT_EQ(RunMeasureChild("no such job", Json::object(), "x").error().kind, ErrorKind::kInternal);
}

TEST(RunMeasureChild, ACrashIsAnError) {
  const auto crashed = RunMeasureChild("test-crash", Json::object(), "model.onnx");
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(crashed.error().message, HasSubstr("model.onnx: the measuring process died of signal 6"));
}

TEST(RunMeasureChild, AHangIsAnError) {
  ChildLimits limits;
  limits.seconds = 0.5;
  const auto hung = RunMeasureChild("test-hang", Json::object(), "model.onnx", limits);
  ASSERT_FALSE(hung);
  EXPECT_THAT(hung.error().message, HasSubstr("was killed"));
}

TEST(RunMeasureChild, TooMuchMemoryIsAnError) {
#ifdef RLC_TEST_ASAN
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  ChildLimits limits;
  limits.memory_bytes = uint64_t{1} << 30;
  EXPECT_TRUE(RunMeasureChild("test-eat", {{"bytes", 1 << 20}}, "small", limits));
  const auto eaten = RunMeasureChild("test-eat", {{"bytes", uint64_t{4} << 30}}, "large", limits);
  ASSERT_FALSE(eaten);
  EXPECT_THAT(eaten.error().message, HasSubstr("memory"));
}

TEST(RunMeasureChild, StopsWhenTold) {
  std::atomic<bool> stop = false;
  ChildLimits limits;
  limits.stop = StopToken(&stop);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  const auto stopped = RunMeasureChild("test-hang", Json::object(), "x", limits);
  later.join();
  EXPECT_EQ(stopped.error().kind, ErrorKind::kInterrupted);
}

TEST(MeasureChildMain, NeedsItsTwoFiles) {
  char program[] = "rlc", command[] = "measure-child", request[] = "/nowhere/request.json",
       reply[] = "/nowhere/reply.json";
  char* all[] = {program, command, request, reply};
  EXPECT_FALSE(IsMeasureChild(1, all));
  EXPECT_TRUE(IsMeasureChild(2, all));
  EXPECT_NE(MeasureChildMain(2, all), 0);
  EXPECT_NE(MeasureChildMain(4, all), 0) << "the reply cannot be written";
}

TEST(TimeModelsInChild, TimesLikeTheFunctionItself) {
  const auto folder = TempDir::Create();
  const std::string small = WriteTestModel(folder->path(), "small.onnx", kSmallConv);
  const std::string large = WriteTestModel(folder->path(), "large.onnx", kLargeConv);
  TimingOptions options;
  options.budget_seconds = 0.5;
  const std::vector<TimedModel> models = {{"large", large, OptLevel::kAll, {}}, {"small", small, OptLevel::kBasic, {}}};
  const std::vector<NamedTensor> inputs = {{"x", RandomTensor({1, 8, 16, 16})}};
  const auto result = TimeModelsInChild(models, inputs, options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(result->models[1].ratio.value, 1);  // a small part of the work
  EXPECT_GT(result->rounds, 0);
  EXPECT_TRUE(result->control);

  const std::string broken = JoinPath(folder->path(), "broken.onnx");
  ASSERT_TRUE(WriteFileAtomically(broken, "not a model"));
  const auto failed =
      TimeModelsInChild(std::vector<TimedModel>{models[0], {"broken", broken, OptLevel::kAll, {}}}, inputs, options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kInvalidInput);
  EXPECT_THAT(failed.error().message, HasSubstr("broken.onnx: ONNX Runtime"));
}

TEST(RunModelInChild, RunsEveryBatch) {
  const auto folder = TempDir::Create();
  const std::string model = WriteTestModel(folder->path(), "m.onnx", kClassifier);
  const std::string batches = JoinPath(folder->path(), "in.safetensors");
  const auto batch = [](int64_t rows, uint64_t seed) {
    return std::vector<NamedArray>{{"x", ToArray(RandomTensor({rows, 4}, seed)).value()}};
  };
  ASSERT_TRUE(WriteBatches(batches, std::vector<std::vector<NamedArray>>{batch(3, 1), batch(1, 2)}));
  RunRequest request;
  request.model_path = model;
  request.batches_path = batches;
  const auto reply = RunModelInChild(request);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(reply->names, ::testing::ElementsAre("y"));
  ASSERT_EQ(reply->batches.size(), 2u);
  EXPECT_THAT(reply->batches[0][0].shape(), ::testing::ElementsAre(3, 3));
  EXPECT_THAT(reply->batches[1][0].shape(), ::testing::ElementsAre(1, 3));
  EXPECT_GT(reply->peak_rss_bytes, 0u);

  const NamedTensor direct{"x", RandomTensor({1, 4}, 2)};
  const auto expected = Session::FromFile(model)->Run({&direct, 1});
  ASSERT_TRUE(expected);
  EXPECT_EQ(ToArray(expected->front()).value(), reply->batches[1][0]);
}

TEST(MeasureEnergyInChild, IsUnavailableWithoutCounters) {
  const auto folder = TempDir::Create();
  const auto energy = MeasureEnergyInChild({}, {}, 1, {}, {}, folder->path());
  EXPECT_EQ(energy.error().kind, ErrorKind::kUnavailable);
}

TEST(MeasureEnergyInChild, ReadsTheCounters) {
  const auto folder = TempDir::Create();
  const std::string zone = JoinPath(folder->path(), "intel-rapl:0");
  ASSERT_TRUE(MakeFolders(zone));
  ASSERT_TRUE(WriteFileAtomically(zone + "/name", "package-0\n"));
  ASSERT_TRUE(WriteFileAtomically(zone + "/max_energy_range_uj", "1000000\n"));
  ASSERT_TRUE(WriteFileAtomically(zone + "/energy_uj", "5\n"));  // stands still: no energy used
  const std::string model = WriteTestModel(folder->path(), "m.onnx", kSmallConv);
  const std::vector<NamedTensor> inputs = {{"x", RandomTensor({1, 8, 16, 16})}};
  EnergyOptions options;
  options.idle_seconds = options.sample_seconds = 0.01;
  const auto energy = MeasureEnergyInChild({"m", model, OptLevel::kAll, {}}, inputs, 1, options, {}, folder->path());
  ASSERT_TRUE(energy) << energy.error().message;
  EXPECT_EQ(energy->value, 0);
}

}  // namespace
}  // namespace rlc
