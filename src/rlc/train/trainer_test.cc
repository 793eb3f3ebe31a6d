#include "rlc/train/trainer.h"

#include <atomic>
#include <optional>

#include "rlc/base/file.h"
#include "rlc/base/format.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/synthetic_request.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TrainRequest BriefRequest() {
  TrainRequest request = SyntheticRequest(6, 1);
  request.ppo.total_timesteps = 256;
  request.ppo.n_steps = 128;
  request.ppo.n_epochs = 2;
  return request;
}

TrainHooks Hooks() {
  TrainHooks hooks;
  hooks.clock = ManualClock(0).AsClock();
  hooks.wall_clock = ManualClock(1'700'000'000).AsClock();
  return hooks;
}

class TrainerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::Create("trainer-test");
    ASSERT_THAT(made, IsOk());
    folder_.emplace(*std::move(made));
  }
  std::string Path(const std::string& name) const { return JoinPath(folder_->path(), name); }
  std::string Read(const std::string& name) const { return ReadFile(Path(name)).value_or(""); }

  std::optional<TempDir> folder_;
};

TEST_F(TrainerTest, LeavesPolicyCurveEventsCheckpointAndSummary) {
  int rows = 0;
  TrainHooks hooks = Hooks();
  hooks.progress = [&](int64_t timesteps, double) { EXPECT_EQ(timesteps, 128 * ++rows); };
  const auto summary = Train(BriefRequest(), Path("out"), hooks);
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(summary->timesteps, 256);
  EXPECT_EQ(summary->before.episodes, 200);
  EXPECT_EQ(summary->after.episodes, 200);
  EXPECT_GT(summary->best_gain, 0);
  const std::vector<std::string> lines = SplitText(Read("out/curve.csv"), '\n');
  EXPECT_THAT(lines[0], StartsWith("timesteps,seconds,episodes,mean_reward,mean_gain"));
  EXPECT_THAT(lines[2], StartsWith("256,"));
  EXPECT_GT(Read("out/events.out.tfevents.1700000000.rlc").size(), 100U);
  EXPECT_GT(Read("out/checkpoint.pt").size(), 100U);
  const auto stored = ParseJson(Read("out/summary.json"), "summary");
  ASSERT_THAT(stored, IsOk());
  EXPECT_EQ(*stored, ToJson(*summary));
  EXPECT_GT(Read("out/policy.onnx").size(), 1000U);  // what it computes: export_policy_test.cc
}

TEST_F(TrainerTest, SameSeedSamePolicy) {
  TrainRequest request = BriefRequest();
  ASSERT_THAT(Train(request, Path("one"), Hooks()), IsOk());
  ASSERT_THAT(Train(request, Path("two"), Hooks()), IsOk());
  request.ppo.seed = 1;
  ASSERT_THAT(Train(request, Path("other"), Hooks()), IsOk());
  EXPECT_EQ(Read("one/policy.onnx"), Read("two/policy.onnx"));
  EXPECT_EQ(Read("one/curve.csv"), Read("two/curve.csv"));
  EXPECT_NE(Read("one/policy.onnx"), Read("other/policy.onnx"));
}

TEST_F(TrainerTest, ResumesWhereItEnded) {
  TrainRequest request = BriefRequest();
  ASSERT_THAT(Train(request, Path("first"), Hooks()), IsOk());
  request.resume_from = Path("first/checkpoint.pt");
  // Nothing left to do: the network that comes out is the one that went in.
  const auto same = Train(request, Path("same"), Hooks());
  ASSERT_THAT(same, IsOk());
  EXPECT_EQ(same->timesteps, 256);
  EXPECT_EQ(Read("same/policy.onnx"), Read("first/policy.onnx"));
  request.ppo.total_timesteps = 384;
  const auto more = Train(request, Path("more"), Hooks());
  ASSERT_THAT(more, IsOk());
  EXPECT_EQ(more->timesteps, 384);
  EXPECT_THAT(Read("more/curve.csv"), Not(HasSubstr("\n256,")));
  EXPECT_THAT(Read("more/curve.csv"), HasSubstr("\n384,"));
  EXPECT_NE(Read("more/policy.onnx"), Read("first/policy.onnx"));
}

TEST_F(TrainerTest, RefusesBadCheckpoints) {
  TrainRequest request = BriefRequest();
  request.resume_from = Path("gone.pt");
  EXPECT_THAT(Train(request, Path("out"), Hooks()), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("gone.pt")));
  ASSERT_THAT(WriteFileAtomically(Path("noise.pt"), "this is no checkpoint"), IsOk());
  request.resume_from = Path("noise.pt");
  EXPECT_THAT(Train(request, Path("out"), Hooks()), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("noise.pt")));
  TrainRequest other = SyntheticRequest(9, 1);
  other.ppo = BriefRequest().ppo;
  ASSERT_THAT(Train(other, Path("other"), Hooks()), IsOk());
  request.resume_from = Path("other/checkpoint.pt");
  EXPECT_THAT(Train(request, Path("out"), Hooks()), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr("parameters")));
}

TEST_F(TrainerTest, StopsAfterTheUpdateInHandWithEverythingWritten) {
  TrainRequest request = BriefRequest();
  request.ppo.total_timesteps = 1'000'000;
  std::atomic<bool> stop = false;
  TrainHooks hooks = Hooks();
  hooks.stop = StopToken(&stop);
  hooks.progress = [&](int64_t, double) { stop = true; };
  const auto summary = Train(request, Path("out"), hooks);
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->timesteps, 128);
  EXPECT_EQ(summary->after.episodes, 0);
  for (const char* name : {"policy.onnx", "curve.csv", "checkpoint.pt", "summary.json"}) {
    EXPECT_FALSE(Read("out/" + std::string(name)).empty()) << name;
  }
}

TEST_F(TrainerTest, SaysWhenTheFolderCannotBeWritten) {
  EXPECT_THAT(Train(BriefRequest(), "/proc/none/out", Hooks()),
              IsErrorOf(ErrorKind::kUnavailable, HasSubstr("/proc/none")));
}

}  // namespace
}  // namespace rlc
