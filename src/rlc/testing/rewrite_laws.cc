#include "rlc/testing/rewrite_laws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rlc/ir/text.h"

namespace rlc {
namespace {

const Rewrite& RuleNamed(std::string_view id) {
  const Rewrite* rule = FindRewrite(id);
  if (rule == nullptr) internal::CheckFailed(__FILE__, __LINE__, "the rule exists", std::string(id));
  return *rule;
}

std::vector<NodeId> AnchorsOf(const Rewrite& rule, const Graph& graph) {
  return rule.info().whole_graph ? std::vector<NodeId>{NodeId::kNone} : graph.nodes();
}

// Everything but types, which inference may fill in.
std::string TextOf(const Graph& graph) {
  PrintOptions options;
  options.max_elements.reset();
  options.types = false;
  return PrintGraph(graph, options);
}

void ExpectSameNumbers(const Tensor& wanted, const Tensor& found, const LawOptions& options) {
  ASSERT_EQ(wanted.dtype(), found.dtype());
  ASSERT_EQ(wanted.dims(), found.dims());
  const auto a = wanted.ToDoubles();
  const auto b = found.ToDoubles();
  ASSERT_THAT(a, IsOk());
  ASSERT_THAT(b, IsOk());
  double largest = 0;
  for (const double value : *a) largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  const double allowed = IsFloat(wanted.dtype()) ? options.tolerance * std::max(largest, options.floor) : 0;
  for (size_t i = 0; i < a->size(); ++i) {
    if (std::isnan((*a)[i]) && std::isnan((*b)[i])) continue;
    if ((*a)[i] == (*b)[i]) continue;
    ASSERT_NEAR((*a)[i], (*b)[i], allowed) << "element " << i;
  }
}

void ExpectSameRuns(const Graph& before, const Graph& after, const LawOptions& options) {
  for (const uint64_t seed : {1, 2}) {
    const auto wanted = options.run(before, seed);
    ASSERT_THAT(wanted, IsOk());
    const auto found = options.run(after, seed);
    ASSERT_THAT(found, IsOk());
    ASSERT_EQ(wanted->size(), found->size());
    for (size_t i = 0; i < wanted->size(); ++i) {
      SCOPED_TRACE(before.value(before.outputs()[i]).name);
      ExpectSameNumbers((*wanted)[i], (*found)[i], options);
    }
  }
}

}  // namespace

std::vector<std::string> ApplyRule(std::string_view id, Graph& graph, const RewriteContext& context) {
  const Rewrite& rule = RuleNamed(id);
  std::vector<std::string> sites;
  bool changed = true;
  while (changed && sites.size() < 1000) {
    changed = false;
    for (const NodeId anchor : AnchorsOf(rule, graph)) {
      if (anchor != NodeId::kNone && !graph.alive(anchor)) continue;
      const Outcome outcome = rule.At(graph, anchor, {}, context);
      const Edit* edit = std::get_if<Edit>(&outcome);
      if (edit == nullptr) continue;
      sites.push_back(SiteId(graph, anchor));
      (*edit)(graph);
      changed = true;
    }
  }
  EXPECT_THAT(graph, IsValid());
  return sites;
}

std::vector<std::string> RefusalsOf(std::string_view id, const Graph& graph, const RewriteContext& context) {
  const Rewrite& rule = RuleNamed(id);
  std::vector<std::string> reasons;
  for (const NodeId anchor : AnchorsOf(rule, graph)) {
    const Outcome outcome = rule.At(graph, anchor, {}, context);
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) reasons.push_back(refusal->reason);
    EXPECT_FALSE(std::holds_alternative<Edit>(outcome)) << "applies at " << SiteId(graph, anchor);
  }
  return reasons;
}

Graph ExpectLaws(const Graph& before, const GraphRewrite& rewrite, const LawOptions& options) {
  Graph after = before;
  const auto report = rewrite(after);
  EXPECT_THAT(report, IsOk());
  if (!report) return after;
  const std::string old_text = TextOf(before);
  const std::string new_text = TextOf(after);
  SCOPED_TRACE("before:\n" + old_text + "\nafter:\n" + new_text);
  EXPECT_THAT(after, IsValid());
  EXPECT_THAT(after, HasInterfaceOf(before));
  EXPECT_EQ(report->changed(), old_text != new_text) << "'changed' must say whether anything is different";

  Graph replayed = before;
  EXPECT_THAT(rewrite(replayed), IsOk());
  EXPECT_EQ(TextOf(replayed), new_text) << "the same rewrite of the same graph must give the same result";

  Graph again = after;
  const auto second = rewrite(again);
  EXPECT_THAT(second, IsOk());
  if (second) {
    EXPECT_FALSE(second->changed()) << second->applied[0].rule << " applies again at " << second->applied[0].site;
  }
  if (options.run && report->changed()) ExpectSameRuns(before, after, options);
  return after;
}

Graph ExpectLawsOfRule(const Rewrite& rule, const Graph& before, const LawOptions& options) {
  return ExpectLaws(before, [&](Graph& graph) { return ApplyEverywhere(graph, rule, options.services); }, options);
}

}  // namespace rlc
