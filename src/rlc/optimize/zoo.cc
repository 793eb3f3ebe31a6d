#include "rlc/optimize/zoo.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "rlc/base/format.h"
#include "rlc/base/rng.h"

namespace rlc {
namespace {

struct NamedSpec {
  std::string_view name, spec;
};

constexpr std::array<NamedSpec, 3> kNamed = {{
    {"mobilenet-like",
     "3x96x96,conv16s2,bn,relu6,dw3,bn,relu6,conv8k1,bn,conv48k1,bn,relu6,dw3s2,bn,relu6,conv16k1,bn,"
     "[conv96k1,bn,relu6,dw3,bn,relu6,conv16k1,bn],conv96k1,bn,relu6,dw3s2,bn,relu6,conv24k1,bn,"
     "[conv144k1,bn,relu6,dw3,bn,relu6,conv24k1,bn],[conv144k1,bn,relu6,dw3,bn,relu6,conv24k1,bn],"
     "conv144k1,bn,relu6,dw3s2,bn,relu6,conv48k1,bn,[conv288k1,bn,relu6,dw3,bn,relu6,conv48k1,bn],"
     "conv256k1,bn,relu6,gap,fc10"},
    {"resnet-like",
     "3x64x64,conv16,bn,relu,[conv16,bn,relu,conv16,bn],relu,[conv16,bn,relu,conv16,bn],relu,"
     "[conv32s2,bn,relu,conv32,bn],relu,[conv32,bn,relu,conv32,bn],relu,[conv64s2,bn,relu,conv64,bn],relu,"
     "[conv64,bn,relu,conv64,bn],relu,gap,fc10"},
    {"simple-conv", "3x32x32,conv16,bn,relu,max2,conv32,bn,relu,max2,conv64,bn,relu,gap,fc10"},
}};

// One step, parsed: "conv16k3s2" -> word "conv", size 16, k 3, s 2.
struct Step {
  std::string word;
  int64_t size = 0, kernel = 0, stride = 0, groups = 0;  // 0: not given
};

constexpr int64_t kLargest = 4096;  // channels, kernels, image sides: keeps every product far from overflow

std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t number = 0;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    number = number * 10 + (text[digits] - '0');
    if (number > kLargest) return std::nullopt;
  }
  if (digits == 0 || number == 0) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

std::optional<Step> ParseStep(std::string_view text) {
  static constexpr std::array<std::string_view, 13> kWords = {
      "conv", "dw", "bn", "relu6", "relu", "hswish", "silu", "sigmoid", "max", "avg", "gap", "fc", ""};
  Step step;
  for (std::string_view word : kWords) {
    if (text.starts_with(word)) {
      step.word = word;
      text.remove_prefix(word.size());
      break;
    }
  }
  const bool sized =
      step.word == "conv" || step.word == "fc" || step.word == "dw" || step.word == "max" || step.word == "avg";
  if (step.word.empty()) return std::nullopt;
  if (sized) {
    const auto size = TakeNumber(text);
    if (!size) return std::nullopt;
    step.size = *size;
  }
  const bool windowed = sized && step.word != "fc";
  while (!text.empty() && windowed) {
    const char field = text.front();
    text.remove_prefix(1);
    const auto number = TakeNumber(text);
    if (!number) return std::nullopt;
    int64_t* target = field == 's' ? &step.stride : nullptr;
    if (step.word == "conv" && field == 'k') target = &step.kernel;
    if (step.word == "conv" && field == 'g') target = &step.groups;
    if (target == nullptr || *target != 0) return std::nullopt;
    *target = *number;
  }
  return text.empty() ? std::optional(step) : std::nullopt;
}

// Builds the graph step by step; `top` is the value that the next step reads.
class Builder {
 public:
  Builder(int64_t channels, int64_t height, int64_t width, uint64_t seed)
      : rng_(seed), channels_(channels), height_(height), width_(width) {
    graph_.SetName("zoo");
    graph_.SetOpset("", 17);
    top_ = graph_.AddInput("input", Type::Tensor(DType::kFloat, Shape{Dim::Named("N"), Dim::Of(channels),
                                                                      Dim::Of(height), Dim::Of(width)}));
  }

  // False: the step does not fit what came before.
  bool Add(const Step& step) {
    if (step.word == "fc") return Dense(step.size);
    if (flat_) return step.word == "relu" || step.word == "sigmoid" ? Activation(step.word) : false;
    if (step.word == "conv")
      return Conv(step.size, step.kernel ? step.kernel : 3, step.stride ? step.stride : 1,
                  step.groups ? step.groups : 1);
    if (step.word == "dw") return Conv(channels_, step.size, step.stride ? step.stride : 1, channels_);
    if (step.word == "bn") return BatchNorm();
    if (step.word == "max" || step.word == "avg") return Pool(step);
    if (step.word == "gap") return GlobalPool();
    return Activation(step.word);
  }

