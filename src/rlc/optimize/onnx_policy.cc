#include "rlc/optimize/onnx_policy.h"

#include <algorithm>

#include "rlc/ort/session.h"

namespace rlc {
namespace {

class OnnxPolicy : public Policy {
 public:
  OnnxPolicy(std::string path, Session session) : path_(std::move(path)), session_(std::move(session)) {}

  std::string name() const override { return path_; }

  Expected<void> Logits(std::span<const float> observation, std::span<float> logits) override {
    const std::vector<float> row(observation.begin(), observation.end());
    const NamedTensor input{session_.inputs()[0].name, Tensor::Of({1, static_cast<int64_t>(row.size())}, row)};
    RLC_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, session_.Run({&input, 1}));
    if (outputs[0].size() != static_cast<int64_t>(logits.size())) {
      return MakeError(ErrorKind::kInvalidInput, "{}: the policy gives {} logits, this model needs {}", path_,
                       outputs[0].size(), logits.size());
    }
    const auto values = outputs[0].data<float>();
    std::copy(values.begin(), values.end(), logits.begin());
    return {};
  }

 private:
  std::string path_;
  Session session_;
};

// True for float[?, size] where a known last dimension must be `size`.
bool Fits(const InterfaceValue& value, int64_t size) {
  if (!value.type.is_tensor() || value.type.elem != DType::kFloat || value.type.rank() != 2) return false;
  const Dim& last = (*value.type.shape)[1];
  return !last.known() || last.value == size;
}

}  // namespace

Expected<std::unique_ptr<Policy>> LoadPolicy(const std::string& path, int layers) {
  RLC_ASSIGN_OR_RETURN(Session session, Session::FromFile(path));
  const bool fits = session.inputs().size() == 1 && session.outputs().size() == 1 &&
                    Fits(session.inputs()[0], kObservationSize) &&
                    Fits(session.outputs()[0], kLayerActionTypes * layers);
  if (!fits) {
    return MakeError(
        ErrorKind::kInvalidInput,
        "{}: not a policy for a model of {} layers (wanted one input float[N,{}] and one output float[N,{}]); train "
        "one for this model with 'rlc train'",
        path, layers, kObservationSize, kLayerActionTypes * layers);
  }
  return std::make_unique<OnnxPolicy>(path, std::move(session));
}

}  // namespace rlc
