// Constant tensors between the IR and ONNX messages. Internal to the onnx layer.
#ifndef RLC_ONNX_PROTO_TENSOR_H_
#define RLC_ONNX_PROTO_TENSOR_H_

#include <map>
#include <memory>
#include <string>

#include "rlc/base/error.h"
#include "rlc/base/file.h"
#include "rlc/ir/tensor.h"

namespace onnx {
class TensorProto;
}  // namespace onnx

namespace rlc {

// Files with weights outside the model. They stay inside one folder, whatever a model says: no absolute paths, no "..",
// no symbolic link that leads out. Each file is mapped once.
class ExternalData {
 public:
  explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}
  // Error, kInvalidInput: leaves the folder, missing, not a regular file.
  Expected<std::shared_ptr<const MappedFile>> Open(const std::string& location);
  bool used() const { return !files_.empty(); }

 private:
  std::string folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

// Moves dims, type and elements out of `proto` (what stays: name, doc string, metadata, unknown fields). raw_data
// changes hands without a copy, typed fields become bytes, external data becomes a view. Error, kInvalidInput, with
// `where` in front: sizes that are negative, overflow or disagree with the data.
Expected<Tensor> TakeTensor(onnx::TensorProto& proto, ExternalData& external, const std::string& where);

// dims, data_type and raw_data (strings: string_data) of `proto`. Elements are left out when `with_elements` is false.
void TensorToProto(const Tensor& tensor, bool with_elements, onnx::TensorProto& proto);

}  // namespace rlc

#endif  // RLC_ONNX_PROTO_TENSOR_H_
