// What rlc evaluates by itself is, to the bit, what the runtime computes with optimizations off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "rlc/base/rng.h"
#include "rlc/ir/evaluate.h"
#include "rlc/ort/constant_evaluator.h"
#include "rlc/testing/ir.h"

namespace rlc {
namespace {

using Dims = std::vector<int64_t>;

// Random nodes with constant operands, as text.
class Cases {
 public:
  explicit Cases(uint64_t seed) : rng_(seed) {}

  std::string Binary(const std::string& op, const std::string& type) {
    const Dims whole = Shape(3);
    return fmt::format("{}({}, {})", op, Constant("a", type, Part(whole)),
                       Constant("b", type, Part(whole), op != "Div"));
  }
  std::string Unary(const std::string& op, const std::string& type) {
    return fmt::format("{}({})", op, Constant("a", type, Shape(3)));
  }
  std::string Cast() {
    const std::string from = Any({"int64", "int32", "uint8", "float", "double", "bool"});
    const std::string to = Any({"1", "2", "3", "6", "7", "9", "11"});
    // Floats that fit any of the types: what does not fit is left open.
    return fmt::format("Cast<to={}>({})", to, Constant("a", from, Shape(2), from == "int64" || from == "int32", 0));
  }
  std::string Slice() {
    const Dims dims = Shape(3, 1);
    const int64_t rank = static_cast<int64_t>(dims.size());
    return fmt::format(
        "Slice({}, %s int64[1] = {{{}}}, %e int64[1] = {{{}}}, %x int64[1] = {{{}}}, %t int64[1] = {{{}}})",
        Constant("a", "int64", dims), Pick(-5, 5), Pick(-5, 5), Pick(-rank, rank - 1),
        rng_.Bernoulli(0.5) ? Pick(1, 3) : Pick(-3, -1));
  }
  std::string Gather() {
    const Dims dims = Shape(3, 1);
    const int64_t rank = static_cast<int64_t>(dims.size());
    const int64_t axis = Pick(-rank, rank - 1);
    const int64_t count = dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    return fmt::format("Gather<axis={}>({}, %i int64[2,1] = {{{}, {}}})", axis, Constant("a", "int32", dims),
                       Pick(-count, count - 1), Pick(-count, count - 1));
  }
  std::string Concat() {
    Dims first = Shape(3, 1);
    Dims second = first;
    const int64_t axis = Pick(0, static_cast<int64_t>(first.size()) - 1);
    second[static_cast<size_t>(axis)] = Pick(1, 3);
    return fmt::format("Concat<axis={}>({}, {})", axis, Constant("a", "int64", first), Constant("b", "int64", second));
  }
  std::string Transpose() {
    const Dims dims = Shape(3);
    Dims perm;
    for (size_t i = 0; i < dims.size(); ++i) perm.push_back(static_cast<int64_t>(i));
    rng_.Shuffle(perm);
    return fmt::format("Transpose<perm=[{}]>({})", fmt::join(perm, ","), Constant("a", "int64", dims));
  }
  std::string Grow() {
    const Dims whole = Shape(3);
    const std::string shape = fmt::format("%s int64[{}] = {{{}}}", whole.size(), fmt::join(whole, ", "));
    return rng_.Bernoulli(0.5)
               ? fmt::format("Expand({}, {})", Constant("a", "int64", Part(whole)), shape)
               : fmt::format("Tile({}, {})", Constant("a", "float", Shape(whole.size(), whole.size())), shape);
  }
  std::string Where() {
    const Dims whole = Shape(3);
    return fmt::format("Where({}, {}, {})", Constant("c", "bool", Part(whole)), Constant("a", "int64", Part(whole)),
                       Constant("b", "int64", Part(whole)));
  }
  std::string Range() {
    return fmt::format("Range(%a int64[] = {}, %b int64[] = {}, %c int64[] = {})", Pick(-9, 9), Pick(-9, 9),
                       rng_.Bernoulli(0.5) ? Pick(1, 4) : Pick(-4, -1));
  }
  std::string Reduce(const std::string& op) {
    const Dims dims = Shape(3, 1);
    const int64_t axis = Pick(0, static_cast<int64_t>(dims.size()) - 1);
    const std::string a = Constant("a", "int64", dims);
    if (op == "ReduceSum") return fmt::format("ReduceSum<keepdims={}>({}, %x int64[1] = {{{}}})", Pick(0, 1), a, axis);
    return fmt::format("{}<axes=[{}], keepdims={}>({})", op, axis, Pick(0, 1), a);
  }