  bool OpenBlock() {
    if (flat_) return false;
    blocks_.push_back({top_, channels_, height_, width_});
    return true;
  }

  bool CloseBlock() {
    if (blocks_.empty() || flat_) return false;
    const Block start = blocks_.back();
    blocks_.pop_back();
    const Block end{top_, channels_, height_, width_};
    if (start.channels != end.channels || start.height != end.height || start.width != end.width) {
      top_ = start.top, channels_ = start.channels, height_ = start.height, width_ = start.width;
      const int64_t stride = (start.height + end.height - 1) / end.height;
      if (!Conv(end.channels, 1, stride, 1) || height_ != end.height || width_ != end.width || !BatchNorm())
        return false;
    } else {
      top_ = start.top;
    }
    const ValueId shortcut = top_;
    top_ = Node1("Add", {end.top, shortcut});
    return true;
  }

  bool open() const { return !blocks_.empty(); }

  Graph Finish() && {
    const ValueId out = Node1("Identity", {top_}, {}, "output");
    const Shape shape = flat_ ? Shape{Dim::Named("N"), Dim::Of(channels_)}
                              : Shape{Dim::Named("N"), Dim::Of(channels_), Dim::Of(height_), Dim::Of(width_)};
    graph_.SetType(out, Type::Tensor(DType::kFloat, shape));
    graph_.AddOutput(out);
    return std::move(graph_);
  }

 private:
  struct Block {
    ValueId top;
    int64_t channels, height, width;
  };

  std::string Label(std::string_view op) { return fmt::format("{}_{}", op, count_++); }

  ValueId Node1(const std::string& op, std::vector<ValueId> inputs, std::vector<Attribute> attributes = {},
                const std::string& name = "") {
    Node node;
    node.op = op;
    node.name = Label(op);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    const ValueId out = graph_.AddValue(name.empty() ? node.name + "_out" : name);
    node.outputs = {out};
    graph_.AddNode(std::move(node));
    return out;
  }

  ValueId Weight(std::vector<int64_t> dims, double mean, double deviation) {
    std::vector<float> values(static_cast<size_t>(*ElementCount(dims)));
    for (float& v : values) v = static_cast<float>(rng_.Normal(mean, deviation));
    return graph_.AddInitializer(Label("weight"), Tensor::Of(std::move(dims), values));
  }

  // Uniform in [low, high]: scales and variances must stay positive.
  ValueId Positive(double low, double high) {
    std::vector<float> values(static_cast<size_t>(channels_));
    for (float& v : values) v = static_cast<float>(rng_.UniformReal(low, high));
    return graph_.AddInitializer(Label("statistic"), Tensor::Of({channels_}, values));
  }

  // Keeps a model below 2^26 weights in all, so that a typo costs an error and not the machine's memory.
  bool Affordable(int64_t outputs, int64_t fan_in) {
    weights_ += outputs * fan_in;  // both are below 2^37: no overflow
    return weights_ <= int64_t{1} << 26;
  }

  bool Shrink(int64_t kernel, int64_t stride, int64_t pad) {
    if (height_ + 2 * pad < kernel || width_ + 2 * pad < kernel) return false;
    height_ = (height_ + 2 * pad - kernel) / stride + 1;
    width_ = (width_ + 2 * pad - kernel) / stride + 1;
    return true;
  }

  static std::vector<Attribute> Window(int64_t kernel, int64_t stride, int64_t pad) {
    return {{"kernel_shape", std::vector<int64_t>{kernel, kernel}, {}},
            {"strides", std::vector<int64_t>{stride, stride}, {}},
            {"pads", std::vector<int64_t>{pad, pad, pad, pad}, {}}};
  }

  bool Conv(int64_t outputs, int64_t kernel, int64_t stride, int64_t groups) {
    if (channels_ % groups != 0 || outputs % groups != 0 || !Shrink(kernel, stride, kernel / 2)) return false;
    const int64_t fan_in = channels_ / groups * kernel * kernel;
    if (!Affordable(outputs, fan_in)) return false;
    const ValueId weight =
        Weight({outputs, channels_ / groups, kernel, kernel}, 0, std::sqrt(2.0 / static_cast<double>(fan_in)));
    auto attributes = Window(kernel, stride, kernel / 2);
    attributes.push_back({"group", groups, {}});
    top_ = Node1("Conv", {top_, weight}, std::move(attributes));
    channels_ = outputs;
    return true;
  }

  bool BatchNorm() {
    const ValueId scale = Positive(0.7, 1.3), bias = Weight({channels_}, 0, 0.1), mean = Weight({channels_}, 0, 0.1),
                  variance = Positive(0.5, 1.5);
    top_ = Node1("BatchNormalization", {top_, scale, bias, mean, variance});
    return true;
  }

  bool Pool(const Step& step) {
    const int64_t stride = step.stride ? step.stride : step.size;
    if (!Shrink(step.size, stride, 0)) return false;
    top_ = Node1(step.word == "max" ? "MaxPool" : "AveragePool", {top_}, Window(step.size, stride, 0));
    return true;
  }

