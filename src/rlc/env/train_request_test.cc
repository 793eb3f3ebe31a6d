#include "rlc/env/train_request.h"

#include "rlc/base/file.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/paths.h"
#include "rlc/testing/synthetic_request.h"

namespace rlc {
namespace {

using ::testing::HasSubstr;

TEST(TrainRequest, JsonRoundTrip) {
  TrainRequest request = SyntheticRequest(6, 2);
  request.env.reward.kind = RewardKind::kClassic;
  request.env.reward.baseline_energy_mj = 3.5;
  request.env.mask_over_limit = false;
  request.ppo.total_timesteps = 123;
  request.ppo.seed = 7;
  request.resume_from = "before/checkpoint.pt";
  const Json json = ToJson(request);
  const auto text = ParseJson(DumpJson(json), "request");
  ASSERT_THAT(text, IsOk());
  const auto back = TrainRequestFromJson(*text);
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(ToJson(*back), json);
  EXPECT_EQ(back->env.reward.baseline_energy_mj, 3.5);
  EXPECT_EQ(back->ppo.total_timesteps, 123);
  EXPECT_EQ(back->resume_from, "before/checkpoint.pt");
}

TEST(TrainRequest, TheOneForBenchmarksIsTheSyntheticOne) {
  const Json wanted = ToJson(SyntheticRequest(53, 1));
  const auto found = ReadJsonFile(SourcePath("bench/synthetic_request.json"));
  ASSERT_THAT(found, IsOk());
  if (*found == wanted) return;
  const std::string fresh = ::testing::TempDir() + "synthetic_request.json";
  ASSERT_THAT(WriteFileAtomically(fresh, DumpJson(wanted, -1)), IsOk());
  ADD_FAILURE() << "bench/synthetic_request.json is out of date: replace it by " << fresh;
}

struct BadField {
  const char* object;
  const char* key;
  Json value;
  const char* says;
};

TEST(TrainRequest, RefusesValuesThatMakeNoSense) {
  const std::vector<BadField> cases = {
      {"env", "max_steps", 0, "max_steps"},
      {"env", "target_drop", -0.1, "target_drop"},
      {"env", "target_drop", "1%", "target_drop"},
      {"env", "reward", "sparse", "wanted classic or delta"},
      {"env", "alpha", 1e300, "alpha"},
      {"env", "baseline_energy_mj", 0, "baseline_energy_mj"},
      {"ppo", "total_timesteps", -5, "total_timesteps"},
      {"ppo", "learning_rate", 2, "learning_rate"},
      {"ppo", "num_envs", 1 << 20, "num_envs"},
      {"ppo", "batch_size", 0, "batch_size"},
      {"ppo", "n_steps", 1.5, "n_steps"},
      {"ppo", "seed", "x", "seed"},
  };
  for (const BadField& bad : cases) {
    Json json = ToJson(SyntheticRequest(4, 1));
    json[bad.object][bad.key] = bad.value;
    EXPECT_THAT(TrainRequestFromJson(json), IsErrorOf(ErrorKind::kInvalidInput, HasSubstr(bad.says))) << bad.key;
    json[bad.object].erase(bad.key);
    EXPECT_THAT(TrainRequestFromJson(json), IsError(HasSubstr(bad.key)));
  }
}

TEST(TrainRequest, RefusesOtherVersionsEmptyCataloguesAndTooMuchMemory) {
  Json json = ToJson(SyntheticRequest(4, 1));
  json["version"] = 99;
  EXPECT_THAT(TrainRequestFromJson(json), IsError(HasSubstr("version 99")));
  json = ToJson(SyntheticRequest(4, 1));
  json["catalogue"]["layers"] = Json::array();
  EXPECT_THAT(TrainRequestFromJson(json), IsError(HasSubstr("layer")));
  TrainRequest large = SyntheticRequest(1500, 1);
  large.ppo.n_steps = 1'000'000;
  EXPECT_THAT(TrainRequestFromJson(ToJson(large)), IsError(HasSubstr("7.5 GB")));
  EXPECT_THAT(TrainRequestFromJson(Json::array()), IsError(HasSubstr("version")));
}

TEST(TrainSummary, JsonRoundTripAndRefusals) {
  TrainSummary summary;
  summary.timesteps = 10'240;
  summary.seconds = 2.5;
  summary.best_gain = 0.4;
  summary.before = {200, 20, 0.1};
  summary.start = {200, 60, 0.2};
  summary.after = {200, 190, 0.38};
  const Json json = ToJson(summary);
  const auto back = TrainSummaryFromJson(json);
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(ToJson(*back), json);
  Json bad = json;
  bad["after"]["successes"] = 201;
  EXPECT_THAT(TrainSummaryFromJson(bad), IsError(HasSubstr("201")));
}

}  // namespace
}  // namespace rlc
