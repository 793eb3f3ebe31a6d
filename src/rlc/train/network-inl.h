// The policy and value network: a small multilayer perceptron on libtorch.
#ifndef RLC_TRAIN_NETWORK_INL_H_
#define RLC_TRAIN_NETWORK_INL_H_

#include <torch/torch.h>

#include <utility>

namespace rlc {

// observation [n, inputs] -> logits [n, actions] and value [n]. Two hidden layers of 64 with tanh for each of policy
// and value, orthogonal initialization (gain sqrt(2), 0.01 for the logits, 1 for the value): the defaults that PPO is
// known with.
class ActorCriticImpl : public torch::nn::Module {
 public:
  ActorCriticImpl(int64_t inputs, int64_t actions);
  torch::Tensor Logits(const torch::Tensor& observation);
  torch::Tensor Value(const torch::Tensor& observation);

  torch::nn::Sequential policy{nullptr}, value{nullptr};
};
TORCH_MODULE(ActorCritic);

// Logits with illegal actions pushed out of reach; mask [n, actions] of bool.
torch::Tensor Masked(const torch::Tensor& logits, const torch::Tensor& mask);

}  // namespace rlc

#endif  // RLC_TRAIN_NETWORK_INL_H_