  bool GlobalPool() {
    top_ = Node1("GlobalAveragePool", {top_});
    top_ = Node1("Flatten", {top_});
    flat_ = true;
    return true;
  }

  bool Dense(int64_t outputs) {
    if (!flat_) {
      top_ = Node1("Flatten", {top_});
      channels_ *= height_ * width_;
      flat_ = true;
    }
    if (!Affordable(outputs, channels_)) return false;
    const ValueId weight = Weight({outputs, channels_}, 0, std::sqrt(1.0 / static_cast<double>(channels_)));
    const ValueId bias = Weight({outputs}, 0, 0.1);
    top_ = Node1("Gemm", {top_, weight, bias}, {{"transB", int64_t{1}, {}}});
    channels_ = outputs;
    return true;
  }

  ValueId Constant(float value) { return graph_.AddInitializer(Label("constant"), Tensor::Scalar(value)); }

  bool Activation(const std::string& word) {
    if (word == "relu") {
      top_ = Node1("Relu", {top_});
    } else if (word == "relu6") {
      const ValueId low = Constant(0), high = Constant(6);
      top_ = Node1("Clip", {top_, low, high});
    } else if (word == "hswish") {
      top_ = Node1("HardSwish", {top_});
    } else {
      const ValueId gate = Node1("Sigmoid", {top_});
      top_ = word == "silu" ? Node1("Mul", {top_, gate}) : gate;
    }
    return true;
  }

  Graph graph_;
  Rng rng_;
  ValueId top_ = ValueId::kNone;
  int64_t channels_, height_, width_;
  bool flat_ = false;
  int count_ = 0;
  int64_t weights_ = 0;
  std::vector<Block> blocks_;
};

Unexpected BadStep(size_t number, std::string_view text, std::string_view why) {
  return MakeError(ErrorKind::kUsage, "custom model: step {} ('{}') {}; see 'rlc zoo --help' for the steps", number,
                   text, why);
}

Expected<Builder> StartBuilder(std::string_view text, uint64_t seed) {
  std::array<int64_t, 3> sizes{};
  std::string_view rest = text;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto size = TakeNumber(rest);
    const bool separated = i + 1 < sizes.size() ? rest.starts_with('x') : rest.empty();
    if (!size || !separated) return BadStep(0, text, "is not an input size like 3x32x32");
    sizes[i] = *size;
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return Builder(sizes[0], sizes[1], sizes[2], seed);
}

Expected<Graph> Build(std::string_view spec, uint64_t seed) {
  constexpr size_t kMostSteps = 2000;
  const std::vector<std::string> parts = SplitText(spec, ',');
  if (parts.size() > kMostSteps) {
    return MakeError(ErrorKind::kUsage, "custom model: {} steps, at most {} are allowed", parts.size(), kMostSteps);
  }
  RLC_ASSIGN_OR_RETURN(Builder builder, StartBuilder(parts.empty() ? "" : parts[0], seed));
  for (size_t i = 1; i < parts.size(); ++i) {
    std::string_view text = parts[i];
    while (text.starts_with('[')) {
      if (!builder.OpenBlock()) return BadStep(i, parts[i], "opens a block after the image was flattened");
      text.remove_prefix(1);
    }
    const size_t closing = std::min(text.find(']'), text.size());
    const auto step = ParseStep(text.substr(0, closing));
    if (!step) return BadStep(i, parts[i], "is not a step that the zoo knows");
    if (!builder.Add(*step))
      return BadStep(
          i, parts[i],
          "does not fit what comes before it (image too small, already flattened, or more than 67 million weights)");
    for (char c : text.substr(closing)) {
      if (c != ']' || !builder.CloseBlock()) return BadStep(i, parts[i], "closes a block whose two paths do not meet");
    }
  }
  if (builder.open()) return MakeError(ErrorKind::kUsage, "custom model: a block '[' is never closed");
  return std::move(builder).Finish();
}

}  // namespace

std::vector<std::string> ZooNames() {
  std::vector<std::string> names;
  for (const NamedSpec& named : kNamed) names.emplace_back(named.name);
  return names;
}

Expected<Model> MakeZooModel(std::string_view name, uint64_t seed) {
  constexpr std::string_view kCustom = "custom:";
  std::string_view spec;
  if (name.starts_with(kCustom)) spec = name.substr(kCustom.size());
  for (const NamedSpec& named : kNamed) {
    if (named.name == name) spec = named.spec;
  }
  if (spec.empty()) {
    return MakeError(ErrorKind::kUsage, "no zoo model '{}'; there are {} and custom:SPEC", name,
                     fmt::join(ZooNames(), ", "));
  }
  Model model;
  model.ir_version = 8;
  RLC_ASSIGN_OR_RETURN(model.graph, Build(spec, seed));
  return model;
}

}  // namespace rlc
