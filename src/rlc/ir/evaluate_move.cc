#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "rlc/ir/evaluate_ops.h"

namespace rlc::evaluate_internal {
namespace {

constexpr int kAxesInputSince = 13;    // Squeeze, Unsqueeze
constexpr int kSliceInputsSince = 10;  // starts and ends
constexpr int64_t kMaxSliceDim = int64_t{1} << 40;

// Axes of Squeeze and Unsqueeze; nothing when not given.
Expected<std::optional<std::vector<int64_t>>> GivenAxes(const OpCall& call) {
  if (call.opset >= kAxesInputSince) {
    if (call.input(1) == nullptr) return std::nullopt;
    RLC_ASSIGN_OR_RETURN(std::vector<int64_t> axes, call.NeedInts(1));
    return axes;
  }
  if (call.node.FindAttribute("axes") == nullptr) return std::nullopt;
  const auto axes = call.node.GetInts("axes");
  if (!axes) return Invalid("attribute axes must be integers");
  return axes;
}

// Marks the axes; error for one that is out of range or there twice.
Expected<std::vector<bool>> AxisSet(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<bool> set(rank, false);
  for (const int64_t axis : axes) {
    RLC_ASSIGN_OR_RETURN(const size_t index, Axis(axis, rank));
    if (set[index]) return Invalid("axis {} is given twice", axis);
    set[index] = true;
  }
  return set;
}

// Product of dims[first, last).
size_t Block(const std::vector<int64_t>& dims, size_t first, size_t last) {
  const auto begin = dims.begin();
  const std::vector<int64_t> part(begin + static_cast<std::ptrdiff_t>(first),
                                  begin + static_cast<std::ptrdiff_t>(last));
  return static_cast<size_t>(ElementCount(part).value_or(0));
}

Expected<std::vector<int64_t>> SliceList(const OpCall& call, size_t input, std::string_view attribute) {
  if (call.opset >= kSliceInputsSince) {
    if (call.input(input) == nullptr) return std::vector<int64_t>();
    return call.NeedInts(input);
  }
  const auto list = call.node.GetInts(attribute);
  if (!list) return Invalid("attribute {} must be integers", attribute);
  return *list;
}

struct SliceAxis {
  int64_t start, step, count;
};

// One axis of a slice, with numpy's clamping.
SliceAxis ClampSlice(int64_t start, int64_t end, int64_t step, int64_t dim) {
  if (dim == 0) return {0, 1, 0};
  step = std::clamp(step, -dim - 1, dim + 1);  // a longer step takes one element, too
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? dim : dim - 1;
  start = std::clamp(start, step > 0 ? low : 0, high);
  end = std::clamp(end, low, high);
  const int64_t span = step > 0 ? end - start : start - end;
  const int64_t width = step > 0 ? step : -step;
  return {start, step, span <= 0 ? 0 : (span + width - 1) / width};
}

}  // namespace

Expected<Tensor> EvaluateIdentity(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  return *x;
}

Expected<Tensor> EvaluateShape(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  const int64_t rank = x->rank();
  RLC_ASSIGN_OR_RETURN(int64_t start, call.Int("start", 0));
  RLC_ASSIGN_OR_RETURN(int64_t end, call.Int("end", rank));
  start = std::clamp(start < 0 ? start + rank : start, int64_t{0}, rank);
  end = std::clamp(end < 0 ? end + rank : end, start, rank);
  const auto begin = x->dims().begin();
  return Tensor::Of<int64_t>({end - start}, std::vector<int64_t>(begin + start, begin + end));
}

Expected<Tensor> EvaluateSize(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  return Tensor::Scalar<int64_t>(x->size());
}

Expected<Tensor> EvaluateReshape(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> dims, call.NeedInts(1));
  RLC_ASSIGN_OR_RETURN(const int64_t allow_zero, call.Int("allowzero", 0));
  std::optional<size_t> open;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && allow_zero == 0) {
      if (i >= x->dims().size())
        return Invalid("shape [{}] copies a dimension that is not there", fmt::join(dims, ","));
      dims[i] = x->dims()[i];
    } else if (dims[i] == -1) {
      if (open) return Invalid("shape [{}] leaves two dimensions open", fmt::join(dims, ","));
      open = i;
      dims[i] = 1;
    }
  }
  auto count = ElementCount(dims);
  if (open && count && *count > 0 && x->size() % *count == 0) {
    dims[*open] = x->size() / *count;
    count = x->size();
  }
  if (count != x->size()) return Invalid("{} elements do not fit the shape [{}]", x->size(), fmt::join(dims, ","));
  return x->Reshaped(std::move(dims));
}

