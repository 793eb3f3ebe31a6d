#include "rlc/testing/ir.h"

#include <stdexcept>
#include <utility>

#include "rlc/ir/text.h"
#include "rlc/ir/verify.h"

namespace rlc {
namespace {

constexpr PrintOptions kAllValues{std::nullopt, true};

std::string InterfaceText(const Graph& graph) {
  std::string text;
  for (const auto* list : {&graph.inputs(), &graph.outputs()}) {
    text += list == &graph.inputs() ? "inputs:" : " outputs:";
    for (const ValueId id : *list) text += " " + ToString(graph.type(id)) + " " + graph.value(id).name;
  }
  return text;
}

class ValidMatcher : public ::testing::MatcherInterface<const Graph&> {
 public:
  bool MatchAndExplain(const Graph& graph, ::testing::MatchResultListener* listener) const override {
    const auto verified = VerifyGraph(graph);
    if (!verified) *listener << "which has this fault: " << verified.error().message;
    return verified.has_value();
  }
  void DescribeTo(std::ostream* out) const override { *out << "is a valid graph"; }
};

// A text made from the graph equals another text.
class TextMatcher : public ::testing::MatcherInterface<const Graph&> {
 public:
  using Spelling = std::string (*)(const Graph&);
  TextMatcher(std::string what, std::string wanted, Spelling spell)
      : what_(std::move(what)), wanted_(std::move(wanted)), spell_(spell) {}

  bool MatchAndExplain(const Graph& graph, ::testing::MatchResultListener* listener) const override {
    const std::string found = spell_(graph);
    if (found != wanted_) *listener << "where it is\n" << found;
    return found == wanted_;
  }
  void DescribeTo(std::ostream* out) const override { *out << "has this " << what_ << ":\n" << wanted_; }

 private:
  std::string what_, wanted_;
  Spelling spell_;
};

class TensorMatcher : public ::testing::MatcherInterface<const Tensor&> {
 public:
  explicit TensorMatcher(Tensor wanted) : wanted_(std::move(wanted)) {}
  bool MatchAndExplain(const Tensor& found, ::testing::MatchResultListener*) const override {
    return found.SameAs(wanted_);
  }
  void DescribeTo(std::ostream* out) const override {
    *out << "is ";
    PrintTo(wanted_, out);
  }

 private:
  Tensor wanted_;
};

std::string FullText(const Graph& graph) { return PrintGraph(graph, kAllValues); }

}  // namespace

Model ParseToModel(std::string_view text) {
  auto model = ParseModelText(text);
  if (!model) throw std::invalid_argument("the test's graph: " + model.error().message);
  if (const auto verified = VerifyGraph(model->graph); !verified) {
    throw std::invalid_argument("the test's graph: " + verified.error().message);
  }
  return *std::move(model);
}

Graph Parse(std::string_view text) { return ParseToModel(text).graph; }

void PrintTo(const Graph& graph, std::ostream* out) { *out << "\n" << PrintGraph(graph); }

void PrintTo(const Tensor& tensor, std::ostream* out) {
  Graph graph;
  graph.AddInitializer("tensor", tensor);
  *out << PrintGraph(graph);
}

std::vector<std::string> Ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const NodeId id : graph.nodes()) ops.push_back(graph.node(id).op);
  return ops;
}

::testing::Matcher<const Graph&> OpsAre(const std::vector<std::string>& ops) {
  return ::testing::ResultOf("operators", &Ops, ::testing::ElementsAreArray(ops));
}

::testing::Matcher<const Graph&> IsValid() { return ::testing::MakeMatcher(new ValidMatcher); }

::testing::Matcher<const Graph&> HasInterfaceOf(const Graph& other) {
  return ::testing::MakeMatcher(new TextMatcher("interface", InterfaceText(other), &InterfaceText));
}

::testing::Matcher<const Graph&> HasTextOf(const Graph& other) {
  return ::testing::MakeMatcher(new TextMatcher("text", FullText(other), &FullText));
}

::testing::Matcher<const Tensor&> SameTensor(const Tensor& wanted) {
  return ::testing::MakeMatcher(new TensorMatcher(wanted));
}

std::vector<double> ConstantNamed(const Graph& graph, std::string_view name) {
  const Tensor* tensor = graph.constant(graph.Find(name));
  if (tensor == nullptr) throw std::invalid_argument("no constant is called " + std::string(name));
  auto values = tensor->ToDoubles();
  if (!values) throw std::invalid_argument(values.error().message);
  return *std::move(values);
}

NodeId NodeOf(const Graph& graph, std::string_view output) {
  const ValueId id = graph.Find(output);
  const NodeId producer = id == ValueId::kNone ? NodeId::kNone : graph.value(id).producer;
  if (producer == NodeId::kNone) throw std::invalid_argument("no node computes " + std::string(output));
  return producer;
}

}  // namespace rlc
