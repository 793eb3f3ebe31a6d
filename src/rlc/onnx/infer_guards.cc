#include "rlc/onnx/infer_guards.h"

#include <onnx/defs/shape_inference.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace rlc {
namespace {

constexpr auto kInvalid = ErrorKind::kInvalidInput;
constexpr int64_t kMaxRank = 1024;  // far beyond what any runtime takes

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
    return MakeError(kInvalid, "{}: input {} has {} dimensions, {} needs {} or more", where_, input, rank(input),
                     node_.op, wanted);
  }
  Expected<void> RankIs(size_t input, int wanted) const {
    if (rank(input) < 0 || rank(input) == wanted) return {};
    return MakeError(kInvalid, "{}: input {} has {} dimensions, {} needs {}", where_, input, rank(input), node_.op,
                     wanted);
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
    if (spatial >= 0 && list->size() != static_cast<size_t>(spatial) * static_cast<size_t>(per_axis)) {
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
  // The library casts axes to int before it compares them, so that 2^40 + 1 would pass for 1.
  Expected<void> AxesInRange() const {
    for (const Attribute& attribute : node_.attributes) {
      if (attribute.name != "axis" && attribute.name != "axes" && attribute.name != "batch_dims") continue;
      const auto* one = std::get_if<int64_t>(&attribute.value);
      const auto* many = std::get_if<std::vector<int64_t>>(&attribute.value);
      for (const int64_t axis : many ? *many : std::vector<int64_t>{one ? *one : 0}) {
        if (axis < -kMaxRank || axis > kMaxRank) {
          return MakeError(kInvalid, "{}: {} is {}, which no tensor has", where_, attribute.name, axis);
        }
      }
    }
    return {};
  }
  // The library makes one dimension for each element of the shape list, however long that is.
  Expected<void> Expand() const {
    RLC_RETURN_IF_ERROR(RankIs(1, 1));
    if (dim(1, 0) <= kMaxRank) return {};
    return MakeError(kInvalid, "{}: its shape input has {} elements, no tensor has so many dimensions", where_,
                     dim(1, 0));
  }
  Expected<void> GatherNd() const {
    const int64_t batch_dims = node_.GetInt("batch_dims", 0).value_or(-1);
    const bool fits = rank(0) < 0 || rank(1) < 0 || batch_dims < std::min(rank(0), rank(1));
    if (batch_dims >= 0 && fits) return {};
    return MakeError(kInvalid, "{}: batch_dims is {}, it must be 0 or more and below the inputs' ranks", where_,
                     batch_dims);
  }
  // The library makes a list of num_outputs sizes.
  Expected<void> Split() const {
    const int64_t parts = node_.GetInt("num_outputs", 1).value_or(0);
    if (!node_.FindAttribute("num_outputs") || parts == static_cast<int64_t>(node_.outputs.size())) return {};
    return MakeError(kInvalid, "{}: num_outputs is {}, but it has {} outputs", where_, parts, node_.outputs.size());
  }
  // Letters, "...", "," and "->", spaces aside: on anything else the library never returns.
  Expected<void> Einsum() const {
    std::string equation = node_.GetString("equation", "").value_or("");
    std::erase(equation, ' ');
    const size_t arrow = equation.find("->");
    const std::string left = equation.substr(0, arrow);
    bool good = static_cast<size_t>(std::count(left.begin(), left.end(), ',')) + 1 == node_.inputs.size();
    for (std::string_view rest = left; good;) {
      const size_t comma = rest.find(',');
      good = IsEinsumTerm(std::string(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (arrow != std::string::npos) good = good && IsEinsumTerm(equation.substr(arrow + 2));
    if (good) return {};
    return MakeError(kInvalid, "{}: \"{}\" is no Einsum equation of {} operands", where_, equation,
                     node_.inputs.size());
  }
  static bool IsEinsumTerm(std::string term) {
    if (const size_t dots = term.find("..."); dots != std::string::npos) term.erase(dots, 3);
    return std::all_of(term.begin(), term.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
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
  const Operands operands(node, context, where);
  RLC_RETURN_IF_ERROR(operands.AxesInRange());
  if (!node.domain.empty()) return {};
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
  if (op == "Expand") return operands.Expand();
  if (op == "GatherND") return operands.GatherNd();
  if (op == "Einsum") return operands.Einsum();
  if (op == "Split") return operands.Split();
  return {};
}

}  // namespace rlc