Expected<Tensor> EvaluateSqueeze(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const auto axes, GivenAxes(call));
  std::vector<bool> gone(x->dims().size(), false);
  if (axes) {
    RLC_ASSIGN_OR_RETURN(gone, AxisSet(*axes, x->dims().size()));
  }
  std::vector<int64_t> dims;
  for (size_t i = 0; i < x->dims().size(); ++i) {
    const int64_t dim = x->dims()[i];
    if (gone[i] && dim != 1) return Invalid("axis {} has {} elements and cannot be squeezed", i, dim);
    if (axes ? !gone[i] : dim != 1) dims.push_back(dim);
  }
  return x->Reshaped(std::move(dims));
}

Expected<Tensor> EvaluateUnsqueeze(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const auto axes, GivenAxes(call));
  if (!axes) return Invalid("axes are missing");
  const size_t rank = x->dims().size() + axes->size();
  RLC_ASSIGN_OR_RETURN(const std::vector<bool> inserted, AxisSet(*axes, rank));
  std::vector<int64_t> dims;
  auto next = x->dims().begin();
  for (size_t i = 0; i < rank; ++i) dims.push_back(inserted[i] ? 1 : *next++);
  return x->Reshaped(std::move(dims));
}

Expected<Tensor> EvaluateTranspose(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  const size_t rank = x->dims().size();
  auto perm = call.node.GetInts("perm");
  if (perm && call.node.FindAttribute("perm") == nullptr) {
    perm->resize(rank);
    std::iota(perm->rbegin(), perm->rend(), 0);
  }
  if (!perm || perm->size() != rank) return Invalid("perm must name {} axes", rank);
  RLC_RETURN_IF_ERROR(AxisSet(*perm, rank));
  const std::vector<int64_t> own = Strides(x->dims());
  std::vector<int64_t> dims, strides;
  for (const int64_t axis : *perm) {
    if (axis < 0) return Invalid("perm has a negative axis");
    dims.push_back(x->dims()[static_cast<size_t>(axis)]);
    strides.push_back(own[static_cast<size_t>(axis)]);
  }
  return CopyStrided(call, *x, std::move(dims), strides, 0);
}

Expected<Tensor> EvaluateConcat(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* first, call.Need(0));
  if (call.node.FindAttribute("axis") == nullptr) return Invalid("attribute axis is missing");
  RLC_ASSIGN_OR_RETURN(const int64_t given, call.Int("axis", 0));
  RLC_ASSIGN_OR_RETURN(const size_t axis, Axis(given, first->dims().size()));
  std::vector<int64_t> dims = first->dims();
  dims[axis] = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(i));
    std::vector<int64_t> others = x->dims();
    if (others.size() == dims.size()) others[axis] = dims[axis];
    if (others != dims || x->dtype() != first->dtype()) return Invalid("input {} does not fit to the others", i);
    if (__builtin_add_overflow(dims[axis], x->dims()[axis], &dims[axis])) return Unavailable(call);
  }
  RLC_ASSIGN_OR_RETURN(const size_t size, ResultBytes(call, first->dtype(), dims));
  std::string bytes;
  bytes.reserve(size);
  const size_t outer = Block(dims, 0, axis);
  // Size 0: nothing to copy, however many rows there are.
  for (size_t row = 0; row < outer && bytes.size() < size; ++row) {
    for (const Tensor* x : call.inputs) {
      const size_t chunk = x->bytes().size() / outer;
      bytes.append(reinterpret_cast<const char*>(x->bytes().data()) + row * chunk, chunk);
    }
  }
  return Tensor::FromBytes(first->dtype(), std::move(dims), std::move(bytes));
}

Expected<Tensor> EvaluateGather(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const Tensor* index_tensor, call.Need(1));
  RLC_ASSIGN_OR_RETURN(const int64_t given, call.Int("axis", 0));
  RLC_ASSIGN_OR_RETURN(const size_t axis, Axis(given, x->dims().size()));
  if (index_tensor->dtype() != DType::kInt64 && index_tensor->dtype() != DType::kInt32) {
    return Invalid("indices must be int32 or int64");
  }
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> indices, index_tensor->ToInt64s());
  const int64_t count = x->dims()[axis];
  for (int64_t& index : indices) {
    if (index < -count || index >= count) return Invalid("index {} is out of range for {} elements", index, count);
    if (index < 0) index += count;
  }
  std::vector<int64_t> dims = x->dims();
  const auto place = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(place, index_tensor->dims().begin(), index_tensor->dims().end());
  RLC_ASSIGN_OR_RETURN(const size_t size, ResultBytes(call, x->dtype(), dims));
  std::string bytes;
  bytes.reserve(size);
  const size_t outer = Block(x->dims(), 0, axis);
  const size_t inner = Block(x->dims(), axis + 1, x->dims().size()) * static_cast<size_t>(BitsOf(x->dtype()) / 8);
  for (size_t row = 0; row < outer && bytes.size() < size; ++row) {
    for (const int64_t index : indices) {
      const size_t at = (row * static_cast<size_t>(count) + static_cast<size_t>(index)) * inner;
      bytes.append(reinterpret_cast<const char*>(x->bytes().data()) + at, inner);
    }
  }
  return Tensor::FromBytes(x->dtype(), std::move(dims), std::move(bytes));
}

