#include <cmath>

#include "rlc/train/network-inl.h"

namespace rlc {
namespace {

torch::nn::Linear Orthogonal(int64_t inputs, int64_t outputs, double gain) {
  torch::nn::Linear layer(inputs, outputs);
  torch::nn::init::orthogonal_(layer->weight, gain);
  torch::nn::init::zeros_(layer->bias);
  return layer;
}

torch::nn::Sequential Perceptron(int64_t inputs, int64_t outputs, double last_gain) {
  constexpr int64_t kHidden = 64;
  return torch::nn::Sequential(Orthogonal(inputs, kHidden, std::sqrt(2.0)), torch::nn::Tanh(),
                               Orthogonal(kHidden, kHidden, std::sqrt(2.0)), torch::nn::Tanh(),
                               Orthogonal(kHidden, outputs, last_gain));
}

}  // namespace

ActorCriticImpl::ActorCriticImpl(int64_t inputs, int64_t actions) {
  policy = register_module("policy", Perceptron(inputs, actions, 0.01));
  value = register_module("value", Perceptron(inputs, 1, 1.0));
}

torch::Tensor ActorCriticImpl::Logits(const torch::Tensor& observation) { return policy->forward(observation); }

torch::Tensor ActorCriticImpl::Value(const torch::Tensor& observation) {
  return value->forward(observation).squeeze(-1);
}

torch::Tensor Masked(const torch::Tensor& logits, const torch::Tensor& mask) {
  return logits.masked_fill(mask.logical_not(), -1e8);  // far below every logit, yet finite: its gradient is 0, not NaN
}

}  // namespace rlc
