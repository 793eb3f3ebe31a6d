#include "rlc/testing/random_graph.h"

#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "rlc/base/rng.h"

namespace rlc {
namespace {

using Dims = std::vector<int64_t>;

Type TypeOf(DType type, const Dims& dims) {
  Shape shape;
  for (const int64_t dim : dims) shape.push_back(Dim::Of(dim));
  return Type::Tensor(type, std::move(shape));
}

class Builder {
 public:
  Builder(uint64_t seed, const RandomGraphOptions& options) : rng_(seed), options_(options) {}

  Graph Build();

 private:
  // --- small parts
  int64_t Pick(int64_t low, int64_t high) { return rng_.UniformRange(low, high); }
  std::string Name() { return "v" + std::to_string(next_++); }
  Dims DimsOf(ValueId id) const { return StaticDims(*graph_.type(id).shape).value_or(Dims()); }
  ValueId Weight(Dims dims, double scale, double center = 0);
  ValueId Ints(const std::vector<int64_t>& values) {
    return graph_.AddInitializer(Name(), Tensor::Of({static_cast<int64_t>(values.size())}, values));
  }
  ValueId Scalar(double value) {
    return Filled({}, [&] { return value; });
  }
  // A weight of the graph's type.
  template <typename Draw>
  ValueId Filled(Dims dims, Draw draw);
  // `type`: kUndefined stands for the graph's own.
  ValueId Node(std::string op, std::vector<ValueId> inputs, const Dims& dims, std::vector<Attribute> attributes = {},
               DType type = DType::kUndefined);
  // The same for lists that are attributes up to an opset and inputs from then on.
  ValueId NodeWithLists(std::string op, ValueId x, const Dims& dims, int inputs_since,
                        const std::vector<std::pair<std::string, Dims>>& lists);
  ValueId Source(int rank);  // a value of this rank, rather a late one; kNone when there is none
  ValueId SameShaped(ValueId x);

  // --- steps: each takes a value and gives the one it ends with
  ValueId Conv(ValueId x);
  ValueId BatchNorm(ValueId x);
  ValueId Activation(ValueId x);
  ValueId Clip(ValueId x, float low, float high);
  ValueId HardSwish(ValueId x);
  ValueId Arithmetic(ValueId x);
  ValueId NoOp(ValueId x);
  ValueId PadOrPool(ValueId x);
  ValueId Move(ValueId x);
  ValueId Join(ValueId x);
  ValueId Flat(ValueId x);
  ValueId Linear(ValueId x);
  ValueId Branch(ValueId x);
  ValueId Shuffle(ValueId x);
  ValueId Mean(ValueId x);
  ValueId Parts(ValueId x);

  void FreeBatch();

  Graph graph_;
  Rng rng_;
  RandomGraphOptions options_;
  std::vector<ValueId> pool_;
  int next_ = 0;
};

ValueId Builder::Weight(Dims dims, double scale, double center) {
  // Now and then a weight that another node has already.
  if (center == 0 && rng_.Bernoulli(0.1)) {
    for (const ValueId id : graph_.initializers()) {
      if (graph_.type(id).elem == options_.type && graph_.constant(id)->dims() == dims) return id;
    }
  }
  return Filled(std::move(dims), [&] { return center + scale * rng_.UniformReal(-1, 1); });
}

template <typename Draw>
ValueId Builder::Filled(Dims dims, Draw draw) {
  std::vector<double> values(static_cast<size_t>(ElementCount(dims).value_or(0)));
  for (double& value : values) value = draw();
  return graph_.AddInitializer(Name(), *Tensor::FromDoubles(options_.type, std::move(dims), values));
}

ValueId Builder::NodeWithLists(std::string op, ValueId x, const Dims& dims, int inputs_since,
                               const std::vector<std::pair<std::string, Dims>>& lists) {
  std::vector<ValueId> inputs = {x};
  std::vector<Attribute> attributes;
  for (const auto& [name, list] : lists) {
    if (options_.opset < inputs_since) {
      attributes.push_back({name, list, ""});
    } else {
      inputs.push_back(Ints(list));
    }
  }
  return Node(std::move(op), std::move(inputs), dims, std::move(attributes));
}

ValueId Builder::Node(std::string op, std::vector<ValueId> inputs, const Dims& dims, std::vector<Attribute> attributes,
                      DType type) {
  Type result = TypeOf(type == DType::kUndefined ? options_.type : type, dims);
  rlc::Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = {graph_.AddValue(Name(), std::move(result))};
  node.attributes = std::move(attributes);
  const ValueId output = node.outputs[0];
  graph_.AddNode(std::move(node));
  return output;
}

ValueId Builder::Source(int rank) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const auto back = static_cast<size_t>(std::fabs(rng_.Normal(0, 1.5)));
    const ValueId id = pool_[pool_.size() - 1 - std::min(back, pool_.size() - 1)];
    if (graph_.type(id).rank() == rank) return id;
  }
  return ValueId::kNone;
}