  std::string Any(const std::vector<std::string>& words) {
    return words[static_cast<size_t>(rng_.UniformInt(words.size()))];
  }

 private:
  int64_t Pick(int64_t low, int64_t high) { return rng_.UniformRange(low, high); }

  Dims Shape(size_t max_rank, size_t min_rank = 0) {
    Dims dims(static_cast<size_t>(Pick(static_cast<int64_t>(min_rank), static_cast<int64_t>(max_rank))));
    for (int64_t& dim : dims) dim = Pick(1, 4);
    return dims;
  }
  // A shape that broadcasts into `whole`.
  Dims Part(const Dims& whole) {
    Dims dims(whole.begin() + Pick(0, static_cast<int64_t>(whole.size())), whole.end());
    for (int64_t& dim : dims) dim = rng_.Bernoulli(0.3) ? 1 : dim;
    return dims;
  }
  std::string Constant(const std::string& name, const std::string& type, const Dims& dims, bool negative = true,
                       double fraction = 0.25) {
    std::vector<std::string> words;
    for (int64_t i = 0; i < ElementCount(dims).value_or(0); ++i) {
      const bool real = type == "float" || type == "double";
      const bool is_unsigned = type.starts_with("uint");
      const int64_t whole = type == "bool" ? Pick(0, 1) : Pick(negative && !is_unsigned ? -50 : 1, 50);
      // Never 0: divisors.
      const int64_t value = type != "bool" && whole == 0 ? 7 : whole;
      words.push_back(real ? fmt::format("{}", static_cast<double>(value) + fraction) : fmt::format("{}", value));
    }
    const bool scalar = dims.empty();
    return fmt::format("%{} {}[{}] = {}{}{}", name, type, fmt::join(dims, ","), scalar ? "" : "{",
                       fmt::join(words, ", "), scalar ? "" : "}");
  }

  Rng rng_;
};

// True if both sides had an answer; they must be equal.
bool Agree(const std::string& node) {
  const Graph graph = Parse(fmt::format("graph () => () {{ result = {} }}", node));
  const Node& call = graph.node(graph.nodes()[0]);
  std::vector<const Tensor*> inputs;
  for (const ValueId input : call.inputs) inputs.push_back(graph.constant(input));
  const auto own = BuiltinEvaluator().Evaluate(graph, call, inputs);
  EXPECT_THAT(own, IsOk()) << node;
  if (!own) return false;
  static OrtConstantEvaluator runtime;
  const auto wanted = runtime.Evaluate(graph, call, inputs);
  if (!wanted) {
    EXPECT_EQ(wanted.error().kind, ErrorKind::kUnavailable) << node << ": " << wanted.error().message;
    return false;
  }
  EXPECT_THAT(own->at(0), SameTensor(wanted->at(0))) << node;
  return true;
}

TEST(EvaluatorsAgree, OnRandomShapeArithmetic) {
  Cases cases(11);
  int compared = 0;
  int all = 0;
  const auto check = [&](const std::string& node) {
    ++all;
    compared += Agree(node) ? 1 : 0;
  };
  for (int round = 0; round < 12; ++round) {
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Less", "Greater", "Equal", "LessOrEqual"}) {
      check(cases.Binary(op, cases.Any({"int64", "int32", "float", "double"})));
    }
    check(cases.Binary("Mod", cases.Any({"int64", "int32", "int8", "uint8"})));
    check(cases.Binary(cases.Any({"And", "Or", "Xor"}), "bool"));
    check(cases.Unary(cases.Any({"Neg", "Abs"}), cases.Any({"int64", "int32", "float", "double"})));
    check(cases.Unary(cases.Any({"Floor", "Ceil"}), cases.Any({"float", "double"})));
    check(cases.Unary(cases.Any({"Shape", "Size", "Identity"}), "float"));
    check(cases.Cast());
    check(cases.Slice());
    check(cases.Gather());
    check(cases.Concat());
    check(cases.Transpose());
    check(cases.Grow());
    check(cases.Where());
    check(cases.Range());
    check(cases.Reduce(cases.Any({"ReduceSum", "ReduceProd", "ReduceMin", "ReduceMax"})));
  }
  EXPECT_GT(compared, all * 9 / 10);
}

}  // namespace
}  // namespace rlc
