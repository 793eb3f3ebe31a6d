#include "rlc/onnx/infer_guards.h"

#include <onnx/defs/shape_inference.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace rlc {
namespace {

constexpr auto kInvalid = ErrorKind::kInvalidInput;

class Operands {
 public:
  Operands(const Node& node, const onnx::InferenceContext& context, const std::string& where)
      : node_(node), context_(context), where_(where) {}

  // Null: not known.
  const onnx::TensorShapeProto* shape(size_t input) const {
    if (input >= node_.inputs.size()) return nullptr;
    const onnx::TypeProto* type = context_.getInputType(input);
    if (!type || !type->has_tensor_type() || !type->tensor_type().has_shape()) return nullptr;
    return &type->tensor_type().shape();
  }
  int rank(size_t input) const {
    const auto* found = shape(input);
    return found ? found->dim_size() : -1;
  }
  // -1: not known.
  int64_t dim(size_t input, int axis) const {
    const auto* found = shape(input);
    if (!found || axis >= found->dim_size() || !found->dim(axis).has_dim_value()) return -1;
    return found->dim(axis).dim_value();
  }

  Expected<void> RankAtLeast(size_t input, int wanted) const {
    if (rank(input) < 0 || rank(input) >= wanted) return {};
    return MakeError(kInvalid, "{}: input {} has {} dimensions, {} needs {} or more", where_, input, rank(input), node_.op,
                     wanted);
  }
  Expected<void> RankIs(size_t input, int wanted) const {
    if (rank(input) < 0 || rank(input) == wanted) return {};
    return MakeError(kInvalid, "{}: input {} has {} dimensions, {} needs {}", where_, input, rank(input), node_.op, wanted);
  }
  Expected<void> SameSize(size_t a, int a_axis, int64_t factor, size_t b, int b_axis) const {
    const int64_t left = dim(a, a_axis);
    const int64_t right = dim(b, b_axis);
    if (left < 0 || right < 0) return {};
    int64_t product = 0;
    if (!__builtin_mul_overflow(left, factor, &product) && product == right) return {};
    return MakeError(kInvalid, "{}: axis {} of input {} has size {}, which does not fit size {} of axis {} of input {}",
                     where_, b_axis, b, right, left, a_axis, a);
  }
  // An attribute with one number (or `per_axis` numbers) for each spatial axis, none below `least`.
  Expected<void> Spatial(std::string_view attribute, int spatial, int per_axis, int64_t least) const {
    const auto list = node_.GetInts(attribute);
    if (!list || list->empty()) return {};
    if (spatial >= 0 && list->size() != static_cast<size_t>(spatial * per_axis)) {
      return MakeError(kInvalid, "{}: {} has {} numbers, {} are needed", where_, attribute, list->size(),
                       spatial * per_axis);
    }
    for (const int64_t number : *list) {
      if (number < least || number > int64_t{1} << 31) {
        return MakeError(kInvalid, "{}: {} holds {}, which cannot be", where_, attribute, number);
      }
    }
    return {};
  }
  // kernel_shape, strides, dilations and pads for an input with this many spatial axes (-1: not known).
  Expected<void> Window(int spatial) const {
    RLC_RETURN_IF_ERROR(Spatial("kernel_shape", spatial, 1, 1));
    RLC_RETURN_IF_ERROR(Spatial("strides", spatial, 1, 1));
    RLC_RETURN_IF_ERROR(Spatial("dilations", spatial, 1, 1));
    return Spatial("pads", spatial, 2, -(int64_t{1} << 31));
  }