ValueId Builder::SameShaped(ValueId x) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const ValueId other = pool_[static_cast<size_t>(rng_.UniformInt(pool_.size()))];
    if (DimsOf(other) == DimsOf(x)) return other;
  }
  return x;
}

ValueId Builder::Conv(ValueId x) {
  Dims dims = DimsOf(x);
  const int64_t kernel = std::min({dims[2], dims[3], rng_.Bernoulli(0.5) ? int64_t{3} : int64_t{1}});
  const int64_t stride = Pick(1, 2);
  const int64_t pad = kernel == 1 ? 0 : Pick(0, kernel / 2);
  const bool depthwise = rng_.Bernoulli(0.3);
  const int64_t out = depthwise ? dims[1] : Pick(1, 8);
  const int64_t inner = depthwise ? 1 : dims[1];
  const double scale = 1.7 / std::sqrt(static_cast<double>(inner * kernel * kernel));
  std::vector<ValueId> inputs = {x, Weight({out, inner, kernel, kernel}, scale)};
  if (rng_.Bernoulli(0.5)) inputs.push_back(Weight({out}, 0.5));
  std::vector<Attribute> attributes = {{"strides", Dims{stride, stride}, ""}, {"pads", Dims{pad, pad, pad, pad}, ""}};
  if (depthwise) attributes.push_back({"group", dims[1], ""});
  for (size_t i = 2; i < 4; ++i) dims[i] = (dims[i] + 2 * pad - kernel) / stride + 1;
  dims[1] = out;
  return Node("Conv", std::move(inputs), dims, std::move(attributes));
}

ValueId Builder::BatchNorm(ValueId x) {
  const Dims channels = {DimsOf(x)[1]};
  const std::vector<ValueId> inputs = {x, Weight(channels, 0.5, 1), Weight(channels, 0.5), Weight(channels, 0.5),
                                       Weight(channels, 0.5, 1)};
  return Node("BatchNormalization", inputs, DimsOf(x), {{"epsilon", 1e-3F, ""}});
}

ValueId Builder::Activation(ValueId x) {
  switch (Pick(0, 4)) {
    case 0:
      return Node("Sigmoid", {x}, DimsOf(x));
    case 1:
      return Node("LeakyRelu", {x}, DimsOf(x), {{"alpha", 0.1F, ""}});
    case 2: {
      return Clip(x, 0, static_cast<float>(Pick(1, 6)));
    }
    default:
      return Node("Relu", {x}, DimsOf(x));
  }
}

ValueId Builder::Clip(ValueId x, float low, float high) {
  if (options_.opset < 11) return Node("Clip", {x}, DimsOf(x), {{"min", low, ""}, {"max", high, ""}});
  return Node("Clip", {x, Scalar(low), Scalar(high)}, DimsOf(x));
}

// As some frameworks write it: x * clip(x + 3, 0, 6) / 6.
ValueId Builder::HardSwish(ValueId x) {
  const ValueId sum = Node("Add", {x, Scalar(3)}, DimsOf(x));
  const ValueId clip = Clip(sum, 0, 6);
  const ValueId product = Node("Mul", {x, clip}, DimsOf(x));
  return Node("Div", {product, Scalar(6)}, DimsOf(x));
}

