// The program rlc-train, as rlc starts it.

#include <atomic>
#include <optional>

#include "rlc/base/file.h"
#include "rlc/base/process.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/paths.h"
#include "rlc/testing/synthetic_request.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

class TrainProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::Create("train-program-test");
    ASSERT_THAT(made, IsOk());
    folder_.emplace(*std::move(made));
  }
  std::string Path(const std::string& name) const { return JoinPath(folder_->path(), name); }

  ProcessSpec Spec(const std::string& request_text) const {
    EXPECT_THAT(WriteFileAtomically(Path("request.json"), request_text), IsOk());
    ProcessSpec spec;
    spec.argv = {BuildPath("rlc-train"), Path("request.json"), Path("out")};
    spec.limits.seconds = 300;
    return spec;
  }

  std::optional<TempDir> folder_;
};

TrainRequest SmallRequest() {
  TrainRequest request = SyntheticRequest(6, 1);
  request.ppo.total_timesteps = 128;
  request.ppo.n_steps = 64;
  request.ppo.n_epochs = 1;
  return request;
}

TEST_F(TrainProgram, PrintsTheSummaryAndItsProgress) {
  const auto result = RunProcess(Spec(DumpJson(ToJson(SmallRequest()))));
  ASSERT_THAT(result, IsOk());
  ASSERT_TRUE(result->Succeeded()) << result->Describe() << result->err;
  const auto printed = ParseJson(result->out, "summary");
  ASSERT_THAT(printed, IsOk());
  EXPECT_THAT(TrainSummaryFromJson(*printed), IsOk());
  EXPECT_THAT(result->err, HasSubstr("{\"gain\":"));
  EXPECT_THAT(result->err, HasSubstr("\"timesteps\":128,\"total\":128}"));
}

TEST_F(TrainProgram, SaysInASentenceWhatIsWrongWithARequest) {
  Json wrong = ToJson(SmallRequest());
  wrong["ppo"]["n_steps"] = -1;
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string(1000, '['), std::string("\0\xff", 2),
                                  DumpJson(wrong), std::string()}) {
    const auto result = RunProcess(Spec(text));
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->exit_code, 2) << text;
    EXPECT_THAT(result->err, HasSubstr("rlc-train: "));
    EXPECT_THAT(result->err, HasSubstr("request.json"));
    EXPECT_THAT(ReadFile(Path("out/policy.onnx")), IsError(HasSubstr("policy.onnx")));
  }
}

TEST_F(TrainProgram, SigtermEndsItEarlyWithEverythingWritten) {
  TrainRequest request = SmallRequest();
  request.ppo.total_timesteps = 1'000'000'000;
  std::atomic<bool> stop = false;
  ProcessSpec spec = Spec(DumpJson(ToJson(request)));
  spec.limits.stop = StopToken(&stop);
  spec.limits.stop_grace_seconds = 120;
  spec.on_stderr = [&](std::string_view) { stop = true; };  // after its first update
  ASSERT_THAT(RunProcess(spec), IsOk());
  const auto summary = ReadJsonFile(Path("out/summary.json"));
  ASSERT_THAT(summary, IsOk());
  EXPECT_LT(TrainSummaryFromJson(*summary)->timesteps, 1'000'000'000);
  EXPECT_THAT(ReadFile(Path("out/policy.onnx")), IsOk());
  EXPECT_THAT(ReadFile(Path("out/checkpoint.pt")), IsOk());
}

}  // namespace
}  // namespace rlc
