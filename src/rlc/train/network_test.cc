#include <cmath>

#include "rlc/env/layers_env.h"
#include "rlc/testing/expected.h"
#include "rlc/train/ppo-inl.h"

namespace rlc {
namespace {

TEST(Masked, IllegalActionsHaveNoProbabilityAndNoGradient) {
  torch::Tensor logits = torch::tensor({{1.0F, 5.0F, 2.0F}}, torch::requires_grad());
  const torch::Tensor mask = torch::tensor({{1, 0, 1}}).to(torch::kBool);
  const torch::Tensor log_all = torch::log_softmax(Masked(logits, mask), -1);
  EXPECT_EQ(log_all.exp()[0][1].item<float>(), 0.0F);
  (log_all.exp() * log_all).sum().backward();
  EXPECT_EQ(logits.grad()[0][1].item<float>(), 0.0F);
  EXPECT_TRUE(std::isfinite(logits.grad()[0][0].item<float>()));
}

}  // namespace
}  // namespace rlc