ValueId Builder::Arithmetic(ValueId x) {
  const Dims dims = DimsOf(x);
  const std::array<std::string, 3> ops = {"Add", "Mul", "Sub"};
  const std::string& op = ops[static_cast<size_t>(Pick(0, 2))];
  ValueId other = ValueId::kNone;
  switch (Pick(0, 3)) {
    case 0:
      other = Weight(dims.size() == 4 ? Dims{dims[1], 1, 1} : Dims{dims[1]}, 1);
      break;
    case 1:
      // What changes nothing: + 0, * 1, - 0.
      other = Scalar(op == "Mul" ? 1 : 0);
      break;
    case 2:
      other = Weight({1}, 1);
      break;
    default:
      other = SameShaped(x);
  }
  return Node(op, op != "Sub" && rng_.Bernoulli(0.3) ? std::vector{other, x} : std::vector{x, other}, dims);
}

ValueId Builder::NoOp(ValueId x) {
  const Dims dims = DimsOf(x);
  switch (Pick(0, 3)) {
    case 0:
      return Node("Dropout", {x}, dims);
    case 1:
      return Node("Cast", {x}, dims, {{"to", static_cast<int64_t>(options_.type), ""}});
    case 2:
      return Node("Reshape", {x, Ints(dims)}, dims);
    default:
      return Node("Identity", {x}, dims);
  }
}

ValueId Builder::PadOrPool(ValueId x) {
  Dims dims = DimsOf(x);
  if (rng_.Bernoulli(0.5) && dims[2] < 12 && dims[3] < 12) {
    dims[2] += 1;
    dims[3] += 2;
    return NodeWithLists("Pad", x, dims, 11, {{"pads", {0, 0, 1, 1, 0, 0, 0, 1}}});
  }
  if (dims[2] < 2 || dims[3] < 2) return Node("GlobalAveragePool", {x}, {dims[0], dims[1], 1, 1});
  dims[2] -= 1;
  dims[3] -= 1;
  return Node(rng_.Bernoulli(0.5) ? "MaxPool" : "AveragePool", {x}, dims, {{"kernel_shape", Dims{2, 2}, ""}});
}

ValueId Builder::Move(ValueId x) {
  Dims dims = DimsOf(x);
  if (rng_.Bernoulli(0.5)) {
    std::vector<int64_t> perm(dims.size());
    std::iota(perm.begin(), perm.end(), 0);
    rng_.Shuffle(perm);
    // The batch stays in front: everything else here counts on it.
    std::swap(*std::find(perm.begin(), perm.end(), 0), perm[0]);
    Dims moved;
    for (const int64_t axis : perm) moved.push_back(dims[static_cast<size_t>(axis)]);
    return Node("Transpose", {x}, moved, {{"perm", perm, ""}});
  }
  const int64_t axis = Pick(1, static_cast<int64_t>(dims.size()) - 1);
  int64_t& dim = dims[static_cast<size_t>(axis)];
  if (dim < 2) return x;
  const int64_t end = rng_.Bernoulli(0.5) ? INT64_MAX : dim;
  dim -= 1;
  return NodeWithLists("Slice", x, dims, 10, {{"starts", {1}}, {"ends", {end}}, {"axes", {axis}}});
}

ValueId Builder::Join(ValueId x) {
  const ValueId other = SameShaped(x);
  Dims dims = DimsOf(x);
  if (dims[1] > 4) return Node("Add", {x, other}, dims);
  dims[1] *= 2;
  return Node("Concat", {x, other}, dims, {{"axis", int64_t{1}, ""}});
}

// To [1, n], by a constant shape or by shape arithmetic.
ValueId Builder::Flat(ValueId x) {
  const Dims dims = DimsOf(x);
  const Dims flat = {1, dims[1] * dims[2] * dims[3]};
  if (rng_.Bernoulli(0.3)) return Node("Flatten", {x}, flat);
  if (rng_.Bernoulli(0.5)) return Node("Reshape", {x, Ints({1, -1})}, flat);
  const ValueId shape = Node("Shape", {x}, {4}, {}, DType::kInt64);
  const ValueId batch = Node("Gather", {shape, Ints({0})}, {1}, {}, DType::kInt64);
  const ValueId target = Node("Concat", {batch, Ints({-1})}, {2}, {{"axis", int64_t{0}, ""}}, DType::kInt64);
  return Node("Reshape", {x, target}, flat);
}

