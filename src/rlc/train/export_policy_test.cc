// The exported file in ONNX Runtime against the network in libtorch.

#include <algorithm>
#include <cmath>
#include <vector>

#include "rlc/base/file.h"
#include "rlc/env/layers_env.h"
#include "rlc/ort/session.h"
#include "rlc/testing/expected.h"
#include "rlc/testing/synthetic_request.h"
#include "rlc/train/export_policy-inl.h"
#include "rlc/train/ppo-inl.h"
#include "rlc/train/trainer.h"

namespace rlc {
namespace {

constexpr int64_t kRows = 16;
constexpr double kTolerance = 1e-5;

torch::Tensor SomeObservations() {
  torch::manual_seed(7);
  return torch::rand({kRows, kObservationSize}) * 2 - 1;
}

// What the file says of these observations; checked to have the network's shape.
std::vector<float> LogitsOfFile(const std::string& path, const torch::Tensor& observations, int64_t actions) {
  const auto session = Session::FromFile(path);
  EXPECT_THAT(session, IsOk());
  if (!session) return {};
  const float* first = observations.data_ptr<float>();
  const std::vector<float> numbers(first, first + observations.numel());
  const NamedTensor input{"observation", Tensor::Of<float>({kRows, kObservationSize}, numbers)};
  const auto outputs = session->Run({&input, 1});
  EXPECT_THAT(outputs, IsOk());
  if (!outputs) return {};
  EXPECT_EQ(outputs->at(0).dims(), (std::vector<int64_t>{kRows, actions}));
  const auto logits = outputs->at(0).data<float>();
  return {logits.begin(), logits.end()};
}

void ExpectSameLogits(const std::string& path, ActorCritic& network, int64_t actions) {
  const torch::NoGradGuard no_gradients;
  const torch::Tensor observations = SomeObservations();
  const torch::Tensor expected = network->Logits(observations).contiguous();
  const std::vector<float> actual = LogitsOfFile(path, observations, actions);
  ASSERT_EQ(static_cast<int64_t>(actual.size()), expected.numel());
  const float* wanted = expected.data_ptr<float>();
  double largest = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(actual[i]) - static_cast<double>(wanted[i])));
  }
  EXPECT_LE(largest, kTolerance);
  const auto [low, high] = std::minmax_element(actual.begin(), actual.end());
  EXPECT_GT(*high - *low, 100 * kTolerance) << "logits that are all alike show nothing";
}

// Weights and biases so large that every one of them shows in the logits.
TEST(ExportPolicy, ComputesTheLogitsOfTheNetwork) {
  constexpr int64_t kActions = 3 * kLayerActionTypes;
  torch::manual_seed(1);
  ActorCritic network(kObservationSize, kActions);
  {
    const torch::NoGradGuard no_gradients;
    for (torch::Tensor& parameter : network->parameters()) parameter.normal_(0, 0.2);
  }
  const auto folder = TempDir::Create("export-policy-test");
  ASSERT_THAT(folder, IsOk());
  const std::string path = JoinPath(folder->path(), "policy.onnx");
  ASSERT_THAT(ExportPolicy(network, kObservationSize, kActions, path), IsOk());
  ExpectSameLogits(path, network, kActions);
}

TEST(ExportPolicy, OfATrainedPolicyIsTheNetworkOfTheCheckpoint) {
  const auto folder = TempDir::Create("export-policy-test");
  ASSERT_THAT(folder, IsOk());
  TrainRequest request = SyntheticRequest(6, 1);
  request.ppo.total_timesteps = 512;
  request.ppo.n_steps = 128;
  request.ppo.n_epochs = 4;
  TrainHooks hooks;
  hooks.clock = ManualClock(0).AsClock();
  hooks.wall_clock = ManualClock(0).AsClock();
  ASSERT_THAT(Train(request, folder->path(), hooks), IsOk());

  constexpr int64_t kActions = 6 * kLayerActionTypes;
  LearnerState state = MakeLearner(kActions, request.ppo);
  torch::serialize::InputArchive archive;
  archive.load_from(JoinPath(folder->path(), "checkpoint.pt"));
  torch::Tensor trained;
  archive.read("parameters", trained);
  {
    const torch::NoGradGuard no_gradients;
    EXPECT_GT((state.parameters - trained).abs().max().item<float>(), 1e-4F) << "training changed nothing";
    state.parameters.copy_(trained);
  }
  ExpectSameLogits(JoinPath(folder->path(), "policy.onnx"), state.network, kActions);
}

}  // namespace
}  // namespace rlc
