// What a layer's kernel does to its sums before it writes them: y = activation(sum + bias + residual).
#ifndef RLC_KERNELS_EPILOGUE_H_
#define RLC_KERNELS_EPILOGUE_H_

#include <limits>

namespace rlc {

struct Activation {
  enum class Kind {
    kNone,
    kClip,         // min(max(x, alpha), beta); Relu is alpha 0, beta infinity
    kLeakyRelu,    // x < 0 ? alpha x : x
    kHardSigmoid,  // min(max(alpha x + beta, 0), 1)
    kHardSwish,    // x min(max(alpha x + beta, 0), 1); ONNX's: alpha 1/6, beta 1/2
    kSigmoid,      // 1 / (1 + exp(-x))
    kSilu,         // x sigmoid(x)
    kGelu,         // x (1 + erf(x / sqrt(2))) / 2
    kTanh,
  };
  Kind kind = Kind::kNone;
  float alpha = 0, beta = 0;

  static Activation Relu() { return {Kind::kClip, 0.0F, std::numeric_limits<float>::infinity()}; }
};

struct Epilogue {
  bool residual = false;  // a tensor in the layout of the output is added
  Activation activation;
};

}  // namespace rlc

#endif  // RLC_KERNELS_EPILOGUE_H_