ValueId Builder::Linear(ValueId x) {
  const int64_t in = DimsOf(x)[1];
  const int64_t out = Pick(1, 8);
  const double scale = 1.7 / std::sqrt(static_cast<double>(in));
  if (rng_.Bernoulli(0.5)) {
    return Node("Gemm", {x, Weight({out, in}, scale), Weight({out}, 0.5)}, {1, out}, {{"transB", int64_t{1}, ""}});
  }
  const ValueId product = Node("MatMul", {x, Weight({in, out}, scale)}, {1, out});
  return rng_.Bernoulli(0.5) ? product : Node("Add", {product, Weight({out}, 0.5)}, {1, out});
}

// Channels in another order, by three nodes or one.
ValueId Builder::Shuffle(ValueId x) {
  const Dims dims = DimsOf(x);
  if (dims[1] % 2 != 0 || rng_.Bernoulli(0.3)) {
    std::vector<int64_t> order(static_cast<size_t>(dims[1]));
    std::iota(order.begin(), order.end(), 0);
    rng_.Shuffle(order);
    return Node("Gather", {x, Ints(order)}, dims, {{"axis", int64_t{1}, ""}});
  }
  const Dims split = {dims[0], 2, dims[1] / 2, dims[2], dims[3]};
  const Dims swapped = {dims[0], dims[1] / 2, 2, dims[2], dims[3]};
  const ValueId groups = Node("Reshape", {x, Ints(split)}, split);
  const ValueId moved = Node("Transpose", {groups}, swapped, {{"perm", Dims{0, 2, 1, 3, 4}, ""}});
  return Node("Reshape", {moved, Ints({dims[0], -1, dims[2], dims[3]})}, dims);
}

ValueId Builder::Mean(ValueId x) {
  Dims dims = DimsOf(x);
  if (rng_.Bernoulli(0.5)) {
    dims[2] = dims[3] = 1;
    // Negative axes exist since opset 11.
    return NodeWithLists("ReduceMean", x, dims, 18, {{"axes", {options_.opset < 11 ? 3 : -1, 2}}});
  }
  dims[3] = 1;
  return NodeWithLists("ReduceMean", x, dims, 18, {{"axes", {3}}});
}

// Cut in two along the channels and put together again, in order or not.
ValueId Builder::Parts(ValueId x) {
  const Dims dims = DimsOf(x);
  if (dims[1] < 2) return x;
  const int64_t cut = Pick(1, dims[1] - 1);
  Dims first = dims, second = dims;
  first[1] = cut;
  second[1] -= cut;
  const auto slice = [&](int64_t start, int64_t end, const Dims& part) {
    return NodeWithLists("Slice", x, part, 10, {{"starts", {start}}, {"ends", {end}}, {"axes", {1}}});
  };
  const ValueId a = slice(0, cut, first);
  const ValueId b = slice(cut, dims[1], second);
  pool_.push_back(rng_.Bernoulli(0.5) ? a : b);
  const bool ordered = rng_.Bernoulli(0.5);
  return Node("Concat", ordered ? std::vector{a, b} : std::vector{b, a}, dims, {{"axis", int64_t{1}, ""}});
}

ValueId Builder::Branch(ValueId x) {
  const auto body = [&](std::string op) {
    Graph inner;
    for (const auto& [domain, version] : graph_.opsets()) inner.SetOpset(domain, version);
    const Type type = TypeOf(options_.type, DimsOf(x));
    rlc::Node node;
    node.op = std::move(op);
    node.inputs = {inner.AddCaptured(graph_.value(x).name, type)};
    node.outputs = {inner.AddValue(Name(), type)};
    inner.AddOutput(node.outputs[0]);
    inner.AddNode(std::move(node));
    return std::make_shared<const Graph>(std::move(inner));
  };
  const ValueId zero = Scalar(0);
  const ValueId most = Node("ReduceMax", {pool_[0]}, {}, {{"keepdims", int64_t{0}, ""}});
  const ValueId condition = Node("Greater", {most, zero}, {}, {}, DType::kBool);
  return Node("If", {condition}, DimsOf(x), {{"then_branch", body("Neg"), ""}, {"else_branch", body("Identity"), ""}});
}