Expected<Tensor> EvaluateSlice(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, SliceList(call, 1, "starts"));
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, SliceList(call, 2, "ends"));
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> axes, SliceList(call, 3, "axes"));
  std::vector<int64_t> steps;
  if (call.opset >= kSliceInputsSince) {
    RLC_ASSIGN_OR_RETURN(steps, SliceList(call, 4, ""));
  }
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return Invalid("starts, ends, axes and steps have {}, {}, {} and {} elements", starts.size(), ends.size(),
                   axes.size(), steps.size());
  }
  RLC_RETURN_IF_ERROR(AxisSet(axes, x->dims().size()));
  std::vector<int64_t> dims = x->dims();
  // Dimensions of a tensor without elements can be anything.
  if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim > kMaxSliceDim; })) return Unavailable(call);
  std::vector<int64_t> strides = x->size() == 0 ? std::vector<int64_t>(dims.size(), 0) : Strides(dims);
  int64_t start = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    RLC_ASSIGN_OR_RETURN(const size_t axis, Axis(axes[i], dims.size()));
    if (steps[i] == 0) return Invalid("a step is 0");
    const SliceAxis slice = ClampSlice(starts[i], ends[i], steps[i], dims[axis]);
    start += slice.start * strides[axis];
    dims[axis] = slice.count;
    strides[axis] *= slice.step;
  }
  return CopyStrided(call, *x, std::move(dims), strides, start);
}

Expected<Tensor> EvaluateExpand(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> target, call.NeedInts(1));
  if (!ElementCount(target)) return Invalid("shape [{}] cannot be", fmt::join(target, ","));
  // Both ways: a 1 in the target keeps the input's dimension.
  std::vector<int64_t> dims = target;
  if (x->dims().size() > dims.size()) dims.insert(dims.begin(), x->dims().size() - dims.size(), 1);
  for (size_t i = 0; i < x->dims().size(); ++i) {
    int64_t& dim = dims[dims.size() - x->dims().size() + i];
    const int64_t own = x->dims()[i];
    if (dim != own && dim != 1 && own != 1) return Invalid("dimension {} cannot be expanded to {}", own, dim);
    if (dim == 1) dim = own;
  }
  const std::vector<int64_t> strides = BroadcastStrides(x->dims(), dims);
  return CopyStrided(call, *x, std::move(dims), strides, 0);
}

Expected<Tensor> EvaluateTile(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(const Tensor* x, call.Need(0));
  RLC_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, call.NeedInts(1));
  if (repeats.size() != x->dims().size()) {
    return Invalid("{} repeats for {} dimensions", repeats.size(), x->dims().size());
  }
  // Each axis becomes two: the repetition, which moves nowhere, and the axis itself.
  const std::vector<int64_t> own = Strides(x->dims());
  std::vector<int64_t> split, strides, dims;
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) return Invalid("{} repeats", repeats[i]);
    split.insert(split.end(), {repeats[i], x->dims()[i]});
    strides.insert(strides.end(), {0, own[i]});
    int64_t& dim = dims.emplace_back();
    if (__builtin_mul_overflow(repeats[i], x->dims()[i], &dim)) return Unavailable(call);
  }
  RLC_ASSIGN_OR_RETURN(const Tensor tiled, CopyStrided(call, *x, std::move(split), strides, 0));
  return tiled.Reshaped(std::move(dims));
}

Expected<Tensor> EvaluateConstantOfShape(const OpCall& call) {
  RLC_ASSIGN_OR_RETURN(std::vector<int64_t> dims, call.NeedInts(0));
  Tensor value = Tensor::Of<float>({1}, {0});
  if (const Attribute* attribute = call.node.FindAttribute("value")) {
    const auto* tensor = std::get_if<Tensor>(&attribute->value);
    if (tensor == nullptr || tensor->size() != 1) return Invalid("value must be a tensor with one element");
    value = *tensor;
  }
  if (!ElementCount(dims)) return Invalid("shape [{}] cannot be", fmt::join(dims, ","));
  const std::vector<int64_t> strides(dims.size(), 0);
  return CopyStrided(call, value, std::move(dims), strides, 0);
}

}  // namespace rlc::evaluate_internal