  Expected<void> Conv(size_t weight, bool transposed) const {
    RLC_RETURN_IF_ERROR(RankAtLeast(0, 3));
    RLC_RETURN_IF_ERROR(RankAtLeast(weight, 3));
    if (rank(0) >= 0) RLC_RETURN_IF_ERROR(RankIs(weight, rank(0)));
    const int known = std::max(rank(0), rank(weight));
    RLC_RETURN_IF_ERROR(Window(known < 0 ? -1 : known - 2));
    const int64_t group = node_.GetInt("group", 1).value_or(0);
    if (group < 1) return MakeError(kInvalid, "{}: group is {}, it must be 1 or more", where_, group);
    if (transposed) return SameSize(weight, 0, 1, 0, 1);
    RLC_RETURN_IF_ERROR(SameSize(weight, 1, group, 0, 1));
    if (const int64_t filters = dim(weight, 0); filters >= 0 && filters % group != 0) {
      return MakeError(kInvalid, "{}: {} output channels do not divide into {} groups", where_, filters, group);
    }
    const auto kernel = node_.GetInts("kernel_shape");
    for (size_t i = 0; kernel && i < kernel->size(); ++i) {
      const int64_t size = dim(weight, static_cast<int>(i) + 2);
      if (size >= 0 && size != (*kernel)[i]) {
        return MakeError(kInvalid, "{}: kernel_shape says {} where the weight has {}", where_, (*kernel)[i], size);
      }
    }
    return {};
  }
  Expected<void> Pool() const {
    RLC_RETURN_IF_ERROR(RankAtLeast(0, 3));
    return Window(rank(0) < 0 ? -1 : rank(0) - 2);
  }
  Expected<void> Gemm() const {
    RLC_RETURN_IF_ERROR(RankIs(0, 2));
    RLC_RETURN_IF_ERROR(RankIs(1, 2));
    const bool a_transposed = node_.GetInt("transA", 0).value_or(0) != 0;
    const bool b_transposed = node_.GetInt("transB", 0).value_or(0) != 0;
    return SameSize(1, b_transposed ? 1 : 0, 1, 0, a_transposed ? 0 : 1);
  }
  Expected<void> MatMul(size_t b) const {
    RLC_RETURN_IF_ERROR(RankAtLeast(0, 1));
    RLC_RETURN_IF_ERROR(RankAtLeast(b, 1));
    if (rank(0) < 1 || rank(b) < 1) return {};
    return SameSize(b, rank(b) == 1 ? 0 : rank(b) - 2, 1, 0, rank(0) - 1);
  }
  Expected<void> BatchNormalization() const {
    RLC_RETURN_IF_ERROR(RankAtLeast(0, 1));
    // Up to opset 8, spatial = 0 meant statistics for each pixel.
    if (rank(0) < 2 || node_.GetInt("spatial", 1) != 1) return {};
    for (size_t i = 1; i < 5; ++i) {
      RLC_RETURN_IF_ERROR(RankIs(i, 1));
      RLC_RETURN_IF_ERROR(SameSize(i, 0, 1, 0, 1));
    }
    return {};
  }

 private:
  const Node& node_;
  const onnx::InferenceContext& context_;
  const std::string& where_;
};

}  // namespace

Expected<void> CheckOperands(const Node& node, const onnx::InferenceContext& context, const std::string& where) {
  if (!node.domain.empty()) return {};
  const Operands operands(node, context, where);
  const std::string_view op = node.op;
  if (op == "Conv" || op == "ConvInteger") return operands.Conv(1, false);
  if (op == "ConvTranspose") return operands.Conv(1, true);
  if (op == "QLinearConv") return operands.Conv(3, false);
  if (op == "MaxPool" || op == "AveragePool" || op == "LpPool") return operands.Pool();
  if (op == "GlobalAveragePool" || op == "GlobalMaxPool" || op == "GlobalLpPool") return operands.RankAtLeast(0, 3);
  if (op == "Gemm") return operands.Gemm();
  if (op == "MatMul" || op == "MatMulInteger") return operands.MatMul(1);
  if (op == "QLinearMatMul") return operands.MatMul(3);
  if (op == "BatchNormalization") return operands.BatchNormalization();
  return {};
}

}  // namespace rlc