Graph Builder::Build() {
  graph_.SetName("random");
  graph_.SetOpset("", options_.opset);
  pool_.push_back(graph_.AddInput("x", TypeOf(options_.type, {1, Pick(1, 8), Pick(3, 12), Pick(3, 12)})));
  using Step = ValueId (Builder::*)(ValueId);
  // Those that need kernels for images first.
  constexpr std::array<Step, 15> kImageSteps = {
      &Builder::Conv,      &Builder::Conv,       &Builder::PadOrPool, &Builder::BatchNorm,  &Builder::BatchNorm,
      &Builder::HardSwish, &Builder::Arithmetic, &Builder::NoOp,      &Builder::Activation, &Builder::Move,
      &Builder::Join,      &Builder::Flat,       &Builder::Shuffle,   &Builder::Mean,       &Builder::Parts};
  const size_t first_step = options_.type == DType::kDouble ? 3 : 0;
  constexpr std::array<Step, 5> kFlatSteps = {&Builder::Linear, &Builder::Activation, &Builder::Arithmetic,
                                              &Builder::NoOp, &Builder::Move};
  for (int step = 0; step < options_.steps; ++step) {
    const bool flat = rng_.Bernoulli(0.3);
    const ValueId x = Source(flat ? 2 : 4);
    if (x == ValueId::kNone) continue;
    if (options_.bodies && rng_.Bernoulli(0.05)) {
      pool_.push_back(Branch(x));
      continue;
    }
    const Step chosen =
        flat ? kFlatSteps[static_cast<size_t>(rng_.UniformInt(kFlatSteps.size()))]
             : kImageSteps[first_step + static_cast<size_t>(rng_.UniformInt(kImageSteps.size() - first_step))];
    pool_.push_back((this->*chosen)(x));
  }
  // Of what nothing reads some stays dead; a value in the middle may be an output as well.
  for (size_t i = 1; i < pool_.size(); ++i) {
    const bool last = i + 1 == pool_.size();
    const bool wanted = last || rng_.Bernoulli(graph_.HasReaders(pool_[i]) ? 0.1 : 0.8);
    if (wanted && !graph_.is_output(pool_[i]) && graph_.producer(pool_[i]) != nullptr) graph_.AddOutput(pool_[i]);
  }
  if (graph_.outputs().empty()) graph_.AddOutput(Node("Relu", {pool_[0]}, DimsOf(pool_[0])));
  if (options_.free_batch) FreeBatch();
  return std::move(graph_);
}

// Gives the batch a name, and forgets all sizes that follow from it.
void Builder::FreeBatch() {
  Type input = graph_.type(pool_[0]);
  (*input.shape)[0] = Dim::Named("batch");
  graph_.SetType(pool_[0], std::move(input));
  for (const ValueId id : graph_.values()) {
    if (graph_.value(id).kind == Value::Kind::kNode) graph_.SetType(id, Type::Tensor(graph_.type(id).elem));
  }
}

}  // namespace

RandomGraphOptions RandomOptions(uint64_t seed) {
  Rng rng(seed);
  RandomGraphOptions options;
  constexpr std::array kTypes = {DType::kFloat, DType::kFloat, DType::kFloat16, DType::kDouble};
  options.steps = static_cast<int>(rng.UniformRange(4, 20));
  options.opset = static_cast<int>(rng.UniformRange(7, 24));
  options.type = kTypes[static_cast<size_t>(rng.UniformInt(kTypes.size()))];
  options.free_batch = rng.Bernoulli(0.4);
  return options;
}

Graph RandomGraph(uint64_t seed, const RandomGraphOptions& options) { return Builder(seed, options).Build(); }

}  // namespace rlc
